/* SPDX-License-Identifier: MIT */
/* From windows of bands to boxes of the array. */
#ifndef ZARR3_WINDOW_H
#define ZARR3_WINDOW_H

#include "array/box.h"
#include "gdal.h"
#include "raster/block_range.h"
#include "raster/layout.h"

namespace zarr3 {

/* A rectangle of pixels. */
struct Window {
    int x, y, width, height;
};

/* Bytes between neighbours in a caller's memory. */
struct Spacings {
    int64_t pixel, line, band;
};

/* Pixels of bands in a caller's memory. The bands follow one another along the last extra
   dimension, ascending. */
struct BandRun {
    int first_band; /* from 0 */
    int count;
    Window window;
    char *data; /* of the first band */
    GDALDataType type;
    Spacings spacings;
};

/* The box of a run in an array of ndim dimensions. */
MemoryBox box_of(const Layout &layout, uint32_t ndim, const BandRun &run);

/* The blocks that a window touches. The window lies within the raster, as all below. */
BlockRange blocks_of(const Layout &layout, const Window &window);

/* The pixels of a block that are in the raster, which may end within it. */
Window block_window(const Layout &layout, int block_x, int block_y);

/* These pixels of one band, in the memory of a whole block. */
BandRun block_run(const Layout &layout, int band, int block_x, int block_y, void *block,
                  GDALDataType type);

bool contains(const Window &outer, const Window &inner);

/* True if the window is made of whole blocks; the last one of a raster counts as whole. */
bool is_whole_blocks(const Layout &layout, const Window &window);

/* Likewise, of all that lies under the keys of its chunks. */
bool is_whole_shards(const Layout &layout, const Window &window);

} // namespace zarr3

#endif
