/* SPDX-License-Identifier: MIT */
/* Encoded inner chunks of a stored shard, to be stored again as they are. */
#include "write/writer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "codec/encode.h"
#include "codec/shard_index.h"
#include "read/leaf.h"
#include "util/pages.h"
#include "util/scratch.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

/* Ranges of one call of the store, which has all of them under way at once if it can. */
#define RANGES_AT_ONCE 256

/* An inner chunk to read. */
typedef struct place {
    uint64_t offset; /* in the shard */
    zb__encoded *inner;
} place;

/* Ranges that are read with one call. */
typedef struct ranges {
    zb_object *object;
    uint64_t most; /* bytes of a range that several inner chunks share */
    size_t count;
    zb_range range[RANGES_AT_ONCE];
} ranges;

static int by_offset(const void *a, const void *b) {
    const uint64_t left = ((const place *)a)->offset, right = ((const place *)b)->offset;
    return left < right ? -1 : left > right;
}

static size_t list_places(const uint64_t *entries, zb__encoded *inner_chunks, uint64_t count,
                          place *places) {
    size_t found = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (inner_chunks[i].size > 0)
            places[found++] = (place){.offset = entries[2 * i], .inner = &inner_chunks[i]};
    }
    qsort(places, found, sizeof *places, by_offset);
    return found;
}

static enum zb_code read_ranges(ranges *r, zb_error *err) {
    enum zb_code code = r->count ? zb_object_read(r->object, r->range, r->count, err) : ZB_OK;
    for (size_t i = 0; i < r->count && code == ZB_OK; i++) {
        if (r->range[i].got != r->range[i].length)
            code = zb_fail(err, ZB_EIO, "the shard ended early");
    }
    r->count = 0;
    return code;
}

/* A range of the same bytes as the last one's end, in the shard and in memory, makes it longer. */
static bool joins(const ranges *r, const zb_range *next) {
    const zb_range *last = r->count ? &r->range[r->count - 1] : NULL;
    return last && last->offset + last->length == next->offset && last->length < r->most &&
           next->length <= r->most - last->length;
}

enum zb_code zb__inner_chunks_read(zb_object *object, const uint64_t *entries,
                                   zb__encoded *inner_chunks, uint64_t count, uint8_t *bytes,
                                   zb_error *err) {
    const zb_store_hints *hints = &object->store->hints;
    place *places = malloc((size_t)(count ? count : 1) * sizeof *places);
    if (!places)
        return zb_fail(err, ZB_ENOMEM, "no memory for the places of inner chunks");
    ranges r = {.object = object, .most = hints->part ? hints->part : hints->max_request};
    const size_t found = list_places(entries, inner_chunks, count, places);
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < found && code == ZB_OK; i++) {
        zb__encoded *inner = places[i].inner;
        const zb_range next = {.offset = places[i].offset, .length = inner->size, .buffer = bytes};
        inner->data = bytes;
        bytes += inner->size;
        if (joins(&r, &next)) {
            r.range[r.count - 1].length += next.length;
            continue;
        }
        if (r.count == RANGES_AT_ONCE)
            code = read_ranges(&r, err);
        r.range[r.count++] = next;
    }
    if (code == ZB_OK)
        code = read_ranges(&r, err);
    free(places);
    return code;
}

/* ---- Inner chunks of the stored shard
   ------------------------------------------------------------ */

/*
 * Inner chunks that a shard keeps when it is replaced: those without a written element are taken
 * over as they are encoded.
 */

void zb__reused_inner_free(zb__reused_inner *t) {
    zb__index_release(&t->index);
    zb_object_close(t->key.object);
    free(t->reused);
    zb__pages_unmap(t->bytes, (size_t)t->size);
    free(t->fill);
    *t = (zb__reused_inner){.reused = NULL};
}

