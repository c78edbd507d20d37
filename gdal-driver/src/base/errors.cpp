/* SPDX-License-Identifier: MIT */
/*
 * The core's messages are complete: store, array, chunk, what is wrong, what was expected. They are
 * passed on as they are.
 */
#include "base/errors.h"

#include <exception>
#include <new>

#include "base/entry.h"

namespace zarr3 {

static CPLErrorNum error_number(enum zb_code code) {
    switch (code) {
    case ZB_ENOTFOUND:
        return CPLE_OpenFailed;
    case ZB_EIO:
        return CPLE_FileIO;
    case ZB_ENOMEM:
        return CPLE_OutOfMemory;
    case ZB_EUNSUPPORTED:
        return CPLE_NotSupported;
    case ZB_EINVAL:
        return CPLE_IllegalArg;
    case ZB_ECANCELLED:
        return CPLE_UserInterrupt;
    default:
        return CPLE_AppDefined;
    }
}

void report(const zb_error &err) {
    CPLError(CE_Failure, error_number(err.code), "%s", err.message);
}

void leave_for_caller(const zb_error &err) {
    CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
    report(err);
}

void report_exception() noexcept {
    try {
        throw;
    } catch (const std::bad_alloc &) {
        CPLError(CE_Failure, CPLE_OutOfMemory, "no memory");
    } catch (const std::exception &failure) {
        CPLError(CE_Failure, CPLE_AppDefined, "%s", failure.what());
    } catch (...) {
        CPLError(CE_Failure, CPLE_AppDefined, "a call failed");
    }
}

} // namespace zarr3
