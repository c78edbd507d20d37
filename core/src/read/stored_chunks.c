/* SPDX-License-Identifier: MIT */
/*
 * Walks over the chunks that an array has stored, and questions about some. Of a whole array the
 * store's listing tells which objects there are, so that the content decides how long a walk takes,
 * and not the shape that a document gives; the indexes of shards tell of their inner chunks. For
 * chunks of a box, and in a store that cannot list, each object is asked for.
 */
#include "array/array.h"
#include "codec/shard_index.h"
#include "node/current.h"
#include "node/node.h"
#include "node/walk.h"
#include "read/leaf.h"
#include "read/retry.h"
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
    bool lists; /* the walk is over all of the array: the store lists it where it can */
    bool stopped;
    bool is_named; /* an error's message tells the array, and the chunk */
    uint64_t start[ZB_MAX_NDIM], end[ZB_MAX_NDIM]; /* elements: chunks that hold some are told */
    zb__stored_chunk *object;                      /* the one that the walk is in */
    zb__source told;                               /* the bytes of the inner chunk that is told */
    zb__scratch *scratch;
} walk;

static void tell(walk *w, const uint64_t *index, uint64_t bytes) {
    w->stopped = w->fn(w->context, index, bytes) != 0;
}

/* ---- Boxes of cells ----------------------------------------------------------------------- */

/* Cells of a grid, of an array's chunks or of a shard's inner ones. */
typedef struct cells {
    uint32_t ndim;
    uint64_t first[ZB_MAX_NDIM], end[ZB_MAX_NDIM];
    uint64_t at[ZB_MAX_NDIM]; /* the current one */
} cells;

/* Goes to the next one in C order; false behind the last. */
static bool next_cell(cells *c) {
    for (uint32_t d = c->ndim; d-- > 0;) {
        if (++c->at[d] < c->end[d])
            return true;
        c->at[d] = c->first[d];
    }
    return false;
}

/* ---- Inner chunks ------------------------------------------------------------------------- */

/* A shard on the way down: its bytes, the array's element at which it begins, and the dimension of
   the array that each of its dimensions is, as its pipeline is handed them. */
typedef struct shard {
    const zb__chunk_layout *layout;
    zb__source source;
    uint64_t start[ZB_MAX_NDIM];
    uint32_t axis[ZB_MAX_NDIM];
    uint32_t level; /* 0: the object */
} shard;

static void tell_inner(walk *w, const shard *s) {
    const zb__array *array = w->node->array;
    uint64_t index[ZB_MAX_NDIM];
    for (uint32_t d = 0; d < array->info.ndim; d++)
        index[d] = zb__grid_find(&array->inner, d, s->start[d]).index;
    w->told = s->source;
    tell(w, index, s->source.size);
}

/* The inner chunks that hold elements of the walk, none of those behind the array's edge. False
   when there are none. */
static bool cells_of_shard(const walk *w, const shard *s, cells *out) {
    const zb__shard *about = s->layout->shard;
    const zb__pipeline *pipeline = s->layout->pipeline;
    out->ndim = pipeline->ndim;
    for (uint32_t i = 0; i < pipeline->ndim; i++) {
        const uint32_t d = s->axis[pipeline->axis[i]];
        const uint64_t extent = about->inner_shape[i], start = s->start[d];
        if (w->end[d] <= start)
            return false;
        const uint64_t end = (w->end[d] - start - 1) / extent + 1;
        out->first[i] = out->at[i] = w->start[d] > start ? (w->start[d] - start) / extent : 0;
        out->end[i] = end < about->grid[i] ? end : about->grid[i];
        if (out->first[i] >= out->end[i])
            return false;
    }
    return true;
}

/* The number of the current one in the shard's index. */
static uint64_t number_of(const zb__shard *about, const cells *c) {
    uint64_t number = 0;
    for (uint32_t i = 0; i < c->ndim; i++)
        number = number * about->grid[i] + c->at[i];
    return number;
}

/* The inner chunk at a cell, with the bytes that `chunks` has for it, as a shard or as the
   innermost chunk that it is. */
