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

namespace {

using Bounds = ReadAhead::Bounds;
using Run = ReadAhead::Run;

/* A shard is completed where that is at most so many times what the run has loaded: what a program
   has not asked for, and may never do, stays within a multiple of what it has. */
constexpr uint64_t kMostTimes = 16;

/* Blocks that a box may have: commonly, and where it then ends between shards. */
struct Room {
    uint64_t usual, to_shards;
};

int end_of_shard(int x, int shard, int last) {
    return static_cast<int>(std::min<int64_t>((int64_t{x} / shard + 1) * shard - 1, last));
}

/* How far to the right a box goes that has to go to box.x1, and is no use behind `last`. */
int last_column(const BlockRange &box, int shard, int last, const Room &room) {
    const uint64_t columns = room.usual / box.height();
    const uint64_t across = static_cast<uint64_t>(last - box.x0 + 1);
    const int usual = std::max(box.x1, box.x0 + static_cast<int>(std::min(columns, across)) - 1);
    const int least = end_of_shard(box.x1, shard, last);
    if (BlockRange{box.x0, box.y0, least, box.y1}.count() > room.to_shards)
        return usual;
    return usual == last ? last : std::max(least, (usual + 1) / shard * shard - 1);
}

/* A program that begins at the corner and takes one part of the first shards after the other is
   going to take the rows below, too: then shards come as wholes. The first that is wanted, or none
   where the strip is a row of shards already. */
std::optional<BlockRange> whole_shard(const Run &run, int x, int y, const Bounds &bounds) {
    const int width = bounds.shard_width, height = bounds.shard_height;
    if (run.strip.x0 != bounds.all.x0 || run.strip.y0 != bounds.all.y0 ||
        run.strip.height() >= static_cast<uint64_t>(height))
        return std::nullopt;
    const BlockRange shard = {x / width * width, y, end_of_shard(x, width, bounds.all.x1),
                              end_of_shard(y, height, bounds.all.y1)};
    const uint64_t missing = shard.count() - shard.number(x, y);
    return missing <= std::min(kMostTimes * run.total, bounds.most_ahead)
               ? std::optional<BlockRange>(shard)
               : std::nullopt;
}

/* Where a run goes on to the right of its strip: what to load. The strip grows by it; where there
   is no room for all of its rows, what is loaded is the beginning of another strip. */
BlockRange grow(Run *run, int x, int y, const BlockRange &wanted, const Bounds &bounds) {
    BlockRange box = {std::min(x, wanted.x0), y, wanted.x1, std::max(run->strip.y1, wanted.y1)};
    const uint64_t twice = std::min(2 * run->total, bounds.most_ahead);
    Room room = {twice, std::min(std::max(twice, kMostTimes * run->total), bounds.most_held)};
    if (const std::optional<BlockRange> shard = whole_shard(*run, x, y, bounds)) {
        box = {std::min(box.x0, shard->x0), y, box.x1, std::max(box.y1, shard->y1)};
        room.usual = std::max(room.usual, shard->count());
    } else if (box.count() > bounds.most_held) {
        const int rows = static_cast<int>(bounds.most_held / box.width());
        box.y1 = std::max(wanted.y1, y + rows - 1);
    }
    box.x1 = last_column(box, bounds.shard_width, bounds.all.x1, room);
    if (box.y1 >= run->strip.y1 && box.x0 > run->strip.x0)
        run->strip.x1 = box.x1;
    else
        run->strip = box;
    run->total += box.count();
    return box;
}

bool is_beside(const BlockRange &strip, int x, int y) {
    return x == strip.x1 + 1 && y == strip.y0;
}

} // namespace

/* All that is left of it, by whole rows. A program that takes windows goes on below them. */
ReadAhead::Plan ReadAhead::as_advised(int band, int x, int y, const BlockRange &wanted,
                                      const Bounds &bounds, BlockRange range) {
    if (wanted.count() > 1) {
        range.x0 = wanted.x0;
        range.x1 = wanted.x1;
    }
    const Room room = {bounds.most_ahead, bounds.most_held};
    BlockRange box = {range.x0, y, range.x1, wanted.y1};
    box.y1 = last_column(box.turned(), bounds.shard_height, range.y1, room);
    if (box.y1 < range.y1)
        runs_[band] = {box, box.count()};
    else
        runs_.erase(band);
    return {box, box.number(x, y), box.count(), advice_.is_guess};
}

ReadAhead::Plan ReadAhead::plan(int band, int x, int y, const BlockRange &wanted, Bounds bounds) {
    const uint64_t bands = std::max<uint64_t>(runs_.size(), 1);
    bounds.most_ahead /= bands;
    bounds.most_held /= bands;
    if (const std::optional<BlockRange> advice = advised(band, wanted))
        return as_advised(band, x, y, wanted, bounds, *advice);
    Run &run = runs_[band];
    Plan plan = {wanted, wanted.number(x, y), wanted.count(), false};
    if (run.total > 0 && is_beside(run.strip, x, y)) {
        plan.range = grow(&run, x, y, wanted, bounds);
    } else if (run.total > 0 && is_beside(run.strip.turned(), y, x)) {
        run.strip = run.strip.turned();
        plan.range = grow(&run, y, x, wanted.turned(), bounds.turned()).turned();
        run.strip = run.strip.turned();
    } else {
        run = {wanted, plan.end - plan.first};
    }
    if (!(plan.range == wanted))
        plan = {plan.range, 0, plan.range.count(), !wanted.contains(plan.range)};
    if (run.strip.contains(bounds.all.x1, bounds.all.y1))
        runs_.erase(band);
    return plan;
}

} // namespace zarr3
