/* SPDX-License-Identifier: MIT */
/* See encoded.h. A chunk, or shard, is opened once for all that is wanted of it. */
#include "read/encoded.h"

#include <stdlib.h>
#include <string.h>

#include "codec/chain.h"
#include "codec/pipeline.h"
#include "codec/shard_index.h"
#include "node/current.h"
#include "node/node.h"
#include "read/leaf.h"
#include "store/store.h"
#include "util/lane.h"
#include "util/pool.h"
#include "zarrbridge/limits.h"

/* ---- Chains ------------------------------------------------------------------------------- */

static bool keeps_order(const zb__pipeline *pipeline) {
    for (uint32_t i = 0; i < pipeline->ndim; i++) {
        if (pipeline->axis[i] != i)
            return false;
    }
    return true;
}

/* The layout of the array's innermost chunks, or NULL and why they have none. */
static const zb__chunk_layout *innermost(const zb__array *array, const char **reason) {
    const zb__chunk_layout *layout = array->layout;
    *reason = array->grid.runs ? "its chunks have several extents"
              : array->is_cut  ? "its inner chunks do not divide their shards"
                               : NULL;
    if (*reason || !layout->shard)
        return *reason ? NULL : layout;
    if (layout->pipeline->codec_count > 0 || !keeps_order(layout->pipeline) ||
        layout->pipeline->filters.count > 0)
        *reason = "codecs lie around its shards";
    else if (layout->shard->inner->shard)
        *reason = "its shards hold shards";
    return *reason ? NULL : layout->shard->inner;
}

static enum zb_code check_array(const zb_node *node, const zb__chunk_layout **layout,
                                zb_error *err) {
    const char *reason;
    if (!node->array)
        return zb_fail(err, ZB_EINVAL, "/%s is a group, not an array", node->path);
    *layout = innermost(node->array, &reason);
    return *layout ? ZB_OK
                   : zb_fail(err, ZB_EUNSUPPORTED,
                             "array /%s: chunks are not read and written as they are encoded: %s",
                             node->path, reason);
}

static enum zb_code make_chain(zb_chain **out, zb_error *err) {
    *out = calloc(1, sizeof **out);
    return *out ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a chain of codecs");
}

enum zb_code zb_chain_of(const zb_node *array, zb_chain **out, zb_error *err) {
    const zb__chunk_layout *layout;
    enum zb_code code = check_array(array, &layout, err);
    if (!code)
        code = make_chain(out, err);
    if (code)
        return code;
    (*out)->node = zb_node_retain((zb_node *)array);
    (*out)->layout = layout;
    return ZB_OK;
}

enum zb_code zb_chain_new(const zb_node *array, const char *codecs, zb_chain **out, zb_error *err) {
    const zb__chunk_layout *layout;
    zb_json *list = NULL;
    enum zb_code code = check_array(array, &layout, err);
    if (!code)
        code = zb_json_parse(codecs, strlen(codecs), &list, err);
    if (!code)
        code = make_chain(out, err);
    if (!code) {
        const zb_array_info *info = &array->array->info;
        const zb__binding binding = {
            .ndim = info->ndim, .dtype = info->dtype, .fill = info->fill_value};
        code = zb__pipeline_bind(list, &binding, &(*out)->own, err);
        if (!code)
            code = zb__pipeline_layout((*out)->own, info->inner_shape, &(*out)->layout, err);
        if (!code && (*out)->layout->shard)
            code = zb_fail(err, ZB_EUNSUPPORTED, "a chain of codecs has no shards");
        if (code)
            zb_chain_free(*out);
    }
    zb_json_free(list);
    return code;
}

void zb_chain_free(zb_chain *chain) {
    if (!chain)
        return;
    if (chain->own) {
        zb__chunk_layout_release(chain->layout);
        zb__pipeline_free(chain->own);
    }
    zb_node_release(chain->node);
    free(chain);
}

