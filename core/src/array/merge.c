/* SPDX-License-Identifier: MIT */
/*
 * Storing a chunk of which only a part was written: what is missing comes from the stored object,
 * under the key's lock, so that nobody replaces it between our reading and our put. Inner chunks
 * that nobody wrote are taken over as they are encoded.
 */
#include <stdlib.h>
#include <string.h>

#include "array/index.h"
#include "array/journal.h"
#include "codec/encode.h"

/* ---- Elements of units that were written in part ---- */

/* Reads the unit's elements as they are stored now (fill values where nothing is) into `elements`.
 */
static enum zb_code read_unit(const zb_writer *writer, const zb__open_chunk *chunk, uint64_t unit,
                              uint8_t *elements, zb_error *err) {
    const zb__layout *layout = &writer->layout;
    uint64_t inside[ZB_MAX_NDIM], start[ZB_MAX_NDIM], count[ZB_MAX_NDIM];
    int64_t own[ZB_MAX_NDIM], strides[ZB_MAX_NDIM];
    zb__unit_inside(layout, chunk->origin, unit, inside);
    zb__unit_strides(layout, own);
    for (uint32_t d = layout->ndim; d-- > 0; unit /= layout->unit_grid[d]) {
        uint32_t array_dim = layout->outer->axis[d];
        start[array_dim] = chunk->origin[d] + unit % layout->unit_grid[d] * layout->unit_shape[d];
        count[array_dim] = inside[d];
        strides[array_dim] = own[d];
    }
    zb_read read = {.node = writer->node,
                    .start = start,
                    .count = count,
                    .view = {.data = elements, .dtype = layout->unit->dtype, .strides = strides}};
    return zb_array_read(&read, 1, err);
}

/* Puts stored elements where none was written. */
static void blend(const zb__layout *layout, zb__open_unit *unit, const uint8_t *stored) {
    size_t item = layout->unit->dtype.size, n = layout->unit_bytes / item;
    for (size_t i = 0; i < n; i++) {
        uint64_t word = unit->written[i >> 6];
        if (word == UINT64_MAX)
            i |= 63;
        else if (!(word >> (i & 63) & 1))
            memcpy(unit->elements + i * item, stored + i * item, item);
    }
}

static enum zb_code complete_units(const zb_writer *writer, zb__open_chunk *chunk, zb_error *err) {
    const zb__layout *layout = &writer->layout;
    uint8_t *stored = NULL;
    enum zb_code code = ZB_OK;
    for (uint64_t i = 0; i < layout->units && code == ZB_OK; i++) {
        zb__open_unit *unit = &chunk->units[i];
        if (!unit->elements || unit->missing == 0)
            continue;
        if (!stored && !(stored = malloc(layout->unit_bytes)))
            return zb_fail(err, ZB_ENOMEM, "no memory for merging a chunk");
        uint64_t inside[ZB_MAX_NDIM];
        if (zb__unit_inside(layout, chunk->origin, i, inside) * layout->unit->dtype.size <
            layout->unit_bytes)
            zb__unit_fill(layout, stored);
        code = read_unit(writer, chunk, i, stored, err);
        if (code == ZB_OK)
            blend(layout, unit, stored);
    }
    free(stored);
    return code;
}

/* ---- Units that nobody wrote ---- */

typedef struct takeover {
    zb__key key;
    zb__index index;
    zb__encoded *kept; /* [units] */
    uint8_t *bytes;
    uint8_t *fill; /* an encoded unit that is all fill, see take_fill */
} takeover;

static void free_takeover(takeover *t) {
    zb__index_release(&t->index);
    zb_object_close(t->key.object);
    free(t->kept);
    free(t->bytes);
    free(t->fill);
}

/* Must the stored bytes of this unit be taken over? Sets its place in the shard. */
static bool is_kept(const takeover *t, const zb__open_chunk *chunk, uint64_t unit, uint64_t *offset,
                    uint64_t *size) {
    *offset = t->index.entries[2 * unit];
    *size = t->index.entries[2 * unit + 1];
    return !chunk->units[unit].elements && *offset != ZB__INDEX_EMPTY;
}

static enum zb_code read_kept(const zb__layout *layout, const zb__open_chunk *chunk, takeover *t,
                              zb_error *err) {
    uint64_t total = 0, offset, size, used = 0;
    for (uint64_t i = 0; i < layout->units; i++) {
        if (!is_kept(t, chunk, i, &offset, &size))
            continue;
        if (size == 0 || size > t->key.info.size || offset > t->key.info.size - size ||
            __builtin_add_overflow(total, size, &total))
            return zb_fail(err, ZB_EFORMAT, "its index entry %llu leaves the shard",
                           (unsigned long long)i);
    }
    if (total > zb_limits_get()->shard_bytes)
        return zb_fail(err, ZB_ELIMIT, "its inner chunks have %llu bytes, limit shard_bytes",
                       (unsigned long long)total);
    t->bytes = malloc(total ? (size_t)total : 1);
    if (!t->bytes)
        return zb_fail(err, ZB_ENOMEM, "no memory for merging a shard");
    for (uint64_t i = 0; i < layout->units; i++) {
        if (!is_kept(t, chunk, i, &offset, &size))
            continue;
        zb_range range = {.offset = offset, .length = (size_t)size, .buffer = t->bytes + used};
        enum zb_code code = zb_object_read(t->key.object, &range, 1, err);
        if (code != ZB_OK || range.got != range.length)
            return code ? code : zb_fail(err, ZB_EIO, "the shard ended early");
        t->kept[i] = (zb__encoded){.data = t->bytes + used, .size = (size_t)size};
        used += size;
    }
    return ZB_OK;
}

