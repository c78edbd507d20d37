/* SPDX-License-Identifier: MIT */
/*
 * The core's messages are complete: store, array, chunk, what is wrong, what was expected. They are
 * passed on as they are.
 */
#include "base/errors.h"

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

} // namespace zarr3
