/* SPDX-License-Identifier: MIT */
/*
 * Moves: the work on one run of elements along one dimension.
 *
 * All kernels reduce to "n elements, this far apart at the source, that far at the destination".
 * A zb__move is such a loop with its parameters, chosen once per box; zb__loops_run calls it for
 * each run of the box. Moves never allocate and cannot fail; no pointer needs to be aligned.
 */
#ifndef ZB_TYPES_MOVE_H
#define ZB_TYPES_MOVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/dtype.h"

typedef struct zb__move zb__move;
struct zb__move {
    /* Strides in bytes, of any sign. A source stride of 0 replicates. */
    void (*run)(const zb__move *move, const char *src, int64_t src_stride, char *dst,
                int64_t dst_stride, size_t n);
    size_t size;                   /* bytes of an element at the destination */
    size_t src_size;               /* and at the source */
    zb_dtype src_dtype, dst_dtype; /* of a conversion */
    size_t pattern_size;           /* of a fill: bytes of replicated elements at the source */
    size_t bands;                  /* of a split: elements of a pixel */
    const int64_t *apart;          /* how far behind the first of them each goes; borrowed */
    bool streams;                  /* stores past the caches: nothing is to be prefetched */
    const zb__move *inner;         /* of a staged move or a fill: the plain one; borrowed */
};

/* A cache line, which a non-temporal store should fill as a whole. */
#define ZB__LINE 64

/* Asks for the lines of a row that is to be written a few rows from now. The rows of a chunk lie
   far apart in a large array, which the processor's own prefetching does not follow: without this
   each row waits for its lines. A long row has its beginning asked for, then the hardware keeps
   up. */
#define ZB__ROWS_AHEAD 4
static inline void zb__prefetch_row(const char *dst, size_t size) {
    const size_t bytes = size < 1024 ? size : 1024;
    for (size_t i = 0; i < bytes; i += ZB__LINE)
        __builtin_prefetch(dst + i, 1);
    __builtin_prefetch(dst + bytes - 1, 1);
}

/* Copies elements of `size` bytes as they are. */
zb__move zb__move_copy(size_t size);

/* Takes pixels of so many elements apart (below): a run has pixels side by side at the source,
   and element i of them goes apart[i] bytes behind dst, side by side. */
zb__move zb__move_split(size_t size, size_t bands, const int64_t *apart);

/* Copies elements of `size` bytes, reversing the bytes of each component. Components have 2, 4 or
   8 bytes; an element has one, or two (complex). */
zb__move zb__move_swap(size_t size, size_t component_size);

/* Converts by a function of the types' own. */
static inline zb__move zb__move_by(void (*run)(const zb__move *, const char *, int64_t, char *,
                                               int64_t, size_t),
                                   zb_dtype src_dtype, zb_dtype dst_dtype) {
    return (zb__move){.run = run,
                      .size = dst_dtype.size,
                      .src_size = src_dtype.size,
                      .src_dtype = src_dtype,
                      .dst_dtype = dst_dtype};
}

/* Converts; a plain copy or swap when the types differ in byte order only. zb_dtype_converts or
   zb_dtype_writes must hold. */
zb__move zb__move_convert(zb_dtype src_dtype, zb_dtype dst_dtype);
/* True if that would be a plain copy. A copy of bools is none: bytes other than 0 and 1 become 1.
   Asked for each piece of a read or write, nearly always of equal numbers: hence the first part,
   which costs no call. */
bool zb__dtype_copies_any(zb_dtype src_dtype, zb_dtype dst_dtype);

static inline bool zb__dtype_copies(zb_dtype src_dtype, zb_dtype dst_dtype) {
    const bool is_number = src_dtype.kind == ZB_KIND_INT || src_dtype.kind == ZB_KIND_UINT ||
                           src_dtype.kind == ZB_KIND_FLOAT;
    if (is_number && src_dtype.kind == dst_dtype.kind && src_dtype.size == dst_dtype.size &&
        src_dtype.swapped == dst_dtype.swapped)
        return true;
    return zb__dtype_copies_any(src_dtype, dst_dtype);
}

/* Copies (long) elements with non-temporal stores where the processor has them. After the last run,
   zb__stream_end orders these stores before all later ones, on any thread. */
zb__move zb__move_stream(size_t size);
void zb__stream_row(char *dst, const char *src, size_t size);
void zb__stream_end(void);

/* ---- Bands of pixels (bands.c): elements of 1, 2 or 4 bytes, of which a pixel has two to four. */

#define ZB__BANDS_MAX 4

/* True if there are loops for pixels of so many elements of this size. */
static inline bool zb__bands_suit(size_t size, uint64_t bands) {
    return (size == 1 || size == 2 || size == 4) && bands >= 2 && bands <= ZB__BANDS_MAX;
}

/* Copies element b of each of n pixels to dst[b], for all bands b in one pass. */
void zb__bands_split(size_t size, size_t bands, const char *src, char *const *dst, size_t n);

/* Copies the first element of each of n pixels to dst. Reads nothing behind the last of them. */
void zb__bands_pick(size_t size, size_t bands, const char *src, char *dst, size_t n);

/* Conversion between the numbers that processors have: bools, integers, floats, complex ones, and
   counts of time. */

/* As the member `convert` of a kind. */
bool zb__numbers_convert(zb_dtype from, zb_dtype to, zb__move *move);

/* The move where that holds, or for two bools. */
zb__move zb__numbers_move(zb_dtype from, zb_dtype to);

/* True if one is a type of times and the other its int64: their bytes mean the same. */
bool zb__numbers_same(zb_dtype a, zb_dtype b);

/* Converts n elements, for which zb__numbers_convert holds; of equal types, too. */
void zb__numbers_run(zb_dtype from, const void *src, int64_t src_stride, zb_dtype to, void *dst,
                     int64_t dst_stride, size_t n);

#endif
