/* SPDX-License-Identifier: MIT */
/*
 * Programs that go through a distant raster block by block, or by windows that follow one another:
 * each would wait for a round trip. What a miss loads besides the blocks that the request wants
 * grows with each miss that goes on where the last one ended.
 */
#ifndef ZARR3_READ_AHEAD_H
#define ZARR3_READ_AHEAD_H

#include <map>
#include <optional>

#include "raster/block_range.h"

namespace zarr3 {

class ReadAhead {
  public:
    /* Blocks to load, row by row of `range`, from number `first` on and before `end`. */
    struct Plan {
        BlockRange range;
        uint64_t first, end;
    };

    /* For a miss of a band at (x, y), while the request wants the blocks of `wanted`, which holds
       it. `all`: the raster; `most`: blocks that all bands together may have ahead. */
    Plan plan(int band, int x, int y, const BlockRange &wanted, const BlockRange &all,
              uint64_t most);

    /* A program has said that it is going to read these. */
    void advise(const std::optional<BlockRange> &blocks) {
        advised_ = blocks;
    }

  private:
    struct Run {
        BlockRange range;
        uint64_t next, loaded;
    };
    bool goes_on(int band, const Plan &plan) const;

    std::map<int, Run> runs_; /* of bands that are gone through */
    std::optional<BlockRange> advised_;
};

} // namespace zarr3

#endif
