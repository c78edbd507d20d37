/* SPDX-License-Identifier: MIT */
/*
 * Room for encoded inner chunks. The length of an inner chunk is known only afterwards, so each is
 * written into a block that has room for the longest that it could become, and gives back the room
 * that it does not need: the memory that is touched is about the size of the encoded inner chunks.
 * One task at a time has a block, so that it needs no lock while it encodes; blocks go from chunk
 * to chunk with their pages, since the first touch of fresh memory costs as much as a fast codec.
 *
 * Not thread-safe: the caller guards a pool and the blocks of its chunks by one lock.
 */
#ifndef ZB_WRITE_ENCODE_BLOCKS_H
#define ZB_WRITE_ENCODE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

typedef struct zb__block {
    struct zb__block *next;
    uint8_t *bytes;
    size_t capacity, used;
} zb__block;

/* Blocks that no chunk uses; all of one size. They are idle memory that waits (budget.h); those of
   a chunk are work, reserved by the thread that runs the chunk. */
typedef struct zb__block_pool {
    zb__block *idle;
    size_t block_bytes;
} zb__block_pool;

/* The blocks of one chunk that no task has. */
typedef struct zb__encode_blocks {
    zb__block *open, *full;
} zb__encode_blocks;

/* For chunks of that many inner chunks, each of which becomes at most `inner_bound` bytes. */
void zb__block_pool_init(zb__block_pool *pool, uint64_t inner_chunks, size_t inner_bound);
void zb__block_pool_free(zb__block_pool *pool);

/* A block of the chunk with `inner_bound` bytes free behind `used`; NULL when memory runs out. */
zb__block *zb__encode_blocks_take(zb__encode_blocks *blocks, zb__block_pool *pool,
                                  size_t inner_bound);
/* Gives it back, `used` counting the bytes that were written. */
void zb__encode_blocks_give(zb__encode_blocks *blocks, zb__block *block, size_t inner_bound);
/* Gives all to the pool, as far as the budget lets it keep idle memory. */
void zb__encode_blocks_clear(zb__encode_blocks *blocks, zb__block_pool *pool);

#endif
