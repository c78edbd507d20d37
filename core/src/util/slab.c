/* SPDX-License-Identifier: MIT */
/* A slab is aligned to its size, so that a block finds its slab's head by its address. */
#include "util/slab.h"

#include <stdlib.h>
#include <sys/mman.h>

typedef struct zb__slab {
    struct zb__slab *next;
    size_t block_size; /* a multiple of 64 */
    size_t used;       /* blocks that are given out */
    size_t fresh;      /* offset of the first block that was never given out */
    void *idle;        /* blocks that were given back, linked by their first word */
    _Alignas(64) unsigned char blocks[];
} slab;

static void *take_block(slab *s) {
    void *block = s->idle;
    if (block) {
        s->idle = *(void **)block;
    } else if (ZB__SLAB_BYTES - s->fresh >= s->block_size) {
        block = (unsigned char *)s + s->fresh;
        s->fresh += s->block_size;
    }
    s->used += block != NULL;
    return block;
}

void *zb__slab_alloc(zb__slabs *slabs, size_t size, uint64_t most) {
    size = (size + 63) & ~(size_t)63;
    for (slab *s = slabs->list; s; s = s->next) {
        void *block = s->block_size == size ? take_block(s) : NULL;
        if (block)
            return block;
    }
    slab *s = slabs->reserved + ZB__SLAB_BYTES <= most
                  ? aligned_alloc(ZB__SLAB_BYTES, ZB__SLAB_BYTES)
                  : NULL;
    if (!s)
        return NULL;
    madvise(s, ZB__SLAB_BYTES, MADV_HUGEPAGE); /* may fail: then the pages are small */
    *s = (slab){.next = slabs->list, .block_size = size, .fresh = sizeof *s};
    slabs->list = s;
    slabs->reserved += ZB__SLAB_BYTES;
    return take_block(s);
}

static slab *slab_of(const void *block) {
    return (slab *)((uintptr_t)block & ~(uintptr_t)(ZB__SLAB_BYTES - 1));
}

int zb__slab_has(const zb__slabs *slabs, const void *block) {
    const slab *s = slabs->list;
    while (s && s != slab_of(block))
        s = s->next;
    return s != NULL;
}

void zb__slab_free(zb__slabs *slabs, void *block) {
    slab *s = slab_of(block);
    if (--s->used > 0) {
        *(void **)block = s->idle;
        s->idle = block;
        return;
    }
    slab **link = &slabs->list;
    while (*link != s)
        link = &(*link)->next;
    *link = s->next;
    slabs->reserved -= ZB__SLAB_BYTES;
    free(s);
}
