/* SPDX-License-Identifier: MIT */
/*
 * Walks over the chunks that an array has stored. The store's listing tells which objects there
 * are, so that the content decides how long a walk takes, and not the shape that a document gives;
 * the indexes of shards tell of their inner chunks. Only a store that cannot list is asked for each
 * chunk of the grid.
 */
#include "codec/inner_chunks.h"
#include "model/chunk_form.h"
#include "node/current.h"
#include "node/node.h"
#include "node/walk.h"
#include "read/expand.h"
#include "read/index.h"
#include "read/leaf.h"
#include "read/missing.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/store.h"

#include <stdlib.h>
#include <string.h>

/* A question to a store takes from microseconds to a tenth of a second. */
#define MOST_QUESTIONS ((uint64_t)1 << 24)

typedef struct walk {
    const zb_node *node;
    zb_chunk_fn fn;
    void *context;
    bool inner; /* inner chunks are told, not objects */
    bool stopped;
    bool is_named;          /* the message of an error tells array and chunk already */
    uint64_t found;         /* objects */
    zb__stored_chunk chunk; /* the object that the walk is in */
    zb__scratch *scratch;
} walk;

static enum zb_code tell(walk *w, const uint64_t *index, uint64_t bytes) {
    w->stopped = w->fn(w->context, index, bytes) != 0;
    return ZB_OK;
}

/* ---- Inner chunks ------------------------------------------------------------------------- */

/* A shard on the way down: its bytes, the array's element at which it begins, and the dimension of
   the array that each of its dimensions is, as its chain is handed them. */
typedef struct shard {
    const zb__form *form;
    zb__source source;
    uint64_t start[ZB_MAX_NDIM];
    uint32_t axis[ZB_MAX_NDIM];
    uint32_t level; /* 0: the object */
} shard;

/* Inner chunks behind the array's edge are none of the array. */
static enum zb_code tell_inner(walk *w, const uint64_t *start, uint64_t bytes) {
    const zb__array *array = w->node->array;
    uint64_t index[ZB_MAX_NDIM];
    for (uint32_t d = 0; d < array->info.ndim; d++) {
        if (start[d] >= array->info.shape[d])
            return ZB_OK;
        index[d] = zb__grid_find(&array->inner, d, start[d]).index;
    }
    return tell(w, index, bytes);
}

/* The current chunk of `chunks`, as a shard or as the innermost chunk that it is. */
static shard enter(const shard *s, const zb__inner_chunks *chunks) {
    const zb__shard *about = s->form->shard;
    const zb__chain *chain = s->form->chain;
    shard below = *s;
    uint64_t number = chunks->inner;
    below.source.offset += chunks->offset;
    below.source.size = chunks->size;
    below.level++;
    for (uint32_t i = chain->ndim; i-- > 0; number /= about->grid[i]) {
        below.axis[i] = s->axis[chain->axis[i]];
        below.start[below.axis[i]] += number % about->grid[i] * about->inner_shape[i];
    }
    return below;
}

/* Recursion is bounded by the limit shard_depth. */
static enum zb_code go_below(walk *w, const shard *s, zb_error *err) {
    if (s->level == w->node->array->inner_depth)
        return tell_inner(w, s->start, s->source.size);
    if (s->form->chain->codec_count > 0)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "codecs lie around its inner chunks, none of which has bytes of its own");
    zb__index index;
    const zb__shard *about = s->form->shard;
    enum zb_code code = zb__index_load(&w->chunk, about, &s->source, w->scratch, &index, err);
    if (code)
        return code;
    zb__inner_chunks chunks = zb__inner_chunks_of(index.entries, about->count, s->source.size);
    while (!code && !w->stopped && zb__inner_chunk_next(&chunks)) {
        code = zb__inner_chunk_check(&chunks, err);
        shard below = enter(s, &chunks);
        if (!code)
            code = zb__shard_inner(about, chunks.inner, &below.form, err);
        if (!code)
            code = go_below(w, &below, err);
    }
    zb__index_release(&index);
    return code;
}

static shard shard_of_object(const walk *w) {
    shard s = {.form = w->chunk.form,
               .source = {.object = w->chunk.object, .size = w->chunk.info.size}};
    for (uint32_t d = 0; d < w->node->array->info.ndim; d++) {
        s.start[d] = zb__grid_at(&w->node->array->grid, d, w->chunk.index[d]).start;
        s.axis[d] = d;
    }
    return s;
}

