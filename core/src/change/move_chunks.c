/* SPDX-License-Identifier: MIT */
/*
 * See move_chunks.h. The walk goes by the chunks that are stored in the source, and by its grid
 * where the store cannot list.
 *
 * Encoded chunks go over by whole chunks, or shards, of the target. Where that fails, the elements
 * of the same chunks are read: either that works, as where another program has just changed the
 * source, or it says what is damaged in words that users know.
 */
#include "change/move_chunks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "change/copy_named.h"
#include "hierarchy/hierarchy.h"
#include "node/node.h"
#include "node/walk.h"
#include "read/encoded.h"
#include "util/list.h"
#include "util/pages.h"
#include "util/pool.h"
#include "zarrbridge/encoded.h"
#include "zarrbridge/read.h"
#include "zarrbridge/values.h"
#include "zarrbridge/write.h"

/* Chunks that are in hand together, so that all threads, or the network, have work. What is read
   and written without waiting stays in the processor's caches in between. */
enum { MOST_CHUNKS = 256, MOST_MOVED = 16384 };
static const uint64_t most_bytes = UINT64_C(64) << 20, moved_bytes = UINT64_C(16) << 20,
                      moved_near = UINT64_C(2) << 20;

/* ---- Elements ----------------------------------------------------------------------------- */

/* Boxes of elements in hand. */
typedef struct boxes {
    const zb_node *node; /* of the source */
    zb_writer *writer;
    zb_values *values; /* what elements point at */
    uint64_t start[MOST_CHUNKS][ZB_MAX_NDIM], extent[MOST_CHUNKS][ZB_MAX_NDIM];
    void *data[MOST_CHUNKS];
    size_t count;
    uint64_t bytes;
} boxes;

static void boxes_clear(boxes *b) {
    for (size_t i = 0; i < b->count; i++)
        free(b->data[i]);
    zb_values_free(b->values);
    b->values = NULL;
    b->count = 0;
    b->bytes = 0;
}

static enum zb_code boxes_run(boxes *b, zb_error *err) {
    const zb_dtype dtype = b->node->array->info.dtype;
    zb_read reads[MOST_CHUNKS];
    enum zb_code code = b->count ? zb_values_new(&b->values, err) : ZB_OK;
    for (size_t i = 0; i < b->count; i++)
        reads[i] = (zb_read){.node = b->node,
                             .start = b->start[i],
                             .count = b->extent[i],
                             .view = {.data = b->data[i], .dtype = dtype, .values = b->values}};
    if (!code && b->count)
        code = zb_array_read(reads, b->count, err);
    for (size_t i = 0; i < b->count && !code; i++) {
        const zb_write box = {
            .start = b->start[i], .count = b->extent[i], .data = b->data[i], .dtype = dtype};
        code = zb_writer_write(b->writer, &box, err);
    }
    boxes_clear(b);
    return code;
}

/* Adds a chunk of the array's grid. Chunks behind the array's edge belong to nobody. */
static enum zb_code boxes_add(boxes *b, enum zb_grid_level level, const uint64_t *index,
                              zb_error *err) {
    const zb_array_info *info = &b->node->array->info;
    uint64_t bytes = info->dtype.size; /* a chunk fits in memory: its form was checked */
    for (uint32_t d = 0; d < info->ndim; d++) {
        zb_chunk_span span = zb_array_chunk_at(b->node, level, d, index[d]);
        b->start[b->count][d] = span.start;
        b->extent[b->count][d] = span.inside;
        bytes *= span.inside;
    }
    if (bytes == 0)
        return ZB_OK;
    b->data[b->count] = malloc(bytes);
    if (!b->data[b->count])
        return zb_fail(err, ZB_ENOMEM, "no memory for a chunk of %llu bytes",
                       (unsigned long long)bytes);
    b->count++;
    b->bytes += bytes;
    return b->count == MOST_CHUNKS || b->bytes >= most_bytes ? boxes_run(b, err) : ZB_OK;
}

static enum zb_code take_box(void *context, const char *key, const uint64_t *index, zb_error *err) {
    boxes *b = context;
    (void)key;
    zb__hierarchy_chunk_done(b->node->hierarchy);
    return boxes_add(b, ZB_GRID_CHUNKS, index, err);
}

