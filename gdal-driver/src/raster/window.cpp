/* SPDX-License-Identifier: MIT */
/*
 * Rows, columns and the last extra dimension of a request are dimensions of a box with strides of
 * their own, whatever their order in the array; all others have a count of 1.
 */
#include "raster/window.h"

#include <algorithm>

namespace zarr3 {

MemoryBox box_of(const Layout &layout, uint32_t ndim, const BandRun &run) {
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
    set(layout.axes.x, run.window.x, run.window.width, run.spacings.pixel);
    set(layout.axes.y, run.window.y, run.window.height, run.spacings.line);
    const std::vector<uint64_t> index = layout.band_index(run.first_band);
    for (size_t i = 0; i < index.size(); i++)
        place.box.start[layout.extra[i].dim] = index[i];
    if (run.count > 1) {
        const uint32_t last = layout.extra.back().dim;
        place.box.count[last] = static_cast<uint64_t>(run.count);
        place.strides[last] = run.spacings.band;
    }
    return place;
}

BlockRange blocks_of(const Layout &layout, const Window &window) {
    return {window.x / layout.block_width, window.y / layout.block_height,
            (window.x + window.width - 1) / layout.block_width,
            (window.y + window.height - 1) / layout.block_height};
}

Window block_window(const Layout &layout, int block_x, int block_y) {
    const int left = block_x * layout.block_width, top = block_y * layout.block_height;
    return {left, top, std::min(layout.block_width, layout.width - left),
            std::min(layout.block_height, layout.height - top)};
}

BandRun block_run(const Layout &layout, int band, int block_x, int block_y, void *block,
                  GDALDataType type) {
    const int64_t pixel = GDALGetDataTypeSizeBytes(type);
    return {band,
            1,
            block_window(layout, block_x, block_y),
            static_cast<char *>(block),
            type,
            {pixel, pixel * layout.block_width, 0}};
}

bool contains(const Window &outer, const Window &inner) {
    return inner.x >= outer.x && inner.y >= outer.y &&
           inner.x + inner.width <= outer.x + outer.width &&
           inner.y + inner.height <= outer.y + outer.height;
}

/* True if first and first + count lie between units; the last unit may be cut by the extent. */
static bool is_whole(int first, int count, int unit, int extent) {
    return first % unit == 0 && ((first + count) % unit == 0 || first + count == extent);
}

bool is_whole_blocks(const Layout &layout, const Window &window) {
    return is_whole(window.x, window.width, layout.block_width, layout.width) &&
           is_whole(window.y, window.height, layout.block_height, layout.height);
}

bool is_whole_shards(const Layout &layout, const Window &window) {
    return is_whole(window.x, window.width, layout.shard_width, layout.width) &&
           is_whole(window.y, window.height, layout.shard_height, layout.height);
}

} // namespace zarr3