enum zb_chain_way zb_chain_compare(const zb_chain *from, const zb_chain *to, const char **reason) {
    const char *moves = getenv("ZARRBRIDGE_MOVE_CHUNKS");
    if (moves && strcmp(moves, "no") == 0) {
        if (reason)
            *reason = "ZARRBRIDGE_MOVE_CHUNKS=no";
        return ZB_CHAIN_NONE;
    }
    const zb__chain_change change = zb__chain_compare(from->layout, to->layout);
    if (reason)
        *reason = change.reason;
    return change.way;
}

/* ---- Places ------------------------------------------------------------------------------- */

/* Where an innermost chunk lies: the index of its chunk, or shard, and its number there. */
static void encoded_place(const zb_node *node, const uint64_t *inner_index, uint64_t *index,
                          uint64_t *number) {
    const zb__shard *shard = node->array->layout->shard;
    *number = 0;
    for (uint32_t d = 0; d < node->array->info.ndim; d++) {
        const uint64_t grid = shard ? shard->grid[d] : 1;
        index[d] = inner_index[d] / grid;
        *number = *number * grid + inner_index[d] % grid;
    }
}

bool zb_encoded_may_decode(enum zb_code code) {
    return code == ZB_EFORMAT || code == ZB_ECHECKSUM || code == ZB_EUNSUPPORTED ||
           code == ZB_ELIMIT || code == ZB_ECONFLICT;
}

bool zb__encoded_is_cut(const zb_node *array, const uint64_t *inner_index, zb__chain_edge *edge) {
    const zb_array_info *info = &array->array->info;
    bool is_cut = false;
    edge->fill = info->fill_value;
    for (uint32_t d = 0; d < info->ndim; d++) {
        const uint64_t left = info->shape[d] - inner_index[d] * info->inner_shape[d];
        edge->inside[d] = left < info->inner_shape[d] ? left : info->inner_shape[d];
        is_cut |= left < info->inner_shape[d];
    }
    return is_cut;
}

/* Whether the array's grid has such an innermost chunk, the array's edge or not. */
static bool encoded_exists(const zb_node *node, const uint64_t *inner_index) {
    uint64_t index[ZB_MAX_NDIM], number;
    encoded_place(node, inner_index, index, &number);
    for (uint32_t d = 0; d < node->array->info.ndim; d++) {
        if (index[d] >= node->array->chunk_count[d])
            return false;
    }
    return true;
}

static int by_place(const void *a, const void *b) {
    const zb__placed *left = a, *right = b;
    for (int d = 0; d < ZB_MAX_NDIM; d++) { /* zeros behind the array's dimensions */
        if (left->index[d] != right->index[d])
            return left->index[d] < right->index[d] ? -1 : 1;
    }
    return left->number < right->number ? -1 : left->number > right->number;
}

enum zb_code zb__encoded_sort(const zb_node *array, const zb_encoded *chunks, size_t count,
                              zb__placed **out, zb_error *err) {
    zb__placed *placed = *out = calloc(count ? count : 1, sizeof *placed);
    enum zb_code code =
        placed ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for the places of chunks");
    for (size_t i = 0; i < count && !code; i++) {
        encoded_place(array, chunks[i].index, placed[i].index, &placed[i].number);
        placed[i].at = i;
        if (!encoded_exists(array, chunks[i].index))
            code = zb_fail(err, ZB_EINVAL, "array /%s: encoded chunk %zu lies outside the grid",
                           array->path, i);
    }
    if (!code)
        qsort(placed, count, sizeof *placed, by_place);
    for (size_t i = 1; i < count && !code; i++) {
        if (by_place(&placed[i - 1], &placed[i]) == 0)
            code = zb_fail(err, ZB_EINVAL, "array /%s: encoded chunk %zu is given twice",
                           array->path, placed[i].at);
    }
    return code;
}

size_t zb__placed_end(const zb__placed *placed, size_t first, size_t count, uint32_t ndim) {
    size_t end = first + 1;
    while (end < count &&
           memcmp(placed[end].index, placed[first].index, ndim * sizeof(uint64_t)) == 0)
        end++;
    return end;
}

/* ---- Reading ------------------------------------------------------------------------------ */

