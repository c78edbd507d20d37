/* SPDX-License-Identifier: MIT */
/*
 * Pieces: the parts into which a requested box falls when a grid is laid over it.
 *
 * A piece is a box with steps in the coordinates of one chunk (or of the whole array), together
 * with the destination of its elements. Splitting a piece along a grid gives pieces in the
 * coordinates of the cells, so that the same few lines serve arrays of chunks, shards of inner
 * chunks and uncompressed chunks that are read in slabs.
 */
#ifndef ZB_READ_PIECE_H
#define ZB_READ_PIECE_H

#include "array/grid.h"
#include "util/arena.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/node.h"
#include "zarrbridge/values.h"

/* ---- Pieces ------------------------------------------------------------------------------- */

/* The members that all pieces of one zb_read share. */
typedef struct zb__target {
    zb_dtype dtype;
    zb_values *values; /* holds what elements of variable length point at; NULL for numbers */
    bool stream;       /* large output: use non-temporal stores */
    bool is_ahead;     /* as in zb_read */
} zb__target;

typedef struct zb__piece {
    struct zb__piece *next; /* of the same chunk */
    const zb__target *target;
    char *dst;      /* where the first element goes */
    uint64_t box[]; /* start, count, step, stride: ndim words each */
} zb__piece;

static inline uint64_t *zb__piece_start(zb__piece *p) {
    return p->box;
}
static inline uint64_t *zb__piece_count(zb__piece *p, uint32_t ndim) {
    return p->box + ndim;
}
static inline uint64_t *zb__piece_step(zb__piece *p, uint32_t ndim) {
    return p->box + 2 * ndim;
}
/* Bytes between neighbouring elements of the box in the destination. */
static inline int64_t *zb__piece_stride(zb__piece *p, uint32_t ndim) {
    return (int64_t *)(p->box + 3 * ndim);
}

/* An uninitialised piece; NULL when memory runs out. */
zb__piece *zb__piece_new(zb__arena *arena, uint32_t ndim);

/* Number of elements; a piece of 0 dimensions has one. */
uint64_t zb__piece_elements(zb__piece *piece, uint32_t ndim);
/* Of a list of pieces. */
uint64_t zb__pieces_elements(zb__piece *first, uint32_t ndim);

/* The bytes [*lo, *hi) of a C-order block of this shape and element size that hold the piece. */
void zb__piece_extent(zb__piece *piece, uint32_t ndim, const uint64_t *shape, size_t item,
                      uint64_t *lo, uint64_t *hi);

/* ---- Walking the cells of a grid that a piece touches, in C order ------------------------- */

typedef struct zb__cells {
    zb__piece *piece;
    zb__grid grid;
    bool done;
    uint64_t cell[ZB_MAX_NDIM];  /* grid index of the current cell */
    uint64_t start[ZB_MAX_NDIM]; /* its first element */
    uint64_t first[ZB_MAX_NDIM]; /* first element of the box in it, counted in steps */
    uint64_t run[ZB_MAX_NDIM];   /* elements of the box in it */
} zb__cells;

/* Starts the walk; the piece must not be empty. The grid is copied, but not the arrays that it
   points to. */
void zb__cells_begin(zb__cells *cells, zb__piece *piece, const zb__grid *grid);
void zb__cells_next(zb__cells *cells);

/* Sets *part to the part of the piece in the current cell, in the cell's coordinates, its dimension
   i being the cell's dimension axis[i] (NULL: not permuted). */
void zb__cells_part(const zb__cells *cells, const uint32_t *axis, zb__piece *part);

/* The same as a new piece. NULL when memory runs out. */
zb__piece *zb__cells_piece(const zb__cells *cells, zb__arena *arena, const uint32_t *axis);

/* ---- The box that a caller asks to read or write, checked against its array. */

/* The members that zb_read and zb_write have in common. */
typedef struct zb__selection {
    const zb_node *node;
    const uint64_t *start, *count, *step; /* as in zb_read: any may be NULL */
    const int64_t *strides;               /* of the caller's memory, bytes, or NULL for C order */
    size_t item;                          /* bytes of an element there */
} zb__selection;

/* Makes the selection a piece in the array's coordinates (dst and target are the caller's to set)
   and says whether it is empty. *bytes is the size of its elements in C order. */
enum zb_code zb__box_piece(const zb__selection *selection, zb__arena *memory, zb__piece **out,
                           bool *empty, uint64_t *bytes, zb_error *err);

#endif
