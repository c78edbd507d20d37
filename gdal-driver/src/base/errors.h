/* SPDX-License-Identifier: MIT */
/* From the core's errors to GDAL's. Each failure is reported once, by the function that ends the
   call. */
#ifndef ZARR3_ERRORS_H
#define ZARR3_ERRORS_H

#include "cpl_error.h"
#include "zarrbridge/zarrbridge.h"

namespace zarr3 {

/* Reports err as one CE_Failure. */
void report(const zb_error &err);

/* Leaves err as the last error without calling any handler. For IReadBlock, whose caller in GDAL
   reports a failure itself and quotes the last error: users see one message, not two. */
void leave_for_caller(const zb_error &err);

} // namespace zarr3

#endif
