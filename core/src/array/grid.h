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
 * Cells of different extents (the `rectilinear` grid) are kept as runs, along each
 * dimension that has some. A dimension of one extent has none, and is divided. Both kinds are told
 * apart inline, so that a regular grid goes on without a call. A dimension with runs ends: the
 * parser compares the end with the array's shape, so that each element of the array has its cell,
 * and callers that ask for others get a span of extent 0.
 *
 * Facts that follow from the shape of one chunk (its size, the grid of a shard) are not asked here
 * but of the pipeline that is bound to that shape (zb__array_chunk_layout).
 */
#ifndef ZB_ARRAY_GRID_H
#define ZB_ARRAY_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/error.h"
#include "zarrbridge/json.h"

/* ---- Runs of cells (runs.c). */

/*
 * The cells of one dimension of a grid in which they have several extents, as runs of equal cells:
 * 10^9 cells of one extent are one entry. The first element of each run is known, so that a cell is
 * found in halves, by its index or by an element of it.
 *
 * Such a dimension ends, unlike one that is divided by one extent.
 */

/* One cell along one dimension. */
typedef struct zb__span {
    uint64_t index;  /* in the grid */
    uint64_t start;  /* its first element */
    uint64_t extent; /* its elements; 0 when the grid has no such cell */
} zb__span;

/* Cells of one extent that follow each other. Runs side by side have different extents. */
typedef struct zb__run {
    uint64_t index;  /* of its first cell */
    uint64_t start;  /* of its first element */
    uint64_t extent; /* of each cell */
} zb__run;

/* All zeros: the dimension is divided by one extent, without an end. */
typedef struct zb__runs {
    size_t count;
    zb__run *run; /* [count + 1]: behind the runs the end, with extent 0. malloc'ed */
    size_t capacity;
} zb__runs;

/* Adds `count` cells of an extent behind the last one; both at least 1. ZB_ELIMIT when the cells
   would reach element 2^63, ZB_ENOMEM. */
enum zb_code zb__runs_add(zb__runs *runs, uint64_t extent, uint64_t count, zb_error *err);
void zb__runs_free(zb__runs *runs);

/* The cells, and their elements, that there are. */
static inline uint64_t zb__runs_cells(const zb__runs *runs) {
    return runs->count ? runs->run[runs->count].index : 0;
}
static inline uint64_t zb__runs_end(const zb__runs *runs) {
    return runs->count ? runs->run[runs->count].start : 0;
}

/* The number of cells of a run. */
static inline uint64_t zb__run_cells(const zb__runs *runs, size_t i) {
    return runs->run[i + 1].index - runs->run[i].index;
}

/* The cell of an element. Behind the end: the number of cells, start UINT64_MAX, extent 0. */
zb__span zb__runs_find(const zb__runs *runs, uint64_t element);

/* The cell of an index. Behind the end: start UINT64_MAX and extent 0. */
zb__span zb__runs_at(const zb__runs *runs, uint64_t index);

/* The largest extent of the cells that an array of this extent has; of the first cell when it has
   none. */
uint64_t zb__runs_largest(const zb__runs *runs, uint64_t extent);

/* True if no element that both reach lies in different cells: one may go on where the other one
   ends. Runs without a cell stand for cells of `extent`, which is not asked for otherwise. */
bool zb__runs_agree(const zb__runs *a, uint64_t a_extent, const zb__runs *b, uint64_t b_extent);

/* ---- Grids. */

/* A small value that is copied; what it points to belongs to its maker and outlives it. */
typedef struct zb__grid {
    uint32_t ndim;
    const uint64_t *extent; /* [ndim] the largest of a cell along a dimension, at least 1 */
    const zb__runs *runs;   /* [ndim], NULL where all dimensions have one extent */
} zb__grid;

/* A grid of equal cells. extent[ndim] must outlive it. */
static inline zb__grid zb__grid_of(uint32_t ndim, const uint64_t *extent) {
    return (zb__grid){.ndim = ndim, .extent = extent};
}

