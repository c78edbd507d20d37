/* SPDX-License-Identifier: MIT */
/* The bytes of one inner chunk as it is stored: by the object's size, or by the indexes of
   shards. */
#include <stdlib.h>

#include "codec/inner_chunks.h"
#include "model/chunk_form.h"
#include "node/current.h"
#include "node/node.h"
#include "read/expand.h"
#include "read/index.h"
#include "read/leaf.h"
#include "read/missing.h"
#include "zarrbridge/read.h"

/* A chunk on the way down from the object: its form and place, and where in it the inner chunk
   begins, in the dimensions that the form's chain is handed. */
typedef struct place {
    const zb__form *form;
    zb__source source;
    uint64_t within[ZB_MAX_NDIM];
} place;

/* Goes from a shard to its inner chunk; *stored becomes false when the shard has no such one. */
static enum zb_code descend(const zb__stored_chunk *chunk, place *p, zb__scratch *scratch,
                            bool *stored, zb_error *err) {
    const zb__shard *shard = p->form->shard;
    const zb__chain *chain = p->form->chain;
    uint64_t inside[ZB_MAX_NDIM], number = 0;
    for (uint32_t i = 0; i < chain->ndim; i++) {
        uint64_t at = p->within[chain->axis[i]];
        number = number * shard->grid[i] + at / shard->inner_shape[i];
        inside[i] = at % shard->inner_shape[i];
    }
    zb__index index;
    enum zb_code code = zb__index_load(chunk, shard, &p->source, scratch, &index, err);
    if (code)
        return code;
    zb__inner_chunks chunks = zb__inner_chunks_of(index.entries, shard->count, p->source.size);
    *stored = zb__inner_chunk_at(&chunks, number);
    if (*stored)
        code = zb__inner_chunk_check(&chunks, err);
    p->source.offset += chunks.offset;
    p->source.size = chunks.size;
    if (!code)
        code = zb__shard_inner(shard, number, &p->form, err);
    for (uint32_t i = 0; i < chain->ndim; i++)
        p->within[i] = inside[i];
    zb__index_release(&index);
    return code;
}

/* The object is open. */
static enum zb_code find(const zb__stored_chunk *chunk, place *p, bool *is_stored, zb_error *err) {
    bool stored = true;
    enum zb_code code = ZB_OK;
    zb__scratch *scratch = zb__scratch_take();
    if (!scratch)
        return zb_fail(err, ZB_ENOMEM, "no memory for a shard's index");
    uint32_t level = 0, depth = chunk->node->array->inner_depth;
    for (; stored && !code && level < depth && p->form->chain->codec_count == 0; level++)
        code = descend(chunk, p, scratch, &stored, err);
    zb__scratch_put(scratch);
    if (!code && stored && level < depth)
        code = zb_fail(err, ZB_EUNSUPPORTED,
                       "codecs lie around its inner chunks, none of which has bytes of its own");
    *is_stored = stored;
    return code;
}

/* The chunk that holds the inner chunk at an index. */
static enum zb_code locate(const zb__array *array, const uint64_t *inner, uint64_t *outer, place *p,
                           zb_error *err) {
    for (uint32_t d = 0; d < array->info.ndim; d++) {
        zb__span span = zb__grid_at(&array->inner, d, inner[d]);
        if (zb__span_inside(span, array->info.shape[d]) == 0)
            return zb_fail(err, ZB_EINVAL, "there is no such chunk in the array");
        zb__span chunk = zb__grid_find(&array->grid, d, span.start);
        outer[d] = chunk.index;
        p->within[d] = span.start - chunk.start;
    }
    return zb__chunk_form(array, outer, &p->form, err);
}

enum zb_code zb_array_chunk_place(const zb_node *node, const uint64_t *index, zb_chunk_place *out,
                                  zb_error *err) {
    uint64_t outer[ZB_MAX_NDIM];
    place p = {.form = NULL};
    zb__stored_chunk chunk = {.node = node, .index = outer, .number = UINT64_MAX};
    bool stored = false;
    *out = (zb_chunk_place){.key = NULL};
    if (!node->array)
        return zb_fail(err, ZB_EINVAL, "/%s is a group, not an array", node->path);
    enum zb_code code = locate(node->array, index, outer, &p, err);
    if (code)
        return zb_error_prefix(err, code, "array /%s", node->path);
    chunk.form = p.form;
    code = zb__missing_open(&chunk, err);
    if (!code && chunk.object) {
        p.source = (zb__source){.object = chunk.object, .size = chunk.info.size};
        code = find(&chunk, &p, &stored, err);
        if (code)
            zb__stored_chunk_blame(&chunk, code, err);
    }
    /* Where the array has gone, no chunk is stored, and programs would take all elements for fill
       values. */
    if (!code)
        code = zb__array_still(node, err);
    if (!code && stored) {
        *out = (zb_chunk_place){.key = zb__array_chunk_key(node, outer),
                                .offset = p.source.offset,
                                .bytes = p.source.size};
        if (!out->key)
            code = zb_fail(err, ZB_ENOMEM, "no memory for a key");
    }
    zb_object_close(chunk.object);
    zb__chunk_form_end(node->array, chunk.form);
    return code;
}

enum zb_code zb_array_chunk_stored(const zb_node *node, const uint64_t *index, uint64_t *bytes,
                                   zb_error *err) {
    zb_chunk_place found;
    const enum zb_code code = zb_array_chunk_place(node, index, &found, err);
    *bytes = found.bytes;
    free(found.key);
    return code;
}