static enum zb_code each_stored(const zb_node *node, zb__chunk_fn fn, void *context,
                                zb_error *err) {
    return node->hierarchy->store->hints.can_list ? zb__chunk_places_each(node, fn, context, err)
                                                  : zb__named_chunks(node, fn, context, err);
}

static enum zb_code move_elements(boxes *b, zb_error *err) {
    enum zb_code code = each_stored(b->node, take_box, b, err);
    if (!code)
        code = boxes_run(b, err);
    boxes_clear(b);
    return code;
}

/* ---- Encoded chunks ----------------------------------------------------------------------- */

/* Chunks of a grid by their numbers; once sorted, each once and in order. */
typedef struct numbers {
    uint64_t *at;
    size_t count, capacity;
} numbers;

typedef struct moving {
    const zb_node *from, *to;
    zb_chain *chain; /* of the source */
    boxes *boxes;
    numbers stored;        /* chunks of the source */
    numbers targets;       /* chunks of the target that get something */
    uint64_t *index;       /* [ndim] of each chunk in hand */
    zb_encoded *chunks;    /* in hand, with their indexes */
    size_t count, most;    /* so many, and the chunks of one target more, have room */
    zb__encoded_room room; /* of their bytes; those that are longer have none */
} moving;

static uint64_t number_of(const zb_node *node, const uint64_t *index) {
    uint64_t number = 0;
    for (uint32_t d = 0; d < node->array->info.ndim; d++)
        number = number * node->array->chunk_count[d] + index[d];
    return number;
}

static enum zb_code add_number(numbers *list, uint64_t number, zb_error *err) {
    if (list->count == list->capacity &&
        !zb__list_grow(&list->at, list->count, &list->capacity, sizeof *list->at))
        return zb_fail(err, ZB_ENOMEM, "no memory for a list of chunks");
    list->at[list->count++] = number;
    return ZB_OK;
}

/* Adds the chunks of the target that a chunk of the source has elements of. */
static enum zb_code take_source(void *context, const char *key, const uint64_t *index,
                                zb_error *err) {
    moving *m = context;
    const uint32_t ndim = m->from->array->info.ndim;
    uint64_t first[ZB_MAX_NDIM], last[ZB_MAX_NDIM], at[ZB_MAX_NDIM];
    (void)key;
    for (uint32_t d = 0; d < ndim; d++) {
        const zb_chunk_span span = zb_array_chunk_at(m->from, ZB_GRID_CHUNKS, d, index[d]);
        if (span.inside == 0)
            return ZB_OK;
        first[d] = at[d] = zb_array_chunk_of(m->to, ZB_GRID_CHUNKS, d, span.start).index;
        last[d] = zb_array_chunk_of(m->to, ZB_GRID_CHUNKS, d, span.start + span.inside - 1).index;
    }
    enum zb_code code = add_number(&m->stored, number_of(m->from, index), err);
    while (!code) {
        code = add_number(&m->targets, number_of(m->to, at), err);
        uint32_t d = ndim;
        while (d > 0 && at[d - 1] == last[d - 1]) {
            at[d - 1] = first[d - 1];
            d--;
        }
        if (d == 0)
            break;
        at[d - 1]++;
    }
    return code;
}

static int by_number(const void *a, const void *b) {
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void sort(numbers *list) {
    size_t kept = 0;
    if (list->count)
        qsort(list->at, list->count, sizeof *list->at, by_number);
    for (size_t i = 0; i < list->count; i++) {
        if (kept == 0 || list->at[kept - 1] != list->at[i])
            list->at[kept++] = list->at[i];
    }
    list->count = kept;
}

/* What is in hand, by its elements. */
static enum zb_code run_elements(moving *m, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < m->count && !code; i++)
        code = boxes_add(m->boxes, ZB_GRID_INNER, m->chunks[i].index, err);
    if (!code)
        code = boxes_run(m->boxes, err);
    boxes_clear(m->boxes);
    return code;
}