/* One call. */
typedef struct getting {
    const zb_node *node;
    const zb_chain *to;
    zb__chain_change change; /* where `to` is given */
    zb_encoded *chunks;
    size_t count;
    const zb__placed *placed; /* [count] */
    size_t *first;            /* of each stored chunk, in `placed`; and behind the last */
    zb__encoded_room *room;   /* or NULL */
    bool is_copied;           /* all chunks get memory of their own */
} getting;

void zb_encoded_clear(zb_encoded *chunks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!chunks[i].memory)
            continue;
        free(chunks[i].memory);
        chunks[i].memory = NULL;
    }
}

/* The object as one chunk. */
static enum zb_code measure_object(const zb__stored_chunk *chunk, zb__encoded *encoded,
                                   uint64_t *entries, zb_error *err) {
    entries[0] = 0;
    entries[1] = chunk->info.size;
    encoded[0].size = (size_t)chunk->info.size;
    return zb__chunk_layout_check_stored(chunk->layout, chunk->info.size, err);
}

/* The sizes of the wanted inner chunks. */
static enum zb_code measure_inner(const getting *g, const zb__stored_chunk *chunk, size_t first,
                                  size_t end, const uint64_t *entries, zb__encoded *encoded,
                                  uint64_t *own, zb_error *err) {
    const zb__shard *shard = chunk->layout->shard;
    zb__inner_chunks walk = zb__inner_chunks_of(entries, shard->count, chunk->info.size);
    enum zb_code code = ZB_OK;
    for (size_t i = first; i < end && !code; i++) {
        if (!zb__inner_chunk_at(&walk, g->placed[i].number))
            continue;
        code = zb__inner_chunk_check(&walk, err);
        if (!code)
            code = zb__chunk_layout_check_stored(shard->inner, walk.size, err);
        if (code) {
            const zb__leaf leaf = {.chunk = (zb__stored_chunk *)(uintptr_t)chunk,
                                   .inner = walk.inner};
            return zb__leaf_add_context(&leaf, code, err);
        }
        own[2 * (i - first)] = walk.offset;
        own[2 * (i - first) + 1] = walk.size;
        encoded[i - first].size = (size_t)walk.size;
    }
    return code;
}

/* *own: what is to be freed with the bytes, or NULL. */
static uint8_t *memory_for(const getting *g, size_t size, void **own) {
    const size_t each = (size + 63) & ~(size_t)63; /* aligned as malloc's, and apart from others */
    *own = NULL;
    if (g->room && each >= size && each <= g->room->capacity) {
        const size_t at = atomic_fetch_add(&g->room->used, each);
        if (at <= g->room->capacity - each)
            return g->room->bytes + at;
        atomic_fetch_sub(&g->room->used, each);
    }
    return *own = malloc(size);
}

/* Reads those that have a size into memory that the first of them gets. */
static enum zb_code read_measured(const getting *g, const zb__stored_chunk *chunk, size_t first,
                                  size_t n, const uint64_t *entries, zb__encoded *encoded,
                                  zb_error *err) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (__builtin_add_overflow(sum, encoded[i].size, &sum) ||
            sum > zb_limits_get()->shard_bytes)
            return zb_fail(err, ZB_ELIMIT, "its chunks have more bytes than shard_bytes, %llu",
                           (unsigned long long)zb_limits_get()->shard_bytes);
    }
    void *own = NULL;
    uint8_t *bytes = sum ? memory_for(g, (size_t)sum, &own) : NULL;
    if (sum && !bytes)
        return zb_fail(err, ZB_ENOMEM, "no memory for %llu encoded bytes", (unsigned long long)sum);
    enum zb_code code =
        sum ? zb__inner_chunks_read(chunk->object, entries, encoded, n, bytes, err) : ZB_OK;
    if (code) {
        free(own);
        return code;
    }
    for (size_t i = 0; i < n; i++) {
        zb_encoded *out = &g->chunks[g->placed[first + i].at];
        out->data = encoded[i].data;
        out->size = encoded[i].size;
        out->memory = i == 0 ? own : NULL;
    }
    return ZB_OK;
}

