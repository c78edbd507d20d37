/* SPDX-License-Identifier: MIT */
/* Shard indexes: read with one range request, checked, and cached by the version of their object.
   */
#include "read/leaf.h"

#include <stdlib.h>

#include "codec/pipeline.h"
#include "codec/shard_index.h"
#include "node/node.h"
#include "read/cache.h"
#include "util/lru.h"
#include "util/scratch.h"
#include "zarrbridge/sys/store.h"

void zb__index_release(zb__index *index) {
    zb__lru_release(index->item);
    free(index->own);
    *index = (zb__index){0};
}

enum zb_code zb__index_place(const zb__shard *shard, const zb__source *source, uint64_t *offset,
                             size_t *size, zb_error *err) {
    *size = shard->index_size;
    if (shard->is_draft && source->size < shard->index_size)
        *size = (size_t)source->size; /* it may lack its checksum */
    if (source->size < *size)
        return zb_fail(err, ZB_EFORMAT, "the shard has %llu bytes, fewer than its index of %zu",
                       (unsigned long long)source->size, shard->index_size);
    *offset = source->offset + (shard->index_at_start ? 0 : source->size - *size);
    return ZB_OK;
}

/* Sets *encoded to the stored bytes of an index at that place: in memory, or read into the
   scratch. */
static enum zb_code fetch(const zb__source *source, uint64_t offset, size_t size,
                          zb__scratch *scratch, const uint8_t **encoded, zb_error *err) {
    if (source->memory) {
        *encoded = source->memory + offset;
        return ZB_OK;
    }
    enum zb_code code = zb__buffer_reserve(&scratch->encoded, size, err);
    if (code != ZB_OK)
        return code;
    zb_range range = {.offset = offset, .length = size, .buffer = scratch->encoded.data};
    code = zb_object_read(source->object, &range, 1, err);
    if (code == ZB_OK && range.got != range.length)
        code = zb_fail(err, ZB_EIO, "the shard became shorter while its index was read");
    *encoded = scratch->encoded.data;
    return code;
}

static enum zb_code decode(const zb__shard *shard, const uint8_t *encoded, size_t size,
                           zb__scratch *scratch, uint64_t *entries, zb_error *err) {
    return shard->is_draft ? zb__draft_index_decode(shard, scratch, encoded, size, entries, err)
                           : zb__shard_index_decode(shard, scratch, encoded, entries, err);
}

enum zb_code zb__index_read(const zb__shard *shard, const zb__source *source, zb__scratch *scratch,
                            uint64_t *entries, zb_error *err) {
    const uint8_t *encoded = NULL;
    uint64_t offset = 0;
    size_t size = 0;
    enum zb_code code = zb__index_place(shard, source, &offset, &size, err);
    if (code == ZB_OK)
        code = fetch(source, offset, size, scratch, &encoded, err);
    return code ? code : decode(shard, encoded, size, scratch, entries, err);
}

/* Bounded by index_bytes. */
static size_t bytes_of(const zb__shard *shard) {
    return (size_t)shard->count * 2 * sizeof(uint64_t);
}

/* What the index is called in the cache. False for one that is not kept there. */
static bool name_in_cache(const zb__stored_chunk *chunk, const zb__shard *shard,
                          const zb__source *source, zb__lru_key *name) {
    *name = (zb__lru_key){
        .word = {chunk->node->array->cache_id, chunk->number, source->offset, source->size},
        .kind = ZB__CACHED_INDEX,
        .size = bytes_of(shard)};
    return !source->memory && chunk->number != UINT64_MAX;
}

bool zb__index_find(const zb__stored_chunk *chunk, const zb__shard *shard, const zb__source *source,
                    zb__index *out) {
    zb__lru_key name;
    *out = (zb__index){0};
    if (name_in_cache(chunk, shard, source, &name))
        out->item =
            zb__lru_get(zb__index_cache(), &name, zb__cache_version(&chunk->info.validator));
    if (out->item)
        out->entries = (const uint64_t *)(const void *)out->item->data;
    return out->item != NULL;
}

/* Memory for the entries: in the cache where that is allowed, else our own. */
static uint64_t *make_room(const zb__stored_chunk *chunk, const zb__shard *shard,
                           const zb__source *source, zb__index *out) {
    zb__lru_key name;
    const size_t bytes = bytes_of(shard);
    if (name_in_cache(chunk, shard, source, &name))
        out->item =
            zb__lru_new(zb__index_cache(), &name, zb__cache_version(&chunk->info.validator), bytes);
    if (out->item)
        return (uint64_t *)(void *)out->item->data;
    return out->own = malloc(bytes);
}

/* A shard may have gaps of any size, unless all of it is made in memory for the sake of the
   index. */
static enum zb_code check_packed(const zb__stored_chunk *chunk, const zb__source *source,
                                 zb_error *err) {
    return source->object && chunk->info.is_packed
               ? zb__chunk_layout_check_stored(chunk->layout, chunk->info.size, err)
               : ZB_OK;
}

/* encoded: NULL to read them. */
static enum zb_code make(const zb__stored_chunk *chunk, const zb__shard *shard,
                         const zb__source *source, const uint8_t *encoded, size_t size,
                         zb__scratch *scratch, zb__index *out, zb_error *err) {
    *out = (zb__index){0};
    enum zb_code code = encoded ? ZB_OK : check_packed(chunk, source, err);
    if (code != ZB_OK)
        return code;
    uint64_t *entries = make_room(chunk, shard, source, out);
    if (!entries)
        return zb_fail(err, ZB_ENOMEM, "no memory for a shard index of %zu bytes", bytes_of(shard));
    code = encoded ? decode(shard, encoded, size, scratch, entries, err)
                   : zb__index_read(shard, source, scratch, entries, err);
    if (code != ZB_OK) {
        zb__index_release(out);
        return code;
    }
    out->entries = entries;
    if (out->item)
        zb__lru_put(zb__index_cache(), out->item);
    return ZB_OK;
}

enum zb_code zb__index_take(const zb__stored_chunk *chunk, const zb__shard *shard,
                            const zb__source *source, const uint8_t *encoded, size_t size,
                            zb__scratch *scratch, zb__index *out, zb_error *err) {
    return make(chunk, shard, source, encoded, size, scratch, out, err);
}

enum zb_code zb__index_load(const zb__stored_chunk *chunk, const zb__shard *shard,
                            const zb__source *source, zb__scratch *scratch, zb__index *out,
                            zb_error *err) {
    return zb__index_find(chunk, shard, source, out)
               ? ZB_OK
               : make(chunk, shard, source, NULL, 0, scratch, out, err);
}