static shard enter(const shard *s, const cells *c, const zb__inner_chunks *chunks) {
    const zb__pipeline *pipeline = s->layout->pipeline;
    shard below = *s;
    below.source.offset += chunks->offset;
    below.source.size = chunks->size;
    below.level++;
    for (uint32_t i = 0; i < pipeline->ndim; i++) {
        below.axis[i] = s->axis[pipeline->axis[i]];
        below.start[below.axis[i]] += c->at[i] * s->layout->shard->inner_shape[i];
    }
    return below;
}

/* Recursion is bounded by the limit shard_depth. */
static enum zb_code go_below(walk *w, const shard *s, zb_error *err) {
    if (s->level == w->node->array->inner_depth) {
        tell_inner(w, s);
        return ZB_OK;
    }
    if (s->layout->pipeline->codec_count > 0)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "codecs lie around its inner chunks, none of which has bytes of its own");
    zb__index index;
    cells c;
    const zb__shard *about = s->layout->shard;
    enum zb_code code = zb__index_load(w->object, about, &s->source, w->scratch, &index, err);
    if (code)
        return code;
    zb__inner_chunks chunks = zb__inner_chunks_of(index.entries, about->count, s->source.size);
    bool more = cells_of_shard(w, s, &c);
    for (; more && !code && !w->stopped; more = next_cell(&c)) {
        if (!zb__inner_chunk_at(&chunks, number_of(about, &c)))
            continue;
        code = zb__inner_chunk_check(&chunks, err);
        shard below = enter(s, &c, &chunks);
        if (!code)
            code = zb__shard_inner(about, chunks.inner, &below.layout, err);
        if (!code)
            code = go_below(w, &below, err);
    }
    zb__index_release(&index);
    return code;
}

/* ---- Objects ------------------------------------------------------------------------------ */

static shard shard_of_object(const walk *w, const zb__stored_chunk *object) {
    shard s = {.layout = object->layout,
               .source = {.object = object->object, .size = object->info.size}};
    for (uint32_t d = 0; d < w->node->array->info.ndim; d++) {
        s.start[d] = zb__grid_at(&w->node->array->grid, d, object->index[d]).start;
        s.axis[d] = d;
    }
    return s;
}

static enum zb_code tell_object(walk *w, zb__stored_chunk *object, zb_error *err) {
    enum zb_code code = zb__array_chunk_layout(w->node->array, object->index, &object->layout, err);
    if (!code) {
        const shard s = shard_of_object(w, object);
        w->object = object;
        code = go_below(w, &s, err);
        zb__array_chunk_layout_end(w->node->array, object->layout);
    }
    return code ? zb__stored_chunk_add_context(object, code, err) : ZB_OK;
}

/* Tells of those that are there, and leaves the others missing. Fails, without a message, where the
   walk is stopped. */
static enum zb_code look(void *context, zb__stored_chunk *objects, size_t count, zb_error *err) {
    walk *w = context;
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < count && !code && !w->stopped; i++) {
        if (!objects[i].is_missing)
            continue; /* an earlier look has found it */
        code = zb__stored_chunk_open(&objects[i], err);
        if (!code && objects[i].object)
            code = tell_object(w, &objects[i], err);
        zb_object_close(objects[i].object);
    }
    return w->stopped && !code ? ZB_EINVAL : code;
}

/* Tells of those that are stored. Errors name the array. */
static enum zb_code look_surely(walk *w, zb__stored_chunk *objects, size_t count, zb_error *err) {
    const enum zb_code code = zb__missing_surely(objects, count, look, w, err);
    w->is_named = code != ZB_OK;
    return code;
}

/* An object that is in doubt until a look has found it. */
static zb__stored_chunk object_at(const walk *w, uint64_t *index) {
    return (zb__stored_chunk){
        .node = w->node, .index = index, .number = UINT64_MAX, .is_missing = true};
}

/* ---- By the store's listing --------------------------------------------------------------- */

typedef struct listed {
    walk *walk;
    const cells *wanted;
    uint64_t count; /* objects, of those that are wanted */
} listed;

/* An object that has gone since it was listed holds no chunks. One that cannot be found because its
   array was moved away for a moment fails. Any failure ends a listing behind the last one that is
   wanted. */
