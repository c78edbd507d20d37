/* SPDX-License-Identifier: MIT */
/* Which parts of a raster are stored at all. */
#ifndef ZARR3_COVERAGE_H
#define ZARR3_COVERAGE_H

#include "array/array.h"
#include "raster/window.h"

namespace zarr3 {

/* GDAL_DATA_COVERAGE_STATUS_* of a window of a band (from 0), and how much of it is stored. Ends
   early when the status has one of the flags `stop`. */
int coverage(const Array &array, const Layout &layout, int band, const Window &window, int stop,
             double *percent);

} // namespace zarr3

#endif