static enum zb_code read_object(const getting *g, zb__stored_chunk *chunk, size_t first, size_t end,
                                zb__scratch *scratch, zb_error *err) {
    const size_t n = end - first;
    zb__encoded *encoded = calloc(n, sizeof *encoded);
    uint64_t *entries = calloc(2 * n, sizeof *entries);
    zb__index index = {0};
    enum zb_code code =
        encoded && entries ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for the places of chunks");
    bool is_named = false;
    if (!code && !chunk->layout->shard)
        code = measure_object(chunk, encoded, entries, err);
    else if (!code) {
        const zb__source source = {.object = chunk->object, .size = chunk->info.size};
        code = zb__index_load(chunk, chunk->layout->shard, &source, scratch, &index, err);
        if (!code) {
            code = measure_inner(g, chunk, first, end, index.entries, encoded, entries, err);
            is_named = code != ZB_OK;
            zb__index_release(&index);
        }
    }
    if (!code)
        code = read_measured(g, chunk, first, n, entries, encoded, err);
    free(encoded);
    free(entries);
    return code && !is_named ? zb__stored_chunk_add_context(chunk, code, err) : code;
}

static zb__stored_chunk chunk_at(const getting *g, size_t first) {
    return (zb__stored_chunk){.node = g->node,
                              .index = (uint64_t *)(uintptr_t)g->placed[first].index,
                              .number = UINT64_MAX, /* past the cache, which is for reads */
                              .layout = g->node->array->layout,
                              .is_fresh = true};
}

static enum zb_code get_stored(void *context, size_t item, zb__scratch *scratch, zb_error *err) {
    const getting *g = context;
    const size_t first = g->first[item], end = g->first[item + 1];
    zb__stored_chunk chunk = chunk_at(g, first);
    enum zb_code code = zb__stored_chunk_open(&chunk, err);
    if (!code && chunk.object)
        code = read_object(g, &chunk, first, end, scratch, err);
    zb_object_close(chunk.object);
    return code;
}

/* The room that a chunk needs to be changed, and the array's edge in it. */
static uint64_t room_of(const getting *g, const zb_encoded *chunk, zb__chain_edge *place,
                        const zb__chain_edge **edge) {
    *edge = zb__encoded_is_cut(g->node, chunk->index, place) ? place : NULL;
    return chunk->size ? zb__chain_bound(&g->change, *edge, chunk->data, chunk->size) : 0;
}

static enum zb_code change_one(void *context, size_t item, zb__scratch *scratch, zb_error *err) {
    const getting *g = context;
    zb_encoded *chunk = &g->chunks[g->placed[item].at];
    zb__chain_edge place;
    const zb__chain_edge *edge;
    size_t written = chunk->size;
    if (chunk->size == 0)
        return ZB_OK;
    const uint64_t bound = room_of(g, chunk, &place, &edge);
    const uint64_t room = bound ? bound : g->is_copied ? chunk->size : 0;
    uint8_t *out = room && room <= SIZE_MAX / 2 ? malloc((size_t)room) : NULL;
    enum zb_code code = room && !out
                            ? zb_fail(err, ZB_ENOMEM, "no memory for an encoded chunk")
                            : zb__chain_run(&g->change, edge, scratch, chunk->data, chunk->size,
                                            out, (size_t)bound, &written, err);
    if (code) {
        zb__stored_chunk stored = chunk_at(g, item);
        const zb__leaf leaf = {.chunk = &stored,
                               .inner = stored.layout->shard ? g->placed[item].number : UINT64_MAX};
        free(out);
        return zb__leaf_add_context(&leaf, code, err);
    }
    if (!out)
        return ZB_OK;
    if (!bound)
        memcpy(out, chunk->data, chunk->size);
    uint8_t *fit = realloc(out, written);
    chunk->data = fit ? fit : out;
    chunk->size = written;
    return ZB_OK;
}

