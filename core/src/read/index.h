/* SPDX-License-Identifier: MIT */
/* Shard indexes: read with one range request, checked, and cached by the version of their
   object. */
#ifndef ZB_READ_INDEX_H
#define ZB_READ_INDEX_H

#include "base/lru.h"
#include "base/scratch.h"
#include "codec/form.h"
#include "read/leaf.h"
#include "zarrbridge/error.h"

/* Two numbers for each inner chunk: offset in the shard and size, ZB__INDEX_EMPTY twice when
   missing. */
typedef struct zb__index {
    const uint64_t *entries;
    zb__lru_item *item; /* keeps entries alive when they are cached */
    uint64_t *own;      /* otherwise they are here */
} zb__index;

/* The place of the stored index in the object or memory of `source`. ZB_EFORMAT when the shard is
   too short to hold it. */
enum zb_code zb__index_place(const zb__shard *shard, const zb__source *source, uint64_t *offset,
                             size_t *size, zb_error *err);

/* Reads the index of the shard whose bytes are `source` into entries[2 * count], past the cache. */
enum zb_code zb__index_read(const zb__shard *shard, const zb__source *source, zb__scratch *scratch,
                            uint64_t *entries, zb_error *err);

/* The index from the cache; false when it is not there. Else, and of zb__index_load and
   zb__index_take on success, the caller releases the index. */
bool zb__index_find(const zb__stored_chunk *chunk, const zb__shard *shard, const zb__source *source,
                    zb__index *out);

/* The index from its stored bytes, which it puts into the cache. */
enum zb_code zb__index_take(const zb__stored_chunk *chunk, const zb__shard *shard,
                            const zb__source *source, const uint8_t *encoded, size_t size,
                            zb__scratch *scratch, zb__index *out, zb_error *err);

/* The index from the cache, or read and put there. */
enum zb_code zb__index_load(const zb__stored_chunk *chunk, const zb__shard *shard,
                            const zb__source *source, zb__scratch *scratch, zb__index *out,
                            zb_error *err);
void zb__index_release(zb__index *index);

#endif