/* An object that is not there, or has gone since it was listed, holds none. One that cannot be
   found because its array was moved away for a moment fails. */
static enum zb_code open_object(walk *w, uint64_t *index, zb_error *err) {
    w->chunk = (zb__stored_chunk){.node = w->node, .index = index, .number = UINT64_MAX};
    enum zb_code code = zb__chunk_form(w->node->array, index, &w->chunk.form, err);
    if (code)
        return code;
    code = zb__missing_open(&w->chunk, err);
    if (!code && w->chunk.object) {
        const shard s = shard_of_object(w);
        code = go_below(w, &s, err);
        if (code)
            zb__stored_chunk_blame(&w->chunk, code, err);
    }
    w->is_named = code != ZB_OK;
    zb_object_close(w->chunk.object);
    zb__chunk_form_end(w->node->array, w->chunk.form);
    return code;
}

/* ---- Objects ------------------------------------------------------------------------------ */

static enum zb_code take_object(walk *w, uint64_t *index, zb_error *err) {
    w->found++;
    return w->inner ? open_object(w, index, err) : tell(w, index, 0);
}

/* Any failure ends a listing behind the last one that is wanted. */
static enum zb_code take_listed(void *context, const char *key, const uint64_t *index,
                                zb_error *err) {
    walk *w = context;
    const zb_array_info *info = &w->node->array->info;
    uint64_t own[ZB_MAX_NDIM] = {0};
    (void)key;
    for (uint32_t d = 0; d < info->ndim; d++)
        if (index[d] >= zb_array_chunk_count(w->node, ZB_GRID_CHUNKS, d))
            return ZB_OK;
    if (info->ndim > 0)
        memcpy(own, index, info->ndim * sizeof *own);
    const enum zb_code code = take_object(w, own, err);
    return w->stopped ? ZB_EINVAL : code;
}

static enum zb_code is_stored(const zb_node *node, const uint64_t *index, bool *out,
                              zb_error *err) {
    zb_object_info info;
    char *key = zb__array_chunk_key(node, index);
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    enum zb_code code = zb_store_stat(node->store, key, &info, err);
    free(key);
    *out = code == ZB_OK;
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

static enum zb_code ask(walk *w, uint64_t *index, zb_error *err) {
    bool stored = true;
    enum zb_code code = w->inner ? ZB_OK : is_stored(w->node, index, &stored, err);
    return code || !stored ? code : take_object(w, index, err);
}

static enum zb_code ask_for_all(walk *w, zb_error *err) {
    uint64_t index[ZB_MAX_NDIM] = {0};
    const uint64_t count = zb__array_count_chunks(w->node->array);
    enum zb_code code = ZB_OK;
    if (count > MOST_QUESTIONS)
        return zb_fail(
            err, ZB_EUNSUPPORTED,
            "the store cannot list names, and the array has more than %llu chunks to ask for",
            (unsigned long long)MOST_QUESTIONS);
    for (uint64_t i = 0; i < count && !code && !w->stopped; i++) {
        code = ask(w, index, err);
        zb__array_next_chunk(w->node->array, index);
    }
    return code;
}

static enum zb_code run(walk *w, zb_error *err) {
    const zb_node *node = w->node;
    if (!node->array)
        return zb_fail(err, ZB_EINVAL, "/%s is a group, not an array", node->path);
    w->scratch = zb__scratch_take();
    if (!w->scratch)
        return zb_fail(err, ZB_ENOMEM, "no memory for a shard's index");
    enum zb_code code = node->store->hints.can_list
                            ? zb__chunk_places_each(node, take_listed, w, err)
                            : ask_for_all(w, err);
    zb__scratch_put(w->scratch);
    if (code == ZB_OK || w->stopped)
        return ZB_OK;
    return w->is_named ? code : zb__node_blame(node->store, "array", node->path, code, err);
}

enum zb_code zb_array_stored_each(const zb_node *array, enum zb_grid_level level, zb_chunk_fn fn,
                                  void *context, zb_error *err) {
    walk w = {.node = array, .fn = fn, .context = context, .inner = level == ZB_GRID_INNER};
    const enum zb_code code = run(&w, err);
    if (code || w.stopped)
        return code;
    if (w.found < zb__array_count_chunks(array->array))
        zb__array_note_missing(array);
    return zb__array_still(array, err);
}
