/* SPDX-License-Identifier: MIT */
/* A request for pixels of several bands, in runs that are boxes of the array. */
#ifndef ZARR3_PIXEL_REQUEST_H
#define ZARR3_PIXEL_REQUEST_H

#include <vector>

#include "base/compat.h"
#include "raster/window.h"

namespace zarr3 {

/* As GDAL's IRasterIO gets it; not resampled. */
struct PixelRequest {
    Window window;
    void *data;
    GDALDataType type;
    int band_count;
    const int *bands; /* from 1 */
    GSpacing pixel_space, line_space, band_space;
};

/* True for requests that GDAL may resample: those of another size, and reads by an interpolating
   method of a window that begins or ends within a pixel. */
bool is_resampled(GDALRWFlag mode, const Window &window, int buffer_width, int buffer_height,
                  const GDALRasterIOExtraArg *extra);

/* The bands of a request as runs, which may go against its order. */
std::vector<BandRun> band_runs(const Layout &layout, const PixelRequest &request);

} // namespace zarr3

#endif
