/* SPDX-License-Identifier: MIT */
/*
 * The nest of loops over a box: brought into its simplest form, then walked in an order that suits
 * the caches.
 */
#ifndef ZB_TYPES_LOOPS_H
#define ZB_TYPES_LOOPS_H

#include "types/move.h"
#include "zarrbridge/dtype.h"

/* Outermost dimension first. All counts are at least 2, strides are bytes. */
typedef struct zb__loops {
    uint32_t ndim;
    uint64_t count[ZB_MAX_NDIM];
    int64_t src[ZB_MAX_NDIM], dst[ZB_MAX_NDIM];
    int64_t src_offset, dst_offset; /* where the first element lies, from the caller's pointers */
} zb__loops;

/* Brings a box into normal form: no dimension of count 1, destination strides not negative and
   descending, neighbours merged where both sides allow it. src_strides may be NULL: all zero.
   False when the box is empty. */
bool zb__loops_init(zb__loops *loops, uint32_t ndim, const uint64_t *count,
                    const int64_t *src_strides, const int64_t *dst_strides);

/* Takes a dimension out of the loops, which then go through its first index only. */
void zb__loops_remove(zb__loops *loops, uint32_t d);

/* True if a box of elements of that size will be walked in tiles, that is by short pieces of
   rows. */
bool zb__loops_tiled(const zb__loops *loops, size_t element_size);

/* Calls the move for all elements of the box. */
void zb__loops_run(const zb__loops *loops, const zb__move *move, const char *src, char *dst);

#endif
