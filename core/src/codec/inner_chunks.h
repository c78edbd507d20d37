/* SPDX-License-Identifier: MIT */
/* Walks the inner chunks of a shard, as its index places them. */
#ifndef ZB_CODEC_INNER_CHUNKS_H
#define ZB_CODEC_INNER_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/shard.h"
#include "zarrbridge/error.h"

typedef struct zb__inner_chunks {
    const uint64_t *entries; /* [2 * count], as zb__shard_index_decode gives them */
    uint64_t count;
    uint64_t shard_size; /* bytes */
    /* The current one: its number, in C order of the stored dimensions, and the bytes of the shard
       that the index gives it. */
    uint64_t inner, offset, size;
} zb__inner_chunks;

/* A walk that stands before the first one. */
static inline zb__inner_chunks zb__inner_chunks_of(const uint64_t *entries, uint64_t count,
                                                   uint64_t shard_size) {
    return (zb__inner_chunks){
        .entries = entries, .count = count, .shard_size = shard_size, .inner = UINT64_MAX};
}

/* Goes to an inner chunk; false when it is not stored. */
static inline bool zb__inner_chunk_at(zb__inner_chunks *walk, uint64_t inner) {
    walk->inner = inner;
    walk->offset = walk->entries[2 * inner];
    walk->size = walk->entries[2 * inner + 1];
    return walk->offset != ZB__INDEX_EMPTY;
}

/* Goes to the next one that is stored; false behind the last. */
static inline bool zb__inner_chunk_next(zb__inner_chunks *walk) {
    while (++walk->inner < walk->count) {
        if (zb__inner_chunk_at(walk, walk->inner))
            return true;
    }
    return false;
}

/* True if the current one lies in the shard. */
static inline bool zb__inner_chunk_fits(const zb__inner_chunks *walk) {
    return walk->size <= walk->shard_size && walk->offset <= walk->shard_size - walk->size;
}

/* ZB_EFORMAT when it does not, and when it has no bytes: no codec makes a chunk of none. */
enum zb_code zb__inner_chunk_check(const zb__inner_chunks *walk, zb_error *err);

#endif
