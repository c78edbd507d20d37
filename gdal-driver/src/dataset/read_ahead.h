/* SPDX-License-Identifier: MIT */
/*
 * Programs that go through a distant raster block by block, or by windows that follow one another:
 * each would wait for a round trip, and ask for parts of one shard again and again. What a miss
 * loads besides the blocks that the request wants grows with each miss that goes on where the last
 * one ended, and ends where shards end. Of a window that a program has said that it is going to
 * read, all is loaded for which there is room.
 */
#ifndef ZARR3_READ_AHEAD_H
#define ZARR3_READ_AHEAD_H

#include <map>
#include <optional>
#include <set>

#include "raster/block_range.h"

namespace zarr3 {

class ReadAhead {
  public:
    /* Blocks to load, row by row of `range`, from number `first` on and before `end`. */
    struct Plan {
        BlockRange range;
        uint64_t first, end;
        bool is_guess; /* nobody has said that the blocks will be read */
    };

    /* Of the raster, in blocks. */
    struct Bounds {
        BlockRange all;
        int shard_height;
        uint64_t most_ahead; /* that all bands together may have ahead */
        uint64_t most_held;  /* the same, where that completes a row of shards */
    };

    /* For a miss of a band at (x, y), while the request wants the blocks of `wanted`, which holds
       it. */
    Plan plan(int band, int x, int y, const BlockRange &wanted, const Bounds &bounds);

    /* What a program has said that it is going to read. */
    struct Advice {
        std::optional<BlockRange> blocks;
        std::set<int> bands;
        bool is_guess = false; /* some of the bands are */
    };

    /* These blocks of one more band. */
    void advise(int band, const std::optional<BlockRange> &blocks);

    /* The blocks that it is going to read, if all of `wanted` are among those of the band. */
    std::optional<BlockRange> advised(int band, const BlockRange &wanted) const;

    /* Other advice; returns the one before. */
    Advice exchange(Advice advice);

  private:
    /* What follows one another. */
    struct Run {
        BlockRange range;
        uint64_t next, loaded; /* by the last miss */
        uint64_t total;
    };
    const Run *run_at(int band, const Plan &plan) const;

    std::map<int, Run> runs_; /* of bands that are gone through */
    Advice advice_;
};

} // namespace zarr3

#endif