static enum zb_code take_listed(void *context, const char *key, const uint64_t *index,
                                zb_error *err) {
    listed *l = context;
    walk *w = l->walk;
    uint64_t own[ZB_MAX_NDIM] = {0};
    (void)key;
    for (uint32_t d = 0; d < l->wanted->ndim; d++) {
        if (index[d] < l->wanted->first[d] || index[d] >= l->wanted->end[d])
            return ZB_OK;
        own[d] = index[d];
    }
    l->count++;
    if (!w->inner) {
        tell(w, own, 0);
        return w->stopped ? ZB_EINVAL : ZB_OK;
    }
    zb__stored_chunk object = object_at(w, own);
    return look_surely(w, &object, 1, err);
}

static enum zb_code list(walk *w, const cells *wanted, uint64_t count, zb_error *err) {
    listed l = {.walk = w, .wanted = wanted};
    const enum zb_code code = zb__chunk_places_each(w->node, take_listed, &l, err);
    if (l.count < count)
        zb__array_note_missing(w->node);
    return code;
}

/* ---- By questions ------------------------------------------------------------------------- */

/* Objects that are looked for together: one question makes sure of all that are missing. */
typedef struct batch {
    zb__stored_chunk object[ZB__MISSING_TOGETHER];
    uint64_t index[ZB__MISSING_TOGETHER][ZB_MAX_NDIM];
} batch;

static enum zb_code ask_for_inner(walk *w, cells *c, zb_error *err) {
    batch *b = malloc(sizeof *b);
    enum zb_code code = b ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a list of chunks");
    for (bool more = true; more && !code;) {
        size_t count = 0;
        for (; more && count < ZB__MISSING_TOGETHER; more = next_cell(c)) {
            memcpy(b->index[count], c->at, c->ndim * sizeof *c->at);
            b->object[count] = object_at(w, b->index[count]);
            count++;
        }
        code = look_surely(w, b->object, count, err);
    }
    free(b);
    return code;
}

