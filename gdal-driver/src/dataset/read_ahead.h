/* SPDX-License-Identifier: MIT */
/*
 * Programs that go through a distant raster block by block, or by windows that follow one another:
 * each would wait for a round trip, and ask for parts of one shard again and again. What a miss
 * loads besides the blocks that the request wants grows with each miss that goes on where the last
 * one ended, to the right or below, and ends where shards end. Of a window that a program has said
 * that it is going to read, all is loaded for which there is room.
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
    /* Blocks to load, row by row of `range`, from number `first` on and before `end`. Those of them
       that are in the cache already are nothing to load. */
    struct Plan {
        BlockRange range;
        uint64_t first, end;
        bool is_guess; /* nobody has said that the blocks will be read */
    };

    /* Of the raster, in blocks. */
    struct Bounds {
        BlockRange all;
        int shard_width, shard_height;
        uint64_t most_ahead; /* that all bands together may have ahead */
        uint64_t most_held;  /* the same, where that completes a row of shards */

        Bounds turned() const {
            return {all.turned(), shard_height, shard_width, most_ahead, most_held};
        }
    };

    /* For a miss of a band at (x, y), the first one in rows of the blocks of `wanted`, which the
       request wants. */
    Plan plan(int band, int x, int y, const BlockRange &wanted, Bounds bounds);

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

    /* Of windows that follow one another. */
    struct Run {
        BlockRange strip; /* what all of them have loaded: the next one is beside it or below */
        uint64_t total;   /* blocks loaded, about */
    };

  private:
    Plan as_advised(int band, int x, int y, const BlockRange &wanted, const Bounds &bounds,
                    BlockRange range);

    std::map<int, Run> runs_; /* of bands that are gone through */
    Advice advice_;
};

} // namespace zarr3

#endif
