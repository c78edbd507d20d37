/* SPDX-License-Identifier: MIT */
/*
 * Checking one stored object: every inner chunk is decoded into scratch memory, so that every size
 * and checksum is compared. Unlike a read it goes on after an error, to find the others.
 */
#include <errno.h>
#include <stdlib.h>

#include "array/array.h"
#include "check/object.h"
#include "codec/elements.h"
#include "codec/shard_index.h"
#include "node/node.h"
#include "read/leaf.h"
#include "util/scratch.h"
#include "util/wait.h"
#include "zarrbridge/check.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* Bytes of an object that is checked in memory, for each thread. */
#define MOST_AT_ONCE (64u << 20)

typedef struct object_walk {
    zb__object_check *check;
    zb__stored_chunk key;
    zb__scratch *scratch;
} object_walk;

bool zb__object_is_out_of_reach(const zb_hierarchy *hierarchy, const zb_error *err) {
    if (hierarchy->store->hints.is_local)
        return err->code == ZB_EIO && (err->sys_errno == EACCES || err->sys_errno == EPERM);
    return err->code == ZB_EIO || err->code == ZB_ECONFLICT;
}

/* Reports the error of a leaf, unless memory ran out or the check was cancelled. */
static enum zb_code report(const object_walk *w, const zb__leaf *leaf, enum zb_finding_kind kind,
                           enum zb_code code, zb_error *err) {
    if (zb__is_of_call(code))
        return code;
    zb__leaf_add_context(leaf, code, err);
    if (code == ZB_ELIMIT || zb__object_is_out_of_reach(w->key.node->hierarchy, err))
        kind = ZB_FINDING_UNCHECKED;
    return w->check->found(w->check->context, kind, err);
}

static enum zb_code check_chunk(object_walk *w, const zb__leaf *leaf, const zb__source *source,
                                zb_error *err);

static enum zb_code check_inner(object_walk *w, const zb__leaf *around, const zb__source *source,
                                const zb__index *index, zb_error *err) {
    enum zb_code code = ZB_OK;
    const zb__shard *shard = around->layout->shard;
    zb__inner_chunks chunks = zb__inner_chunks_of(index->entries, shard->count, source->size);
    while (code == ZB_OK && zb__inner_chunk_next(&chunks)) {
        zb__leaf leaf = {.chunk = &w->key, .inner = chunks.inner, .around = around};
        zb__source inner = *source;
        inner.offset = source->offset + chunks.offset;
        inner.size = chunks.size;
        code = zb__shard_inner(shard, leaf.inner, &leaf.layout, err);
        if (!code)
            code = zb__inner_chunk_check(&chunks, err);
        code = code ? report(w, &leaf, ZB_FINDING_TRUNCATED, code, err)
                    : check_chunk(w, &leaf, &inner, err);
    }
    return code;
}

static enum zb_code check_shard(object_walk *w, const zb__leaf *leaf, const zb__source *source,
                                zb_error *err) {
    zb__index index = {.entries = NULL};
    const zb__shard *shard = leaf->layout->shard;
    enum zb_code code = zb__index_load(&w->key, shard, source, w->scratch, &index, err);
    if (code != ZB_OK)
        return report(w, leaf,
                      source->size < shard->index_size ? ZB_FINDING_TRUNCATED : ZB_FINDING_DAMAGED,
                      code, err);
    code = check_inner(w, leaf, source, &index, err);
    zb__index_release(&index);
    return code;
}

/* A shard inside bytes→bytes codecs. */
static enum zb_code check_wrapped(object_walk *w, const zb__leaf *leaf, const uint8_t *stored,
                                  size_t size, zb_error *err) {
    uint64_t bound = leaf->layout->decoded_bound;
    zb__buffer whole = {0};
    enum zb_code code = zb__buffer_reserve(&whole, (size_t)bound, err);
    zb__sink sink = {.data = whole.data, .capacity = (size_t)bound, .hi = (size_t)bound};
    if (code == ZB_OK)
        code = zb__pipeline_decode(leaf->layout->pipeline, w->scratch, stored, size, &sink, err);
    zb__source source = {.memory = whole.data, .size = sink.size};
    code =
        code ? report(w, leaf, ZB_FINDING_DAMAGED, code, err) : check_shard(w, leaf, &source, err);
    zb__buffer_free(&whole);
    return code;
}

/* Sets *stored to the chunk's bytes: in memory already, or read into `buffer`. */
static enum zb_code fetch(const zb__source *source, zb__buffer *buffer, const uint8_t **stored,
                          zb_error *err) {
    *stored = source->object ? NULL : source->memory + source->offset;
    if (*stored)
        return ZB_OK;
    enum zb_code code = zb__buffer_reserve(buffer, (size_t)source->size, err);
    zb_range range = {
        .offset = source->offset, .length = (size_t)source->size, .buffer = buffer->data};
    if (code == ZB_OK)
        code = zb_object_read(source->object, &range, 1, err);
    if (code == ZB_OK && range.got != range.length)
        code = zb_fail(err, ZB_EIO, "the object became shorter while it was read");
    *stored = buffer->data;
    return code;
}

