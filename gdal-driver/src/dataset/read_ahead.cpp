/* SPDX-License-Identifier: MIT */
#include "dataset/read_ahead.h"

#include <algorithm>
#include <utility>

namespace zarr3 {

void ReadAhead::advise(int band, const std::optional<BlockRange> &blocks) {
    if (!(advice_.blocks == blocks))
        advice_.bands.clear();
    advice_.blocks = blocks;
    advice_.is_guess = false;
    advice_.bands.insert(band);
}

ReadAhead::Advice ReadAhead::exchange(Advice advice) {
    std::swap(advice, advice_);
    return advice;
}

std::optional<BlockRange> ReadAhead::advised(int band, const BlockRange &wanted) const {
    const bool is_advised =
        advice_.blocks && advice_.blocks->contains(wanted) && advice_.bands.count(band) > 0;
    return is_advised ? advice_.blocks : std::nullopt;
}

const ReadAhead::Run *ReadAhead::run_at(int band, const Plan &plan) const {
    const auto run = runs_.find(band);
    const bool goes_on = run != runs_.end() && run->second.range.x0 == plan.range.x0 &&
                         run->second.range.x1 == plan.range.x1 && run->second.next == plan.first;
    return goes_on ? &run->second : nullptr;
}

/* The number of the first block behind the row of shards that block `number` is in. */
static uint64_t end_of_shards(const BlockRange &range, uint64_t number, int shard_height) {
    const int y = range.y_of(number);
    const int64_t behind = (int64_t{y} / shard_height + 1) * shard_height;
    const int last = static_cast<int>(std::min<int64_t>(range.y1, behind - 1));
    return range.number(range.x1, last) + 1;
}

/* The end of the last row of shards that ends before plan.end, or of the one that block `last` is
   in. plan.end itself, where these are more than `most` blocks. */
static uint64_t between_shards(const ReadAhead::Plan &plan, uint64_t last, uint64_t most,
                               int shard_height) {
    uint64_t end = end_of_shards(plan.range, last, shard_height);
    if (end - plan.first > most)
        return plan.end;
    while (end < plan.end && end_of_shards(plan.range, end, shard_height) <= plan.end)
        end = end_of_shards(plan.range, end, shard_height);
    return end;
}

/* A single block may be followed by its neighbour, any other window by the one below it. */
ReadAhead::Plan ReadAhead::plan(int band, int x, int y, const BlockRange &wanted,
                                const Bounds &bounds) {
    const std::optional<BlockRange> advice = advised(band, wanted);
    BlockRange range = advice ? *advice : bounds.all;
    if (wanted.count() > 1) {
        range.x0 = wanted.x0;
        range.x1 = wanted.x1;
    }
    Plan plan = {range, range.number(x, y), 0, false};
    const Run *run = run_at(band, plan);
    const uint64_t needed = range.number(wanted.x1, wanted.y1) + 1 - plan.first;
    const uint64_t bands = std::max<uint64_t>(runs_.size(), 1);
    const uint64_t left = range.count() - plan.first, total = run != nullptr ? run->total : 0;
    uint64_t count = needed;
    if (advice)
        count = left;
    else if (run != nullptr) /* to the end of the row at least */
        count = std::max(2 * run->loaded,
                         needed + range.width() - 1 - static_cast<uint64_t>(wanted.x1 - range.x0));
    count = std::max(needed, std::min({count, bounds.most_ahead / bands, left}));
    plan.end = plan.first + count;
    /* Who has taken a row of blocks will take the next one. */
    if (advice || total >= range.width())
        plan.end = between_shards(plan, plan.first + needed - 1, bounds.most_held / bands,
                                  bounds.shard_height);
    plan.is_guess = advice ? advice_.is_guess : plan.end > plan.first + needed;
    if (plan.end < range.count())
        runs_[band] = {range, plan.end, plan.end - plan.first, total + plan.end - plan.first};
    else
        runs_.erase(band);
    return plan;
}

} // namespace zarr3