/* Goes to the next inner chunk that is stored and not in the buffered chunk; false at the end. */
static bool next_kept(zb__inner_chunks *chunks, const zb__buffered_chunk *chunk) {
    while (zb__inner_chunk_next(chunks)) {
        if (!chunk->inner_chunks[chunks->inner].elements)
            return true;
    }
    return false;
}

/* Sets the sizes of the kept inner chunks, and the sum. */
static enum zb_code measure_kept(const zb__write_layout *layout, const zb__buffered_chunk *chunk,
                                 zb__reused_inner *t, zb_error *err) {
    zb__inner_chunks chunks =
        zb__inner_chunks_of(t->index.entries, layout->inner_chunks, t->key.info.size);
    while (next_kept(&chunks, chunk)) {
        enum zb_code code = zb__inner_chunk_check(&chunks, err);
        if (code != ZB_OK)
            return code;
        if (__builtin_add_overflow(t->size, chunks.size, &t->size) ||
            t->size > zb_limits_get()->shard_bytes)
            return zb_fail(err, ZB_ELIMIT,
                           "its inner chunks have more bytes than shard_bytes, %llu",
                           (unsigned long long)zb_limits_get()->shard_bytes);
        t->reused[chunks.inner].size = (size_t)chunks.size;
    }
    return ZB_OK;
}

static enum zb_code read_kept(const zb__write_layout *layout, const zb__buffered_chunk *chunk,
                              zb__reused_inner *t, zb_error *err) {
    enum zb_code code = measure_kept(layout, chunk, t, err);
    if (code != ZB_OK)
        return code;
    t->bytes = zb__pages_map((size_t)t->size);
    if (!t->bytes)
        return zb_fail(err, ZB_ENOMEM, "no memory for merging a shard");
    return zb__inner_chunks_read(t->key.object, t->index.entries, t->reused, layout->inner_chunks,
                                 t->bytes, err);
}

/* Shards that are going to be changed in place have all their inner chunks: those that are neither
   stored nor written are made here, all of the same bytes. */
static enum zb_code take_fill(const zb__write_layout *layout, const zb__buffered_chunk *chunk,
                              zb__reused_inner *t, zb__scratch *scratch, zb_error *err) {
    zb__encoded fill;
    enum zb_code code = zb__inner_encode_fill(layout, scratch, &t->fill, &fill.size, err);
    fill.data = t->fill;
    for (uint64_t i = 0; i < layout->inner_chunks && code == ZB_OK; i++) {
        uint64_t inside[ZB_MAX_NDIM];
        if (t->reused[i].size == 0 && !chunk->inner_chunks[i].elements &&
            zb__inner_inside(layout, chunk->origin, i, inside) > 0)
            t->reused[i] = fill;
    }
    return code;
}

enum zb_code zb__reused_inner_read(const zb_writer *writer, const zb__buffered_chunk *chunk,
                                   zb__reused_inner *t, zb_error *err) {
    const zb__write_layout *layout = chunk->layout;
    t->reused = calloc((size_t)layout->inner_chunks, sizeof *t->reused);
    zb__scratch *scratch = zb__scratch_take();
    enum zb_code code =
        t->reused && scratch ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for merging a shard");
    t->key = (zb__stored_chunk){.node = writer->node,
                                .index = (uint64_t *)chunk->index,
                                .number = UINT64_MAX, /* past the cache: about to change */
                                .is_fresh = true};
    if (code == ZB_OK)
        code = zb__stored_chunk_open(&t->key, err);
    if (code == ZB_OK && t->key.object) {
        zb__source source = {.object = t->key.object, .size = t->key.info.size};
        code = zb__index_load(&t->key, layout->shard, &source, scratch, &t->index, err);
        if (code == ZB_OK)
            code = read_kept(layout, chunk, t, err);
        if (code != ZB_OK)
            zb__stored_chunk_add_context(&t->key, code, err);
    }
    if (code == ZB_OK && writer->options.strategy == ZB_INPLACE)
        code = take_fill(layout, chunk, t, scratch, err);
    if (scratch)
        zb__scratch_put(scratch);
    return code;
}