/* A chunk of the innermost kind. */
static enum zb_code check_leaf(const object_walk *w, const zb__leaf *leaf, const uint8_t *stored,
                               size_t size, zb_error *err) {
    size_t decoded = (size_t)leaf->layout->decoded_size;
    if (zb__chunk_layout_has_heap(leaf->layout)) {
        zb__elements elements;
        enum zb_code code =
            zb__elements_serialised(leaf->layout, w->scratch, stored, size, &elements, err);
        if (code == ZB_OK)
            code = zb__elements_open(leaf->layout, w->scratch, &elements, err);
        return code ? report(w, leaf, ZB_FINDING_DAMAGED, code, err) : ZB_OK;
    }
    if (leaf->layout->pipeline->is_raw) /* its size has been compared; nothing more can be checked
                                           */
        return ZB_OK;
    enum zb_code code = zb__buffer_reserve(&w->scratch->decoded, decoded, err);
    zb__sink sink = {
        .data = w->scratch->decoded.data, .capacity = decoded, .exact = true, .hi = decoded};
    if (code == ZB_OK)
        code = zb__pipeline_decode(leaf->layout->pipeline, w->scratch, stored, size, &sink, err);
    return code ? report(w, leaf, ZB_FINDING_DAMAGED, code, err) : ZB_OK;
}

/* Calls itself through check_shard, as deep as the limit shard_depth. */
static enum zb_code check_chunk(object_walk *w, const zb__leaf *leaf, const zb__source *source,
                                zb_error *err) {
    const zb__chunk_layout *layout = leaf->layout;
    if (layout->shard && layout->pipeline->codec_count == 0)
        return check_shard(w, leaf, source, err);
    enum zb_code code = zb__chunk_layout_check_stored(layout, source->size, err);
    bool is_short =
        source->size == 0 || (layout->pipeline->is_raw && source->size < layout->decoded_size);
    if (code != ZB_OK)
        return report(w, leaf, is_short ? ZB_FINDING_TRUNCATED : ZB_FINDING_DAMAGED, code, err);
    zb__buffer own = {0}, *buffer = layout->shard ? &own : &w->scratch->encoded;
    const uint8_t *stored;
    w->check->inner_chunks++;
    code = fetch(source, buffer, &stored, err);
    if (code != ZB_OK)
        code = report(w, leaf, ZB_FINDING_DAMAGED, code, err);
    else if (layout->shard)
        code = check_wrapped(w, leaf, stored, (size_t)source->size, err);
    else
        code = check_leaf(w, leaf, stored, (size_t)source->size, err);
    zb__buffer_free(&own);
    return code;
}

/* An object that is far away comes whole, when memory for it is within reason: a request for each
   inner chunk would take its time. */
static enum zb_code load(const zb_hierarchy *hierarchy, zb__source *source, zb__buffer *whole,
                         zb_error *err) {
    const uint8_t *stored;
    if (hierarchy->store->hints.is_local || source->size > MOST_AT_ONCE)
        return ZB_OK;
    enum zb_code code = fetch(source, whole, &stored, err);
    if (!code)
        *source = (zb__source){.memory = stored, .size = source->size};
    return code;
}

enum zb_code zb__object_check_run(zb__object_check *check, const zb_node *array,
                                  const uint64_t *index, zb__scratch *scratch, zb_error *err) {
    object_walk w = {.check = check, .scratch = scratch};
    zb__buffer loaded = {0};
    w.key = (zb__stored_chunk){.node = array, .index = (uint64_t *)index, .number = UINT64_MAX};
    enum zb_code code = zb__stored_chunk_open(&w.key, err);
    if (code != ZB_OK || !w.key.object) /* the object was erased since it was listed */
        return code;
    code = zb__array_chunk_layout(array->array, index, &w.key.layout, err);
    zb__leaf whole = {.chunk = &w.key, .layout = w.key.layout, .inner = UINT64_MAX};
    zb__source source = {.object = w.key.object, .size = w.key.info.size};
    check->is_there = true;
    check->bytes += source.size;
    if (code == ZB_OK)
        code = load(array->hierarchy, &source, &loaded, err);
    if (code == ZB_OK)
        code = check_chunk(&w, &whole, &source, err);
    zb__buffer_free(&loaded);
    zb__array_chunk_layout_end(array->array, w.key.layout);
    zb_object_close(w.key.object);
    return code;
}
