/* SPDX-License-Identifier: MIT */
/* Indices along one dimension, as names of slices have them: one, or some in a row. */
#ifndef ZARR3_INDEX_RANGE_H
#define ZARR3_INDEX_RANGE_H

#include <cstdint>
#include <vector>

namespace zarr3 {

struct IndexRange {
    uint64_t first, last; /* both are in it */

    /* Not explicit: an index is a range of one. */
    IndexRange(uint64_t index) : first(index), last(index) {
    }
    IndexRange(uint64_t from, uint64_t to) : first(from), last(to) {
    }
};

/* One for each of the dimensions that are neither columns nor rows; empty for all that is there. */
using IndexRanges = std::vector<IndexRange>;

} // namespace zarr3

#endif
