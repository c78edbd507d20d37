/* SPDX-License-Identifier: MIT */
/*
 * Memory for blocks of a few sizes, in huge pages: the first touch of an ordinary page costs more
 * than decoding its content. Slabs of 8 MiB each serve one size at a time. Not thread-safe.
 */
#ifndef ZB_UTIL_SLAB_H
#define ZB_UTIL_SLAB_H

#include <stddef.h>
#include <stdint.h>

#define ZB__SLAB_BYTES ((size_t)8 << 20)

struct zb__slab;

typedef struct zb__slabs {
    struct zb__slab *list;
    uint64_t reserved; /* bytes of all slabs */
} zb__slabs;

/* True if a block of this size is worth a slab. Smaller ones touch few pages, larger ones are
   better off alone. */
static inline int zb__slab_fits(size_t size) {
    return size >= ((size_t)32 << 10) && size <= ZB__SLAB_BYTES / 4;
}

/* A block of a size that fits, aligned to 64 bytes; NULL when that would reserve more than `most`
   bytes or memory runs out. */
void *zb__slab_alloc(zb__slabs *slabs, size_t size, uint64_t most);

/* True if the block lies in one of these slabs. */
int zb__slab_has(const zb__slabs *slabs, const void *block);

/* Gives a block back; an empty slab goes back to the system. */
void zb__slab_free(zb__slabs *slabs, void *block);

#endif
