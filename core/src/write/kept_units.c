/* SPDX-License-Identifier: MIT */
/*
 * Inner chunks that a shard keeps when it is replaced: those without a written element are taken
 * over as they are encoded.
 */
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/scratch.h"
#include "codec/encode.h"
#include "codec/shard_index.h"
#include "read/expand.h"
#include "read/index.h"
#include "read/leaf.h"
#include "write/kept_units.h"
#include "write/layout.h"
#include "write/put_chunk.h"
#include "write/read_units.h"
#include "write/writer.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

void zb__kept_units_free(zb__kept_units *t) {
    zb__index_release(&t->index);
    zb_object_close(t->key.object);
    free(t->kept);
    zb__pages_unmap(t->bytes, (size_t)t->size);
    free(t->fill);
    *t = (zb__kept_units){.kept = NULL};
}

/* Goes to the next inner chunk that is stored and not in the open chunk; false at the end. */
static bool next_kept(zb__inner_chunks *chunks, const zb__open_chunk *chunk) {
    while (zb__inner_chunk_next(chunks)) {
        if (!chunk->units[chunks->inner].elements)
            return true;
    }
    return false;
}

/* Sets the sizes of the kept units, and the sum. */
static enum zb_code measure_kept(const zb__layout *layout, const zb__open_chunk *chunk,
                                 zb__kept_units *t, zb_error *err) {
    zb__inner_chunks chunks =
        zb__inner_chunks_of(t->index.entries, layout->units, t->key.info.size);
    while (next_kept(&chunks, chunk)) {
        enum zb_code code = zb__inner_chunk_check(&chunks, err);
        if (code != ZB_OK)
            return code;
        if (__builtin_add_overflow(t->size, chunks.size, &t->size) ||
            t->size > zb_limits_get()->shard_bytes)
            return zb_fail(err, ZB_ELIMIT,
                           "its inner chunks have more bytes than shard_bytes, %llu",
                           (unsigned long long)zb_limits_get()->shard_bytes);
        t->kept[chunks.inner].size = (size_t)chunks.size;
    }
    return ZB_OK;
}

static enum zb_code read_kept(const zb__layout *layout, const zb__open_chunk *chunk,
                              zb__kept_units *t, zb_error *err) {
    enum zb_code code = measure_kept(layout, chunk, t, err);
    if (code != ZB_OK)
        return code;
    t->bytes = zb__pages_map((size_t)t->size);
    if (!t->bytes)
        return zb_fail(err, ZB_ENOMEM, "no memory for merging a shard");
    return zb__units_read(t->key.object, t->index.entries, t->kept, layout->units, t->bytes, err);
}

/* Shards that are going to be changed in place have all their inner chunks: those that are neither
   stored nor written are made here, all of the same bytes. */
static enum zb_code take_fill(const zb__layout *layout, const zb__open_chunk *chunk,
                              zb__kept_units *t, zb__scratch *scratch, zb_error *err) {
    zb__encoded fill;
    enum zb_code code = zb__unit_encode_fill(layout, scratch, &t->fill, &fill.size, err);
    fill.data = t->fill;
    for (uint64_t i = 0; i < layout->units && code == ZB_OK; i++) {
        uint64_t inside[ZB_MAX_NDIM];
        if (t->kept[i].size == 0 && !chunk->units[i].elements &&
            zb__unit_inside(layout, chunk->origin, i, inside) > 0)
            t->kept[i] = fill;
    }
    return code;
}

enum zb_code zb__kept_units_read(const zb_writer *writer, const zb__open_chunk *chunk,
                                 zb__kept_units *t, zb_error *err) {
    const zb__layout *layout = chunk->layout;
    t->kept = calloc((size_t)layout->units, sizeof *t->kept);
    zb__scratch *scratch = zb__scratch_take();
    enum zb_code code =
        t->kept && scratch ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for merging a shard");
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
            zb__stored_chunk_blame(&t->key, code, err);
    }
    if (code == ZB_OK && writer->options.strategy == ZB_INPLACE)
        code = take_fill(layout, chunk, t, scratch, err);
    if (scratch)
        zb__scratch_put(scratch);
    return code;
}
