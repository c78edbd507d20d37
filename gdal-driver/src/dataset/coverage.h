/* SPDX-License-Identifier: MIT */
/* Which parts of a raster are stored at all. */
#ifndef ZARR3_COVERAGE_H
#define ZARR3_COVERAGE_H

#include "array/array.h"
#include "raster/window.h"

namespace zarr3 {

/* GDAL_DATA_COVERAGE_STATUS_* of a window of a band (from 0), and how much of it is stored. With
   DATA among the flags `stop_flags` the walk ends at the first part that is stored, and *percent is
   -1 then. No other flag ends it early: that all is empty shows at the end alone. */
int coverage(const Array &array, const Layout &layout, int band, const Window &window,
             int stop_flags, double *percent);

} // namespace zarr3

#endif
