/* SPDX-License-Identifier: MIT */
/*
 * The core takes boxes: a start, a count and a byte stride for each dimension. Rows, columns and
 * the last extra dimension of a request are such dimensions with strides of their own, whatever
 * their order in the array; all others have a count of 1.
 */
#include "read_plan.h"

namespace zarr3 {

void ReadPlan::add_run(int first_band, int count, const Window &window, void *data,
                       int64_t pixel_space, int64_t line_space, int64_t band_space) {
    const uint32_t ndim = zb_node_array(array_)->ndim;
    /* Counts of 1 and strides of 0 are right for every dimension that is not set below. */
    const size_t base = start_.size();
    start_.resize(base + ndim, 0);
    count_.resize(base + ndim, 1);
    strides_.resize(base + ndim, 0);
    if (layout_.axes.x >= 0) {
        const size_t x = base + static_cast<size_t>(layout_.axes.x);
        start_[x] = static_cast<uint64_t>(window.x);
        count_[x] = static_cast<uint64_t>(window.width);
        strides_[x] = pixel_space;
    }
    if (layout_.axes.y >= 0) {
        const size_t y = base + static_cast<size_t>(layout_.axes.y);
        start_[y] = static_cast<uint64_t>(window.y);
        count_[y] = static_cast<uint64_t>(window.height);
        strides_[y] = line_space;
    }
    const std::vector<uint64_t> index = layout_.band_index(first_band);
    for (size_t i = 0; i < index.size(); i++)
        start_[base + layout_.extra[i].dim] = index[i];
    if (count > 1) {
        const size_t last = base + layout_.extra.back().dim;
        count_[last] = static_cast<uint64_t>(count);
        strides_[last] = band_space;
    }
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
