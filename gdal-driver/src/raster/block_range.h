/* SPDX-License-Identifier: MIT */
/* Blocks of a raster, first to last inclusive. */
#ifndef ZARR3_BLOCK_RANGE_H
#define ZARR3_BLOCK_RANGE_H

#include <cstdint>

namespace zarr3 {

struct BlockRange {
    int x0, y0, x1, y1;

    bool contains(int x, int y) const {
        return x >= x0 && x <= x1 && y >= y0 && y <= y1;
    }
    bool contains(const BlockRange &other) const {
        return contains(other.x0, other.y0) && contains(other.x1, other.y1);
    }
    bool operator==(const BlockRange &other) const {
        return contains(other) && other.contains(*this);
    }
    uint64_t width() const {
        return static_cast<uint64_t>(x1 - x0 + 1);
    }
    uint64_t height() const {
        return static_cast<uint64_t>(y1 - y0 + 1);
    }
    uint64_t count() const {
        return width() * height();
    }
    /* With columns for rows. */
    BlockRange turned() const {
        return {y0, x0, y1, x1};
    }
    /* Of a block in the range: counted row by row from 0; and back. */
    uint64_t number(int x, int y) const {
        return static_cast<uint64_t>(y - y0) * width() + static_cast<uint64_t>(x - x0);
    }
    int x_of(uint64_t number) const {
        return x0 + static_cast<int>(number % width());
    }
    int y_of(uint64_t number) const {
        return y0 + static_cast<int>(number / width());
    }
};

} // namespace zarr3

#endif
