/* SPDX-License-Identifier: MIT */
/*
 * Rows, columns and the last extra dimension of a request are dimensions of a box with strides of
 * their own, whatever their order in the array; all others have a count of 1.
 */
#include "raster/window.h"

namespace zarr3 {

MemoryBox box_of(const Layout &layout, uint32_t ndim, int first_band, int count,
                 const Window &window, const Spacings &spacings) {
    /* Right for every dimension that is not set below. */
    MemoryBox place = {{std::vector<uint64_t>(ndim, 0), std::vector<uint64_t>(ndim, 1)},
                       std::vector<int64_t>(ndim, 0)};
    const auto set = [&place](int dim, int start, int extent, int64_t stride) {
        if (dim < 0)
            return;
        const size_t d = static_cast<size_t>(dim);
        place.box.start[d] = static_cast<uint64_t>(start);
        place.box.count[d] = static_cast<uint64_t>(extent);
        place.strides[d] = stride;
    };
    set(layout.axes.x, window.x, window.width, spacings.pixel);
    set(layout.axes.y, window.y, window.height, spacings.line);
    const std::vector<uint64_t> index = layout.band_index(first_band);
    for (size_t i = 0; i < index.size(); i++)
        place.box.start[layout.extra[i].dim] = index[i];
    if (count > 1) {
        const uint32_t last = layout.extra.back().dim;
        place.box.count[last] = static_cast<uint64_t>(count);
        place.strides[last] = spacings.band;
    }
    return place;
}

} // namespace zarr3
