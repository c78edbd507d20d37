/* SPDX-License-Identifier: MIT */
/*
 * Requests of programs that want to hear of their progress, and may cancel them: taken in strips of
 * whole rows of blocks, each of which is a request of its own.
 */
#ifndef ZARR3_STRIPS_H
#define ZARR3_STRIPS_H

#include <algorithm>
#include <cstdint>

#include "base/compat.h"

namespace zarr3 {

/* Elements of a strip, so that it is worth the threads. */
constexpr int64_t kStripElements = int64_t{1} << 24;

/* The number of rows from row y on that the first strip has: it ends between blocks. */
inline int strip_rows(int y, int height, int64_t row_elements, int block_height) {
    const int64_t wanted =
        std::max<int64_t>(kStripElements / std::max<int64_t>(row_elements, 1), 1);
    const int64_t blocks = std::max<int64_t>(wanted / block_height, 1);
    return static_cast<int>(
        std::min<int64_t>(height, (y / block_height + blocks) * block_height - y));
}

/* True if somebody listens, and the request is longer than a strip. */
inline bool wants_strips(int y, int height, int64_t row_elements, int block_height,
                         const GDALRasterIOExtraArg *extra) {
    return extra != nullptr && extra->pfnProgress != nullptr &&
           strip_rows(y, height, row_elements, block_height) < height;
}

/* Calls fn(first row of the strip behind y, its rows, extra) for each strip, and tells how far it
   has come. */
template <class Fn>
CPLErr by_strips(int y, int height, int64_t row_elements, int block_height,
                 const GDALRasterIOExtraArg *extra, Fn fn) {
    GDALRasterIOExtraArg silent = *extra;
    silent.pfnProgress = nullptr;
    silent.pProgressData = nullptr;
    silent.bFloatingPointWindowValidity = FALSE;
    for (int done = 0; done < height;) {
        const int rows = strip_rows(y + done, height - done, row_elements, block_height);
        if (fn(done, rows, &silent) != CE_None)
            return CE_Failure;
        done += rows;
        if (!extra->pfnProgress(static_cast<double>(done) / height, "", extra->pProgressData)) {
            CPLError(CE_Failure, CPLE_UserInterrupt, "the request was cancelled");
            return CE_Failure;
        }
    }
    return CE_None;
}

} // namespace zarr3

#endif
