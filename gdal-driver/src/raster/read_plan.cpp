/* SPDX-License-Identifier: MIT */
/*
 * The core takes boxes: a start, a count and a byte stride for each dimension. Rows, columns and
 * the last extra dimension of a request are such dimensions with strides of their own, whatever
 * their order in the array; all others have a count of 1.
 */
#include "raster/read_plan.h"

#include "zarrbridge/read.h"

#include <algorithm>

namespace zarr3 {

void fill_box(const Layout &layout, uint32_t ndim, int first_band, int count, const Window &window,
              const Spacings &spacings, uint64_t *starts, uint64_t *counts, int64_t *strides) {
    /* Right for every dimension that is not set below. */
    std::fill_n(starts, ndim, uint64_t{0});
    std::fill_n(counts, ndim, uint64_t{1});
    std::fill_n(strides, ndim, int64_t{0});
    if (layout.axes.x >= 0) {
        starts[layout.axes.x] = static_cast<uint64_t>(window.x);
        counts[layout.axes.x] = static_cast<uint64_t>(window.width);
        strides[layout.axes.x] = spacings.pixel;
    }
    if (layout.axes.y >= 0) {
        starts[layout.axes.y] = static_cast<uint64_t>(window.y);
        counts[layout.axes.y] = static_cast<uint64_t>(window.height);
        strides[layout.axes.y] = spacings.line;
    }
    const std::vector<uint64_t> index = layout.band_index(first_band);
    for (size_t i = 0; i < index.size(); i++)
        starts[layout.extra[i].dim] = index[i];
    if (count > 1) {
        const uint32_t last = layout.extra.back().dim;
        counts[last] = static_cast<uint64_t>(count);
        strides[last] = spacings.band;
    }
}

void ReadPlan::add_run(int first_band, int count, const Window &window, void *data,
                       const Spacings &spacings) {
    const uint32_t ndim = zb_node_array(array_)->ndim;
    const size_t base = start_.size();
    start_.resize(base + ndim);
    count_.resize(base + ndim);
    strides_.resize(base + ndim);
    fill_box(layout_, ndim, first_band, count, window, spacings, start_.data() + base,
             count_.data() + base, strides_.data() + base);
    data_.push_back(data);
}

/* The vectors do not grow any more: now pointers into them can be taken. */
enum zb_code ReadPlan::run(zb_error *err) const {
    const size_t ndim = zb_node_array(array_)->ndim;
    std::vector<zb_read> reads(data_.size());
    for (size_t i = 0; i < reads.size(); i++) {
        reads[i].node = array_;
        reads[i].start = start_.data() + i * ndim;
        reads[i].count = count_.data() + i * ndim;
        reads[i].step = nullptr;
        reads[i].view = {data_[i], memory_, strides_.data() + i * ndim};
    }
    return reads.empty() ? ZB_OK : zb_array_read(reads.data(), reads.size(), err);
}

} // namespace zarr3
