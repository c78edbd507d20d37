/* SPDX-License-Identifier: MIT */
/*
 * Blocks that grow with the arena, so that a small one is small and a large one has few blocks: the
 * room that is left over in the newest block is at most a quarter of the rest. Aligned memory is
 * taken from a block's front and text from its end.
 */
#include "util/arena.h"

#include <stdint.h>
#include <stdlib.h>

#define LEAST_BLOCK ((size_t)1000)       /* with its head and malloc's, 1 KiB */
#define LARGEST_BLOCK ((size_t)64 << 10) /* larger only for a request that alone needs more */

typedef struct zb__arena_block {
    struct zb__arena_block *next;
    size_t capacity;
    _Alignas(16) unsigned char data[];
} arena_block;

/* Makes the newest block one that has `size` bytes left. */
static unsigned char *make_room(zb__arena *arena, size_t size) {
    if (arena->blocks && arena->end - arena->used >= size)
        return arena->blocks->data;
    size_t capacity = arena->held / 4;
    if (capacity < LEAST_BLOCK)
        capacity = LEAST_BLOCK;
    if (capacity > LARGEST_BLOCK)
        capacity = LARGEST_BLOCK;
    if (capacity < size)
        capacity = size;
    arena_block *block = malloc(sizeof *block + capacity);
    if (!block)
        return NULL;
    *block = (arena_block){.next = arena->blocks, .capacity = capacity};
    *arena = (zb__arena){
        .blocks = block, .end = capacity, .held = arena->held + sizeof *block + capacity};
    return block->data;
}

void *zb__arena_alloc(zb__arena *arena, size_t size) {
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + 15) & ~(size_t)15;
    unsigned char *data = make_room(arena, size);
    if (!data)
        return NULL;
    data += arena->used;
    arena->used += size;
    return data;
}

char *zb__arena_text(zb__arena *arena, size_t size) {
    unsigned char *data = size > SIZE_MAX / 2 ? NULL : make_room(arena, size);
    if (!data)
        return NULL;
    arena->end -= size;
    return (char *)data + arena->end;
}

void zb__arena_free(zb__arena *arena) {
    while (arena->blocks) {
        arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
    *arena = (zb__arena){.blocks = NULL};
}