static enum zb_code run_encoded(moving *m, zb_error *err) {
    atomic_store(&m->room.used, 0);
    enum zb_code code = zb__encoded_read(m->from, m->chunks, m->count, &m->room, err);
    for (size_t i = 0; i < m->count; i++)
        m->chunks[i].chain = m->chain;
    if (!code)
        code = zb_writer_put_encoded(m->boxes->writer, m->chunks, m->count, err);
    zb_encoded_clear(m->chunks, m->count);
    return code;
}

static enum zb_code run_moving(moving *m, zb_error *err) {
    enum zb_code code = m->count ? run_encoded(m, err) : ZB_OK;
    if (zb_encoded_may_decode(code))
        code = run_elements(m, err);
    m->count = 0;
    return code;
}

/* Whether the source has stored the chunk that an innermost one lies in. */
static bool is_stored(const moving *m, const uint64_t *inner_index) {
    const zb_array_info *info = &m->from->array->info;
    uint64_t index[ZB_MAX_NDIM] = {0};
    for (uint32_t d = 0; d < info->ndim; d++)
        index[d] = inner_index[d] / (info->chunk_shape[d] / info->inner_shape[d]);
    const uint64_t number = number_of(m->from, index);
    return m->stored.count &&
           bsearch(&number, m->stored.at, m->stored.count, sizeof number, by_number) != NULL;
}

/* Adds the innermost chunks of a chunk of the target that lie in the array, and may be stored. */
static void add_inner(moving *m, uint64_t number) {
    const zb__array *array = m->to->array;
    const uint32_t ndim = array->info.ndim;
    uint64_t first[ZB_MAX_NDIM], end[ZB_MAX_NDIM], at[ZB_MAX_NDIM];
    for (uint32_t d = ndim; d-- > 0; number /= array->chunk_count[d]) {
        const uint64_t each = array->info.chunk_shape[d] / array->info.inner_shape[d];
        const uint64_t all = zb_array_chunk_count(m->to, ZB_GRID_INNER, d);
        first[d] = at[d] = number % array->chunk_count[d] * each;
        end[d] = all - first[d] < each ? all : first[d] + each;
    }
    for (uint32_t d = 1; d > 0;) {
        if (is_stored(m, at)) {
            uint64_t *index = &m->index[m->count * ndim];
            memcpy(index, at, ndim * sizeof *at);
            m->chunks[m->count++] = (zb_encoded){.index = index};
        }
        for (d = ndim; d > 0 && at[d - 1] + 1 == end[d - 1]; d--)
            at[d - 1] = first[d - 1];
        if (d > 0)
            at[d - 1]++;
    }
}

/* Of the source's chunks, about as many as of the target's. */
static void tell_done(const moving *m, size_t targets, uint64_t *told) {
    const uint64_t done =
        (uint64_t)((double)m->stored.count * (double)targets / (double)m->targets.count);
    for (; *told < done; ++*told)
        zb__hierarchy_chunk_done(m->from->hierarchy);
}

static enum zb_code move_targets(moving *m, zb_error *err) {
    enum zb_code code = ZB_OK;
    uint64_t told = 0;
    for (size_t i = 0; i < m->targets.count && !code; i++) {
        add_inner(m, m->targets.at[i]);
        if (m->count < m->most && i + 1 < m->targets.count)
            continue;
        code = run_moving(m, err);
        tell_done(m, i + 1, &told);
    }
    return code;
}

/* As much as those in hand have decoded, up to a bound. */
static size_t room_bytes(uint64_t most, uint64_t each, uint64_t bytes) {
    uint64_t all;
    return __builtin_mul_overflow(most + each, bytes, &all) || all > most_bytes ? most_bytes : all;
}

/* Shards in hand, where one is more than is wanted: each thread puts one, while one alone would
   keep the others waiting for its end. */
static uint64_t shards_together(uint64_t each, uint64_t bytes) {
    const uint64_t width = zb__pool_width(), fit = room_bytes(0, each, bytes);
    const uint64_t shards = most_bytes / (fit ? fit : 1);
    return shards < width ? shards : width;
}

