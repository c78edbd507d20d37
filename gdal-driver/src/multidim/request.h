/* SPDX-License-Identifier: MIT */
/* GDAL's parts of an array, with steps of any sign, as boxes that the core reads and writes. */
#ifndef ZARR3_REQUEST_H
#define ZARR3_REQUEST_H

#include "array/box.h"
#include "base/compat.h"

namespace zarr3 {

/* Steps are positive here: a dimension that GDAL walks backwards is walked forwards, and lies
   backwards in memory. */
struct Request {
    Box box;
    std::vector<int64_t> strides; /* in memory, in elements */
    int64_t first = 0; /* from the caller's pointer to the box's first element, in elements */

    /* The part from `start` on, `count` long, along a dimension of the box. */
    Request part(size_t dim, uint64_t start, uint64_t count) const;

    /* Strides in bytes. */
    MemoryBox in_bytes(size_t element_size) const;

    uint64_t elements() const;
};

/* What GDAL hands to IRead() and IWrite(), which it has checked. */
Request make_request(size_t ndim, const GUInt64 *start, const size_t *count, const GInt64 *step,
                     const GPtrDiff_t *stride);

/* The strides of a box whose elements lie side by side in C order. */
std::vector<int64_t> dense_strides(const Box &box);

} // namespace zarr3

#endif
