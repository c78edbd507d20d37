/* SPDX-License-Identifier: MIT */
/*
 * The cells of one dimension of a grid in which they have several extents, as runs of equal cells:
 * 10^9 cells of one extent are one entry. The first element of each run is known, so that a cell is
 * found in halves, by its index or by an element of it.
 *
 * Such a dimension ends, unlike one that is divided by one extent.
 */
#ifndef ZB_MODEL_RUNS_H
#define ZB_MODEL_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/error.h"

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

#endif
