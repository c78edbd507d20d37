/* SPDX-License-Identifier: MIT */
#include "write/encode_blocks.h"

#include <stdlib.h>

#include "util/pages.h"
#include "write/budget.h"

/* Large enough for some dozens of usual inner chunks, small enough that a block for each thread is
   little memory. */
#define BLOCK_BYTES ((size_t)4 << 20)

void zb__block_pool_init(zb__block_pool *pool, uint64_t inner_chunks, size_t inner_bound) {
    size_t all;
    if (__builtin_mul_overflow((size_t)inner_chunks, inner_bound, &all) || all > BLOCK_BYTES)
        all = BLOCK_BYTES;
    *pool = (zb__block_pool){.block_bytes = all > inner_bound ? all : inner_bound};
}

static void free_block(zb__block *block) {
    if (block)
        zb__pages_unmap(block->bytes, block->capacity);
    free(block);
}

/* Takes an idle block out of the pool, or NULL. */
static zb__block *take_idle(zb__block_pool *pool) {
    zb__block *block = pool->idle;
    if (block) {
        pool->idle = block->next;
        zb__idle_end(block->capacity);
        zb__waiting_bytes(-(int64_t)block->capacity);
    }
    return block;
}

void zb__block_pool_free(zb__block_pool *pool) {
    for (zb__block *block; (block = take_idle(pool)) != NULL;)
        free_block(block);
}

zb__block *zb__encode_blocks_take(zb__encode_blocks *blocks, zb__block_pool *pool,
                                  size_t inner_bound) {
    zb__block *block = blocks->open;
    if (block && block->capacity - block->used >= inner_bound) {
        blocks->open = block->next;
        return block;
    }
    block = take_idle(pool);
    if (block && block->capacity >= inner_bound)
        return block;
    free_block(block);
    block = calloc(1, sizeof *block);
    if (block) {
        block->capacity = inner_bound > pool->block_bytes ? inner_bound : pool->block_bytes;
        block->bytes = zb__pages_map(block->capacity);
    }
    if (!block || !block->bytes) {
        free_block(block);
        return NULL;
    }
    return block;
}

void zb__encode_blocks_give(zb__encode_blocks *blocks, zb__block *block, size_t inner_bound) {
    zb__block **to = block->capacity - block->used >= inner_bound ? &blocks->open : &blocks->full;
    block->next = *to;
    *to = block;
}

static void make_idle(zb__block **list, zb__block_pool *pool) {
    while (*list) {
        zb__block *block = *list;
        *list = block->next;
        if (!zb__idle_begin(block->capacity)) {
            free_block(block);
            continue;
        }
        zb__waiting_bytes((int64_t)block->capacity);
        block->used = 0;
        block->next = pool->idle;
        pool->idle = block;
    }
}

void zb__encode_blocks_clear(zb__encode_blocks *blocks, zb__block_pool *pool) {
    make_idle(&blocks->full, pool);
    make_idle(&blocks->open, pool);
}