/* Shards that are going to be changed in place have all their inner chunks: those that are neither
   stored nor written are made here, all of the same bytes. */
static enum zb_code take_fill(const zb__layout *layout, const zb__open_chunk *chunk, takeover *t,
                              zb__scratch *scratch, zb_error *err) {
    zb__encoded fill = {.data = t->fill = malloc(layout->unit_bound)};
    enum zb_code code = zb__buffer_reserve(&scratch->decoded, layout->unit_bytes, err);
    if (code == ZB_OK && !t->fill)
        code = zb_fail(err, ZB_ENOMEM, "no memory for merging a shard");
    if (code != ZB_OK)
        return code;
    zb__unit_fill(layout, scratch->decoded.data);
    code = zb__chunk_encode(layout->unit, scratch, scratch->decoded.data, layout->fill, true,
                            t->fill, layout->unit_bound, &fill.size, err);
    for (uint64_t i = 0; i < layout->units && code == ZB_OK; i++) {
        uint64_t inside[ZB_MAX_NDIM];
        if (t->kept[i].size == 0 && !chunk->units[i].elements &&
            zb__unit_inside(layout, chunk->origin, i, inside) > 0)
            t->kept[i] = fill;
    }
    return code;
}

/* Opens the stored shard and takes over the inner chunks that nobody wrote. */
static enum zb_code take_over(const zb_writer *writer, const zb__open_chunk *chunk, takeover *t,
                              zb_error *err) {
    const zb__layout *layout = &writer->layout;
    t->kept = calloc((size_t)layout->units, sizeof *t->kept);
    zb__scratch *scratch = zb__scratch_take();
    enum zb_code code =
        t->kept && scratch ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for merging a shard");
    t->key = (zb__key){.node = writer->node,
                       .index = (uint64_t *)chunk->index,
                       .number = UINT64_MAX}; /* past the cache: it is about to change */
    if (code == ZB_OK)
        code = zb__key_open(&t->key, err);
    if (code == ZB_OK && t->key.object) {
        zb__source source = {.object = t->key.object, .size = t->key.info.size};
        code = zb__index_load(&t->key, layout->shard, &source, scratch, &t->index, err);
        if (code == ZB_OK)
            code = read_kept(layout, chunk, t, err);
        if (code != ZB_OK)
            zb__key_blame(&t->key, code, err);
    }
    if (code == ZB_OK && writer->options.strategy == ZB_INPLACE)
        code = take_fill(layout, chunk, t, scratch, err);
    if (scratch)
        zb__scratch_put(scratch);
    return code;
}

/* ---- Both ---- */

static enum zb_code merge_locked(zb_writer *writer, zb__open_chunk *chunk, const char *key,
                                 zb_lock *lock, zb_error *err) {
    takeover t = {0};
    zb__live live = {.object = NULL};
    const zb__layout *layout = &writer->layout;
    enum zb_code code = zb__journal_replay(writer->node->store, layout, key, NULL, err);
    if (code == ZB_OK && layout->shard)
        code = zb__live_begin(writer, key, chunk, &live, err);
    if (code != ZB_OK)
        zb__chunk_blame(writer, chunk->index, code, err);
    else
        code = complete_units(writer, chunk, err);
    if (code == ZB_OK && layout->shard && !live.object)
        code = take_over(writer, chunk, &t, err);
    if (code == ZB_OK) {
        zb__job job = {.index = chunk->index,
                       .open = chunk,
                       .kept = t.kept,
                       .lock = lock,
                       .live = live.object ? &live : NULL};
        code = zb__jobs_run(writer, &job, 1, err);
    }
    zb__live_end(&live);
    free_takeover(&t);
    return code;
}

enum zb_code zb__merge(zb_writer *writer, zb__open_chunk *chunk, zb_error *err) {
    if (chunk->missing == 0) {
        zb__job job = {.index = chunk->index, .open = chunk};
        return zb__jobs_run(writer, &job, 1, err);
    }
    char *key = zb__array_chunk_key(writer->node, chunk->index);
    zb_lock *lock = NULL;
    enum zb_code code = key ? zb__chunk_lock(writer, key, false, &lock, err)
                            : zb_fail(err, ZB_ENOMEM, "no memory for a chunk's key");
    if (code == ZB_OK)
        code = merge_locked(writer, chunk, key, lock, err);
    else
        zb__chunk_blame(writer, chunk->index, code, err);
    zb_store_unlock(lock);
    free(key);
    return code;
}