/* Whether the bytes of any chunk change, at the array's edge for one. */
static bool changes_any(const getting *g) {
    zb__chain_edge place;
    const zb__chain_edge *edge;
    bool any = false;
    for (size_t i = 0; i < g->count && !any; i++)
        any = room_of(g, &g->chunks[i], &place, &edge) != 0;
    return any;
}

/* If any chunk changes all get memory of their own, and that of what was read is free then. */
static enum zb_code change_all(getting *g, zb_error *err) {
    void **memory = malloc((g->count + 1) * sizeof *memory);
    if (!memory)
        return zb_fail(err, ZB_ENOMEM, "no memory for encoded chunks");
    g->is_copied = changes_any(g);
    for (size_t i = 0; i < g->count && g->is_copied; i++) {
        memory[i] = g->chunks[i].memory;
        g->chunks[i].memory = (void *)(uintptr_t)g->chunks[i].data; /* what it was before */
    }
    enum zb_code code = zb__pool_run(change_one, g, g->count, 0, err);
    for (size_t i = 0; i < g->count && g->is_copied; i++) {
        const bool is_changed = g->chunks[i].data != g->chunks[i].memory;
        g->chunks[i].memory = is_changed ? (void *)(uintptr_t)g->chunks[i].data : NULL;
    }
    for (size_t i = 0; i < g->count && g->is_copied; i++)
        free(memory[i]);
    free(memory);
    return code;
}

static enum zb_code run(getting *g, size_t stored, zb_error *err) {
    const size_t width = zb__store_width(zb__node_store(g->node), 0);
    enum zb_code code = ZB_OK;
    if (width) {
        zb__lane lane;
        zb__lane_begin_reading(&lane, get_stored, g, width);
        for (size_t i = 0; i < stored && !code; i++)
            code = zb__lane_give(&lane, i, err);
        code = zb__lane_end(&lane, code, err);
    } else {
        code = zb__pool_run(get_stored, g, stored, 0, err);
    }
    if (!code && g->to)
        code = change_all(g, err);
    return code ? code : zb_array_still(g->node, err);
}

static enum zb_code get(const zb_node *array, const zb_chain *to, zb_encoded *chunks, size_t count,
                        zb__encoded_room *room, zb_error *err) {
    const zb__chunk_layout *layout;
    getting g = {.node = array, .to = to, .chunks = chunks, .count = count, .room = room};
    zb__placed *placed = NULL;
    size_t stored = 0;
    for (size_t i = 0; i < count; i++) {
        chunks[i].data = chunks[i].memory = NULL;
        chunks[i].size = 0;
        chunks[i].chain = to;
    }
    enum zb_code code = check_array(array, &layout, err);
    if (!code && to) {
        g.change = zb__chain_compare(layout, to->layout);
        if (g.change.way == ZB_CHAIN_NONE)
            code = zb_fail(err, ZB_EUNSUPPORTED, "array /%s: encoded chunks cannot be moved: %s",
                           array->path, g.change.reason);
    }
    if (code)
        return code;
    code = zb__encoded_sort(array, chunks, count, &placed, err);
    g.placed = placed;
    g.first = malloc((count + 1) * sizeof *g.first);
    if (!code && !g.first)
        code = zb_fail(err, ZB_ENOMEM, "no memory for the places of chunks");
    for (size_t i = 0; i < count && !code;
         i = zb__placed_end(placed, i, count, array->array->info.ndim))
        g.first[stored++] = i;
    if (!code) {
        g.first[stored] = count;
        code = run(&g, stored, err);
    }
    if (code)
        zb_encoded_clear(chunks, count);
    free(placed);
    free(g.first);
    return code;
}

enum zb_code zb_array_get_encoded(const zb_node *array, const zb_chain *to, zb_encoded *chunks,
                                  size_t count, zb_error *err) {
    return get(array, to, chunks, count, NULL, err);
}

enum zb_code zb__encoded_read(const zb_node *array, zb_encoded *chunks, size_t count,
                              zb__encoded_room *room, zb_error *err) {
    return get(array, NULL, chunks, count, room, err);
}
