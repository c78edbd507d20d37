/* SPDX-License-Identifier: MIT */
/* Parts of an array, of any number of dimensions. */
#ifndef ZARR3_BOX_H
#define ZARR3_BOX_H

#include <cstdint>
#include <vector>

namespace zarr3 {

/* Start, count and step for each dimension of the array. No steps: all are 1. */
struct Box {
    std::vector<uint64_t> start, count;
    std::vector<uint64_t> step = {};

    uint64_t step_along(size_t dim) const {
        return step.empty() ? 1 : step[dim];
    }
};

/* A box, and how its elements lie in a caller's memory: the bytes between neighbours along each
   dimension, which may be negative. */
struct MemoryBox {
    Box box;
    std::vector<int64_t> strides;
};

} // namespace zarr3

#endif
