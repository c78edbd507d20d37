/* SPDX-License-Identifier: MIT */
#include "dataset/read_ahead.h"

#include <algorithm>

namespace zarr3 {

bool ReadAhead::goes_on(int band, const Plan &plan) const {
    const auto run = runs_.find(band);
    return run != runs_.end() && run->second.range.x0 == plan.range.x0 &&
           run->second.range.x1 == plan.range.x1 && run->second.next == plan.first;
}

/* A single block may be followed by its neighbour, any other window by the one below it. */
ReadAhead::Plan ReadAhead::plan(int band, int x, int y, const BlockRange &wanted,
                                const BlockRange &all, uint64_t most) {
    const bool is_advised = wanted.count() == 1 && advised_ && advised_->contains(x, y);
    BlockRange range = is_advised ? *advised_ : all;
    if (wanted.count() > 1) {
        range.x0 = wanted.x0;
        range.x1 = wanted.x1;
    }
    Plan plan = {range, range.number(x, y), 0};
    const bool has_run = goes_on(band, plan);
    const uint64_t loaded = has_run ? runs_[band].loaded : 0;
    const uint64_t needed = range.number(wanted.x1, wanted.y1) + 1 - plan.first;
    const uint64_t share = most / std::max<uint64_t>(runs_.size(), 1);
    uint64_t count = needed;
    if (is_advised)
        count = range.count() - plan.first;
    else if (has_run) /* to the end of the row at least */
        count = std::max(2 * loaded,
                         needed + range.width() - 1 - static_cast<uint64_t>(wanted.x1 - range.x0));
    count = std::max(needed, std::min({count, share, range.count() - plan.first}));
    plan.end = plan.first + count;
    if (plan.end < range.count())
        runs_[band] = {range, plan.end, count};
    else
        runs_.erase(band);
    return plan;
}

} // namespace zarr3