/* True if the cells along a dimension have several extents, or end. */
static inline bool zb__grid_has_runs(const zb__grid *grid, uint32_t d) {
    return __builtin_expect(grid->runs != NULL, 0) && grid->runs[d].count > 0;
}

/* The cell of an element. Walks over pieces call this for each cell. Behind the end of a dimension
   with runs: the number of its cells, start UINT64_MAX, extent 0. */
static inline zb__span zb__grid_find(const zb__grid *grid, uint32_t d, uint64_t element) {
    if (zb__grid_has_runs(grid, d))
        return zb__runs_find(&grid->runs[d], element);
    uint64_t extent = grid->extent[d];
    return (zb__span){
        .index = element / extent, .start = element - element % extent, .extent = extent};
}

/* The cell of an index. A cell that would begin at 2^63 or later, or behind the end of a dimension
   with runs, begins at UINT64_MAX and has extent 0: no array reaches it. */
static inline zb__span zb__grid_at(const zb__grid *grid, uint32_t d, uint64_t index) {
    if (zb__grid_has_runs(grid, d))
        return zb__runs_at(&grid->runs[d], index);
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

/* The largest extent of the cells that the array has: buffers are made for it. */
static inline uint64_t zb__grid_largest(const zb__grid *grid, uint32_t d) {
    return grid->extent[d];
}

/* The number of cells that an array of this extent has, the last of them maybe in part; 0 for
   extent 0. Any extent, up to UINT64_MAX; no more than there are in a dimension with runs. */
static inline uint64_t zb__grid_count(const zb__grid *grid, uint32_t d, uint64_t extent) {
    if (extent == 0)
        return 0;
    zb__span last = zb__grid_find(grid, d, extent - 1);
    return last.index + (last.extent > 0);
}

/* The extent rounded up to the end of its last cell; the extent itself when that is 2^63 or more,
   or the grid ends before it: nothing can have been written there. */
uint64_t zb__grid_pad(const zb__grid *grid, uint32_t d, uint64_t extent);

/* True if no element lies in different cells of both. Where one ends, the other may go on: growing
   an array adds cells and leaves those that there are. */
bool zb__grid_same(const zb__grid *a, const zb__grid *b);

/* Reads the `chunk_grid` of an array of this shape. largest[ndim] gets the largest extents; *out
   points at it, and has to be freed. ZB_EUNSUPPORTED for grids that are not known. */
enum zb_code zb__grid_parse(const zb_json *value, uint32_t ndim, const uint64_t *shape,
                            uint64_t *largest, zb__grid *out, zb_error *err);

/* True for the grids of ZEP 3 in their first form, {"type": "rectangular", ...} or "regular": the
   arrays that have it are from before there were chunk key encodings. */
bool zb__grid_is_typed(const zb_json *value);

/* Frees the runs of a grid that was parsed; all zeros is allowed. */
void zb__grid_free(zb__grid *grid);

/* ---- A list of extents in JSON: the shape of an array or of a chunk. */

/* Reads a list, whose length the caller has looked at, into out: each extent at least `least`
   (ZB_EFORMAT) and below 2^63 (ZB_ELIMIT). `what` names the list in messages. */
enum zb_code zb__extents_parse(const zb_json *list, const char *what, uint64_t least, uint64_t *out,
                               zb_error *err);

/*
 * The lists of extents of a `rectilinear` grid (`chunk_shapes`), and of the draft `rectangular`
 * from which it came (`chunk_shape`). For each dimension there is an integer, which divides all of
 * it, or a list of integers and of runs [extent, count].
 */

/* Reads one list for each dimension. extent[d] gets the integer, or 0 where runs[d] gets a list;
   runs must be zeros. `what` names the member in messages. */
enum zb_code zb__chunk_shapes_parse(const zb_json *value, const char *what, bool has_counts,
                                    uint32_t ndim, uint64_t *extent, zb__runs *runs, zb_error *err);

/* Writes the `rectilinear` grid: for a dimension without runs its extent, else the list, in which
   single cells are integers and others [extent, count]. */
void zb__rectilinear_print(zb_json_writer *writer, uint32_t ndim, const uint64_t *extent,
                           const zb__runs *runs);

#endif