static enum zb_code is_stored(const zb_node *node, const uint64_t *index, bool *out,
                              zb_error *err) {
    zb_object_info info;
    char *key = zb__array_chunk_key(node, index);
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    enum zb_code code = zb_store_stat(zb__node_store(node), key, &info, err);
    free(key);
    *out = code == ZB_OK;
    if (code == ZB_ENOTFOUND)
        zb__array_note_missing(node);
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

static enum zb_code ask_for_objects(walk *w, cells *c, zb_error *err) {
    enum zb_code code = ZB_OK;
    bool stored = false;
    for (bool more = true; more && !code && !w->stopped; more = next_cell(c)) {
        code = is_stored(w->node, c->at, &stored, err);
        if (!code && stored)
            tell(w, c->at, 0);
    }
    return code;
}

/* The chunks that hold elements of the walk. False when there are none. */
static bool cells_of_array(const walk *w, cells *out, uint64_t *count) {
    const zb__grid *grid = &w->node->array->grid;
    *out = (cells){.ndim = grid->ndim};
    *count = 1;
    for (uint32_t d = 0; d < grid->ndim; d++) {
        if (w->start[d] >= w->end[d])
            return false;
        out->first[d] = out->at[d] = zb__grid_find(grid, d, w->start[d]).index;
        out->end[d] = zb__grid_find(grid, d, w->end[d] - 1).index + 1;
        if (__builtin_mul_overflow(*count, out->end[d] - out->first[d], count))
            *count = UINT64_MAX;
    }
    return true;
}

/* ---- Walks -------------------------------------------------------------------------------- */

static enum zb_code go(walk *w, zb_error *err) {
    cells c;
    uint64_t count;
    if (!cells_of_array(w, &c, &count))
        return ZB_OK;
    if (zb__node_store(w->node)->hints.can_list && (w->lists || count > MOST_QUESTIONS))
        return list(w, &c, count, err);
    if (count > MOST_QUESTIONS)
        return zb_fail(
            err, ZB_EUNSUPPORTED,
            "the store cannot list names, and there are more than %llu chunks to ask for",
            (unsigned long long)MOST_QUESTIONS);
    return w->inner ? ask_for_inner(w, &c, err) : ask_for_objects(w, &c, err);
}

/* Where the array has gone, no chunk is stored, and programs would take all elements for fill
   values. */
static enum zb_code run(walk *w, zb_error *err) {
    const zb_node *node = w->node;
    w->scratch = zb__scratch_take();
    if (!w->scratch)
        return zb_fail(err, ZB_ENOMEM, "no memory for a shard's index");
    enum zb_code code = go(w, err);
    zb__scratch_put(w->scratch);
    if (code == ZB_OK || w->stopped)
        return zb_array_still(node, err);
    return w->is_named ? code
                       : zb__node_add_context(node->hierarchy, "array", node->path, code, err);
}

static enum zb_code fail_group(const zb_node *node, zb_error *err) {
    return zb_fail(err, ZB_EINVAL, "/%s is a group, not an array", node->path);
}

enum zb_code zb_array_stored_each(const zb_node *array, enum zb_grid_level level, zb_chunk_fn fn,
                                  void *context, zb_error *err) {
    walk w = {.node = array,
              .fn = fn,
              .context = context,
              .inner = level == ZB_GRID_INNER,
              .lists = true};
    if (!array->array)
        return fail_group(array, err);
    for (uint32_t d = 0; d < array->array->info.ndim; d++)
        w.end[d] = array->array->info.shape[d];
    return run(&w, err);
}

enum zb_code zb_array_stored_in(const zb_node *array, const uint64_t *start, const uint64_t *count,
                                zb_chunk_fn fn, void *context, zb_error *err) {
    walk w = {.node = array, .fn = fn, .context = context, .inner = true};
    if (!array->array)
        return fail_group(array, err);
    const zb_array_info *info = &array->array->info;
    for (uint32_t d = 0; d < info->ndim; d++) {
        if (start[d] > info->shape[d] || count[d] > info->shape[d] - start[d])
            return zb_fail(err, ZB_EINVAL, "array /%s: the box leaves dimension %u of %llu",
                           array->path, d, (unsigned long long)info->shape[d]);
        w.start[d] = start[d];
        w.end[d] = start[d] + count[d];
    }
    return run(&w, err);
}

/* ---- Single chunks ------------------------------------------------------------------------ */

typedef struct finding {
    const walk *walk;
    zb_chunk_place *place;
} finding;

static int take_place(void *context, const uint64_t *index, uint64_t bytes) {
    (void)index;
    finding *f = context;
    f->place->key = zb__array_chunk_key(f->walk->node, f->walk->object->index);
    f->place->offset = f->walk->told.offset;
    f->place->bytes = bytes;
    return 0;
}

enum zb_code zb_array_chunk_place(const zb_node *array, const uint64_t *index, zb_chunk_place *out,
                                  zb_error *err) {
    finding f = {.place = out};
    walk w = {.node = array, .fn = take_place, .context = &f, .inner = true};
    f.walk = &w;
    *out = (zb_chunk_place){.key = NULL};
    if (!array->array)
        return fail_group(array, err);
    for (uint32_t d = 0; d < array->array->info.ndim; d++) {
        const zb__span span = zb__grid_at(&array->array->inner, d, index[d]);
        if (zb__span_inside(span, array->array->info.shape[d]) == 0)
            return zb_fail(err, ZB_EINVAL, "array /%s: there is no such chunk in the array",
                           array->path);
        w.start[d] = span.start;
        w.end[d] = span.start + 1;
    }
    enum zb_code code = run(&w, err);
    if (!code && out->bytes > 0 && !out->key)
        code = zb_fail(err, ZB_ENOMEM, "no memory for a key");
    if (code) {
        free(out->key);
        *out = (zb_chunk_place){.key = NULL};
    }
    return code;
}

enum zb_code zb_array_chunk_stored(const zb_node *array, const uint64_t *index, uint64_t *bytes,
                                   zb_error *err) {
    zb_chunk_place found;
    const enum zb_code code = zb_array_chunk_place(array, index, &found, err);
    *bytes = found.bytes;
    free(found.key);
    return code;
}
