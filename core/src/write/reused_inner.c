/* SPDX-License-Identifier: MIT */
/* Encoded inner chunks of a stored shard, to be stored again as they are. */
#include "write/writer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "codec/encode.h"
#include "codec/shard_index.h"
#include "read/encoded.h"
#include "read/leaf.h"
#include "util/pages.h"
#include "util/scratch.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

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