/* Room for the chunks in hand. */
static enum zb_code make_room(moving *m, zb_error *err) {
    const zb_array_info *info = &m->to->array->info;
    uint64_t bytes = info->dtype.size, each = 1, room;
    for (uint32_t d = 0; d < info->ndim; d++) {
        bytes *= info->inner_shape[d]; /* fits: its layout was checked */
        each *= info->chunk_shape[d] / info->inner_shape[d];
    }
    const bool is_near =
        zb__node_store(m->from)->hints.is_local && zb__node_store(m->to)->hints.is_local;
    const uint64_t wanted = is_near ? moved_near : moved_bytes;
    m->most = bytes >= wanted ? 1 : (size_t)(wanted / (bytes ? bytes : 1));
    if (is_near && each > m->most && each < MOST_MOVED) {
        const uint64_t together = each * (shards_together(each, bytes) - 1) + 1;
        m->most = m->most > together ? m->most : (size_t)together;
    }
    m->most = m->most < MOST_MOVED ? m->most : MOST_MOVED;
    room = m->most + each;
    m->index = calloc((size_t)room, (info->ndim ? info->ndim : 1) * sizeof *m->index);
    m->chunks = calloc((size_t)room, sizeof *m->chunks);
    m->room.capacity = room_bytes(m->most, each, bytes);
    m->room.bytes = zb__pages_map(m->room.capacity);
    if (!m->room.bytes)
        m->room.capacity = 0;
    return m->index && m->chunks ? ZB_OK
                                 : zb_fail(err, ZB_ENOMEM, "no memory for a list of chunks");
}

static enum zb_code move_encoded(moving *m, zb_error *err) {
    enum zb_code code = make_room(m, err);
    if (!code)
        code = each_stored(m->from, take_source, m, err);
    if (!code) {
        sort(&m->stored);
        sort(&m->targets);
        code = move_targets(m, err);
    }
    free(m->stored.at);
    free(m->targets.at);
    free(m->index);
    free(m->chunks);
    zb__pages_unmap(m->room.bytes, m->room.capacity);
    return code;
}

/* Whether chunks move as they are encoded; if so, the caller frees m->chain. Numbers of chunks have
   to fit 64 bits. */
static bool may_move(moving *m, char *way) {
    static const char *const words[] = {[ZB_CHAIN_SAME] = "encoded chunks move",
                                        [ZB_CHAIN_REWRAPPED] = "encoded chunks move",
                                        [ZB_CHAIN_ANEW] = "chunks are decoded and encoded",
                                        [ZB_CHAIN_NONE] = "elements are copied"};
    enum zb_chain_way chosen = ZB_CHAIN_NONE;
    const char *why = "there are too many chunks";
    zb_error err = {.code = ZB_OK};
    zb_chain *to = NULL;
    if (zb__array_count_chunks(m->to->array) != UINT64_MAX) {
        why = err.message;
        if (zb_chain_of(m->from, &m->chain, &err) == ZB_OK &&
            zb_chain_of(m->to, &to, &err) == ZB_OK)
            chosen = zb_chain_compare(m->chain, to, &why);
    }
    snprintf(way, ZB__WAY_SIZE, "%s%s%s", words[chosen], why ? ": " : "", why ? why : "");
    zb_chain_free(to);
    if (chosen != ZB_CHAIN_NONE)
        return true;
    zb_chain_free(m->chain);
    return false;
}

enum zb_code zb__chunks_move(const zb_node *from, const zb_node *to, char *way, zb_error *err) {
    const zb_write_options options = {.sync = zb__hierarchy_sync(to->hierarchy)};
    boxes *b = calloc(1, sizeof *b);
    if (!b)
        return zb_fail(err, ZB_ENOMEM, "no memory for copying an array");
    moving m = {.from = from, .to = to, .boxes = b};
    b->node = from;
    enum zb_code code = zb_writer_open(to, &options, &b->writer, err);
    if (!code && may_move(&m, way)) {
        code = move_encoded(&m, err);
        zb_chain_free(m.chain);
    } else if (!code) {
        code = move_elements(b, err);
    }
    enum zb_code closed = zb_writer_close(b->writer, code ? NULL : err);
    free(b);
    return code ? code : closed;
}
