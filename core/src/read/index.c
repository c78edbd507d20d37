/* SPDX-License-Identifier: MIT */
#include "read/index.h"

#include <stdlib.h>

#include "base/lru.h"
#include "base/scratch.h"
#include "codec/chain.h"
#include "codec/shard.h"
#include "node/node.h"
#include "read/cache.h"
#include "read/leaf.h"
#include "zarrbridge/sys/store.h"

void zb__index_release(zb__index *index) {
    zb__lru_release(index->item);
    free(index->own);
    *index = (zb__index){0};
}

/* Sets *encoded to the stored bytes of an index of that size: in memory, or read into the scratch. */
static enum zb_code fetch(const zb__shard *shard, const zb__source *source, size_t size,
                          zb__scratch *scratch, const uint8_t **encoded, zb_error *err) {
    uint64_t at = source->offset + (shard->index_at_start ? 0 : source->size - size);
    if (!source->object) {
        *encoded = source->memory + at;
        return ZB_OK;
    }
    enum zb_code code = zb__buffer_reserve(&scratch->encoded, size, err);
    if (code != ZB_OK)
        return code;
    zb_range range = {.offset = at, .length = size, .buffer = scratch->encoded.data};
    code = zb_object_read(source->object, &range, 1, err);
    if (code == ZB_OK && range.got != range.length)
        code = zb_fail(err, ZB_EIO, "the shard became shorter while its index was read");
    *encoded = scratch->encoded.data;
    return code;
}

enum zb_code zb__index_read(const zb__shard *shard, const zb__source *source, zb__scratch *scratch,
                            uint64_t *entries, zb_error *err) {
    const uint8_t *encoded = NULL;
    if (shard->is_draft) {
        size_t size = source->size < shard->index_size ? (size_t)source->size : shard->index_size;
        enum zb_code fetched = fetch(shard, source, size, scratch, &encoded, err);
        return fetched ? fetched
                       : zb__draft_index_decode(shard, scratch, encoded, size, entries, err);
    }
    if (source->size < shard->index_size)
        return zb_fail(err, ZB_EFORMAT, "the shard has %llu bytes, fewer than its index of %zu",
                       (unsigned long long)source->size, shard->index_size);
    enum zb_code code = fetch(shard, source, shard->index_size, scratch, &encoded, err);
    return code ? code : zb__shard_index_decode(shard, scratch, encoded, entries, err);
}

/* Memory for the entries: in the cache where that is allowed (cache_key not NULL), else our own. */
static uint64_t *make_room(const zb__stored_chunk *key, const zb__lru_key *cache_key, size_t bytes,
                           zb__index *out) {
    if (cache_key)
        out->item = zb__lru_new(zb__index_cache(), cache_key,
                                zb__cache_version(&key->info.validator), bytes);
    if (out->item)
        return (uint64_t *)(void *)out->item->data;
    return out->own = malloc(bytes);
}

enum zb_code zb__index_load(const zb__stored_chunk *key, const zb__shard *shard,
                            const zb__source *source, zb__scratch *scratch, zb__index *out,
                            zb_error *err) {
    *out = (zb__index){0};
    zb__lru_key cache_key = {
        .word = {key->node->array->cache_id, key->number, source->offset, source->size}};
    bool cacheable = source->object && key->number != UINT64_MAX;
    if (cacheable)
        out->item =
            zb__lru_get(zb__index_cache(), &cache_key, zb__cache_version(&key->info.validator));
    if (out->item) {
        out->entries = (const uint64_t *)(const void *)out->item->data;
        return ZB_OK;
    }
    size_t bytes = (size_t)shard->count * 2 * sizeof(uint64_t); /* bounded by index_bytes */
    uint64_t *entries = make_room(key, cacheable ? &cache_key : NULL, bytes, out);
    if (!entries)
        return zb_fail(err, ZB_ENOMEM, "no memory for a shard index of %zu bytes", bytes);
    enum zb_code code = zb__index_read(shard, source, scratch, entries, err);
    if (code != ZB_OK) {
        zb__index_release(out);
        return code;
    }
    out->entries = entries;
    if (out->item)
        zb__lru_put(zb__index_cache(), out->item);
    return ZB_OK;
}
