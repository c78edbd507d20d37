/* SPDX-License-Identifier: MIT */
#include "array/room.h"

#include <stdlib.h>

#include "base/pages.h"

/* Large enough for some dozens of usual units, small enough that a block for each thread is little
   memory. */
#define BLOCK_BYTES ((size_t)4 << 20)

void zb__block_pool_init(zb__block_pool *pool, uint64_t units, size_t unit_bound) {
    size_t all;
    if (__builtin_mul_overflow((size_t)units, unit_bound, &all) || all > BLOCK_BYTES)
        all = BLOCK_BYTES;
    *pool = (zb__block_pool){.block_bytes = all > unit_bound ? all : unit_bound};
}

static void free_block(zb__block *block) {
    if (block)
        free(block->bytes);
    free(block);
}

static void free_list(zb__block **list) {
    while (*list) {
        zb__block *next = (*list)->next;
        free_block(*list);
        *list = next;
    }
}

void zb__block_pool_free(zb__block_pool *pool) {
    free_list(&pool->idle);
}

zb__block *zb__room_take(zb__room *room, zb__block_pool *pool, size_t unit_bound) {
    zb__block **from = room->open ? &room->open : &pool->idle;
    zb__block *block = *from;
    if (block) {
        *from = block->next;
        return block;
    }
    block = calloc(1, sizeof *block);
    if (block)
        block->bytes = zb__pages_alloc(pool->block_bytes, &block->capacity);
    if (!block || !block->bytes || block->capacity < unit_bound) {
        free_block(block);
        return NULL;
    }
    return block;
}

void zb__room_give(zb__room *room, zb__block *block, size_t unit_bound) {
    zb__block **to = block->capacity - block->used >= unit_bound ? &room->open : &room->full;
    block->next = *to;
    *to = block;
}

static void move_list(zb__block **from, zb__block **to) {
    while (*from) {
        zb__block *block = *from;
        *from = block->next;
        block->used = 0;
        block->next = *to;
        *to = block;
    }
}

void zb__room_clear(zb__room *room, zb__block_pool *pool) {
    move_list(&room->full, &pool->idle);
    move_list(&room->open, &pool->idle);
}
