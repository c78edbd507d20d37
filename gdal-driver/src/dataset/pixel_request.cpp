/* SPDX-License-Identifier: MIT */
#include "dataset/pixel_request.h"

namespace zarr3 {

bool is_resampled(GDALRWFlag mode, const Window &window, int buffer_width, int buffer_height,
                  const GDALRasterIOExtraArg *extra) {
    if (window.width != buffer_width || window.height != buffer_height)
        return true;
    return mode == GF_Read && extra != nullptr && extra->bFloatingPointWindowValidity != FALSE &&
           extra->eResampleAlg != GRIORA_NearestNeighbour &&
           (extra->dfXOff != window.x || extra->dfYOff != window.y ||
            extra->dfXSize != window.width || extra->dfYSize != window.height);
}

/* The number of bands, from the first-th of the request on, that lie one after the other, or one
   before the other (*step -1), along the last extra dimension. */
static int run_length(const Layout &layout, const PixelRequest &request, int first, int *step) {
    const int row = layout.extra.empty() ? 1 : static_cast<int>(layout.extra.back().count);
    int length = 1;
    *step = 1;
    while (first + length < request.band_count) {
        const int last = request.bands[first + length - 1], next = request.bands[first + length];
        if (length == 1 && next == last - 1)
            *step = -1;
        if (next != last + *step || (next - 1) / row != (last - 1) / row)
            break;
        length++;
    }
    return length;
}

std::vector<BandRun> band_runs(const Layout &layout, const PixelRequest &request) {
    std::vector<BandRun> runs;
    for (int first = 0; first < request.band_count;) {
        int step;
        const int length = run_length(layout, request, first, &step);
        const int lowest = step > 0 ? first : first + length - 1;
        runs.push_back({request.bands[lowest] - 1,
                        length,
                        request.window,
                        static_cast<char *>(request.data) + lowest * request.band_space,
                        request.type,
                        {request.pixel_space, request.line_space, step * request.band_space}});
        first += length;
    }
    return runs;
}

} // namespace zarr3
