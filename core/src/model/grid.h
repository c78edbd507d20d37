/* SPDX-License-Identifier: MIT */
/*
 * A grid: the division of a space of elements into cells, along each dimension by itself. Nothing
 * outside grid.[ch] knows that all cells of a grid have one shape.
 *
 * A grid does not end where the array ends: the array's extent is an argument, because a resize
 * changes the shape and leaves the grid. A cell that the array's edge cuts keeps its extent, with
 * which it is encoded; its elements inside the array are fewer.
 *
 * The same type serves the array's chunks and its innermost chunks (both in the array's
 * coordinates), the inner chunks of a shard (in the shard's stored dimensions), and the slabs in
 * which uncompressed chunks are read.
 *
 * How cells of different extents (the `rectilinear` grid) come in, without a change of the callers:
 * - zb__grid gets a member `const zb__runs *runs`, NULL for a regular grid and for the grids that
 *   zb__grid_of makes. It has a list for each dimension, with one entry {first index, first
 *   element, extent} for each [value, count] of the document, so that 10^9 equal cells are one
 *   entry. A dimension of one extent has no list.
 * - zb__grid_find searches the list by element, zb__grid_at by index, in halves, and both divide
 *   within the entry that they find. They are inline and ask for `runs` first, so that a regular
 *   grid goes on without a call.
 * - Such a grid ends. Behind its last cell zb__grid_at finds none, as behind 2^63 now, and
 *   zb__grid_find finds extent 0. Callers never meet this case, since the parser compares the sum
 *   of the extents with the array's shape. zb__grid_count counts no more than the cells that there
 *   are, and zb__grid_pad gives no less than the extent.
 * - `extent` then has the largest extent along a dimension, as zb__grid_largest and chunk_shape
 *   promise now.
 * - zb__grid_parse makes the lists and checks their sums, zb__grid_same compares them; a
 *   zb__grid_free is called where the array is freed. New arrays have regular grids (model/build).
 * Facts that follow from the shape of one chunk (its size, the grid of a shard) are not asked here
 * but of the chain that is bound to that shape, which is chosen by the extents of the spans.
 */
#ifndef ZB_MODEL_GRID_H
#define ZB_MODEL_GRID_H

#include <stdbool.h>

#include "zarrbridge/json.h"

/* A small value that is copied; the extents belong to its maker and outlive it. */
typedef struct zb__grid {
    uint32_t ndim;
    const uint64_t *extent; /* [ndim] of each cell along a dimension, at least 1 */
} zb__grid;

/* One cell along one dimension. */
typedef struct zb__span {
    uint64_t index;  /* in the grid */
    uint64_t start;  /* its first element */
    uint64_t extent; /* its elements; 0 when the grid has no such cell */
} zb__span;

/* A grid of equal cells. extent[ndim] must outlive it. */
static inline zb__grid zb__grid_of(uint32_t ndim, const uint64_t *extent) {
    return (zb__grid){.ndim = ndim, .extent = extent};
}

/* The cell of an element. Walks over pieces call this for each cell. */
static inline zb__span zb__grid_find(const zb__grid *grid, uint32_t d, uint64_t element) {
    uint64_t extent = grid->extent[d];
    return (zb__span){
        .index = element / extent, .start = element - element % extent, .extent = extent};
}

/* The cell of an index. A cell that would begin at 2^63 or later begins at UINT64_MAX and has
   extent 0: no array reaches it. */
static inline zb__span zb__grid_at(const zb__grid *grid, uint32_t d, uint64_t index) {
    uint64_t extent = grid->extent[d];
    int64_t start;
    if (__builtin_mul_overflow(index, extent, &start))
        return (zb__span){.index = index, .start = UINT64_MAX};
    return (zb__span){.index = index, .start = (uint64_t)start, .extent = extent};
}

/* Elements of the cell that lie inside an array of this extent; 0 for a cell behind it. */
static inline uint64_t zb__span_inside(zb__span span, uint64_t extent) {
    uint64_t left = span.start < extent ? extent - span.start : 0;
    return left < span.extent ? left : span.extent;
}

/* The same of the cell of an index. */
static inline uint64_t zb__grid_inside(const zb__grid *grid, uint32_t d, uint64_t index,
                                       uint64_t extent) {
    return zb__span_inside(zb__grid_at(grid, d, index), extent);
}

/* The largest extent of any cell: buffers are made for it. */
static inline uint64_t zb__grid_largest(const zb__grid *grid, uint32_t d) {
    return grid->extent[d];
}

/* The number of cells that an array of this extent has, the last of them maybe in part; 0 for
   extent 0. Any extent, up to UINT64_MAX. */
static inline uint64_t zb__grid_count(const zb__grid *grid, uint32_t d, uint64_t extent) {
    return extent ? zb__grid_find(grid, d, extent - 1).index + 1 : 0;
}

/* The extent rounded up to the end of its last cell; the extent itself when that is 2^63 or more,
   where nothing can have been written. */
uint64_t zb__grid_pad(const zb__grid *grid, uint32_t d, uint64_t extent);

/* True if both divide every array into the same cells. */
bool zb__grid_same(const zb__grid *a, const zb__grid *b);

/* Reads a `chunk_grid`. largest[ndim] gets the largest extents; *out points at it. ZB_EUNSUPPORTED
   for grids that are not known. */
enum zb_code zb__grid_parse(const zb_json *value, uint32_t ndim, uint64_t *largest, zb__grid *out,
                            zb_error *err);

#endif
