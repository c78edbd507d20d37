/* SPDX-License-Identifier: MIT */
/* The index of a shard. */
#ifndef ZB_CODEC_SHARD_INDEX_H
#define ZB_CODEC_SHARD_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/chunk_layout.h"
#include "zarrbridge/error.h"

#define ZB__INDEX_EMPTY UINT64_MAX

/* Decodes a shard index of index_size bytes into entries[2 * count]: offset and length of each
   inner chunk in C order of stored dimensions, host byte order, ZB__INDEX_EMPTY twice for a missing
   one (one alone is ZB_EFORMAT). Checks the checksum, not the bounds: the reader compares them with
   the object's size. */
enum zb_code zb__shard_index_decode(const zb__shard *shard, zb__scratch *scratch,
                                    const uint8_t *encoded, uint64_t *entries, zb_error *err);

/* The same of a shard of the draft: encoded[0..size) are the last bytes of the shard, index_size of
   them or, of a shorter shard, all. The index ends with a checksum, as zarr-python reads and writes
   it, or has none, as the draft had it; the checksum itself tells. */
enum zb_code zb__draft_index_decode(const zb__shard *shard, zb__scratch *scratch,
                                    const uint8_t *encoded, size_t size, uint64_t *entries,
                                    zb_error *err);

/* Encodes a shard index: entries[2 * count] as zb__shard_index_decode gives them, into index_size
   bytes. */
enum zb_code zb__shard_index_encode(const zb__shard *shard, zb__scratch *scratch,
                                    const uint64_t *entries, uint8_t *out, zb_error *err);

/* ---- Walks the inner chunks of a shard, as its index places them. */

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
