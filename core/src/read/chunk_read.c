/* SPDX-License-Identifier: MIT */
/* The course of one stored chunk through a flow: see flow_state.h. */
#include "read/flow_state.h"

#include <stdlib.h>

#include "array/array.h"
#include "codec/chunk_layout.h"
#include "hierarchy/staged.h"
#include "node/current.h"
#include "node/node.h"
#include "read/cache.h"
#include "read/leaf.h"
#include "util/lru.h"
#include "util/reuse.h"
#include "zarrbridge/sys/store.h"

/* Bytes asked for beside an index, for inner chunks there that are wanted: at most these, and no
   more than the chunk read may read in vain. */
#define BESIDE_INDEX ((uint64_t)4 << 10)
/* A shard of at most this decoded size, of which nearly all is wanted, is read with one request.
   Bytes. */
#define WHOLE_SHARD ((uint64_t)16 << 20)

static enum zb_code no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the plan of a read");
}

void zb__chunk_request_append(zb__chunk_request_list *list, zb__chunk_request *request) {
    request->next = NULL;
    if (list->last)
        list->last->next = request;
    else
        list->first = request;
    list->last = request;
    list->count++;
}

static zb__chunk_request *new_request(zb__chunk_read *chunk_read, zb__request_kind kind,
                                      zb__chunk_request_list *more, zb_error *err) {
    zb__chunk_request *request = calloc(1, sizeof *request);
    if (!request) {
        no_memory(err);
        return NULL;
    }
    request->chunk_read = chunk_read;
    request->kind = kind;
    zb__chunk_request_append(more, request);
    return request;
}

/* ---- Held bytes --------------------------------------------------------------------------- */

/* Takes over the bytes that have come with a request. */
static enum zb_code hold(zb__chunk_request *request, uint64_t offset, zb_error *err) {
    zb__held *held = malloc(sizeof *held);
    if (!held)
        return no_memory(err);
    *held = (zb__held){.next = request->chunk_read->held,
                       .data = request->data,
                       .offset = offset,
                       .size = request->got};
    request->chunk_read->held = held;
    request->data = NULL;
    return ZB_OK;
}

/* The bytes [offset, offset + size) where they are held, else NULL. */
static const uint8_t *find_held(const zb__chunk_read *chunk_read, uint64_t offset, uint64_t size) {
    for (const zb__held *held = chunk_read->held; held; held = held->next) {
        if (offset >= held->offset && size <= held->size &&
            offset - held->offset <= held->size - size)
            return held->data + (offset - held->offset);
    }
    return NULL;
}

/* ---- Asking ------------------------------------------------------------------------------- */

static bool is_open_shard(const zb__chunk_layout *layout) {
    return layout->shard && layout->pipeline->codec_count == 0;
}

/* True if no more elements of the chunk that lie in the array are unwanted than may come in vain,
   and no more than one in eight. */
static bool wants_most(const zb__chunk_read *chunk_read) {
    const zb__stored_chunk *chunk = chunk_read->chunk;
    const zb__array *array = chunk->node->array;
    const uint64_t wanted = zb__stored_chunk_wanted(chunk);
    uint64_t inside = 1;
    for (uint32_t d = 0; d < array->info.ndim; d++)
        inside *=
            zb__span_inside(zb__grid_at(&array->grid, d, chunk->index[d]), array->info.shape[d]);
    const uint64_t item = chunk->layout->pipeline->dtype.size;
    return wanted >= inside - inside / 8 && (inside - wanted) * item <= chunk_read->spare;
}

static enum zb_code request_whole(zb__chunk_read *chunk_read, uint64_t most,
                                  zb__chunk_request_list *more, zb_error *err) {
    zb__chunk_request *request = new_request(chunk_read, ZB__REQUEST_OBJECT, more, err);
    if (!request)
        return ZB_ENOMEM;
    request->size = ZB_WHOLE;
    request->most = most;
    return ZB_OK;
}

/* True if a shard comes faster whole than by its index first. */
static bool comes_whole(const zb__chunk_read *chunk_read) {
    const uint64_t size = chunk_read->chunk->layout->decoded_size;
    return !chunk_read->never_whole &&
           (size <= zb__node_store(chunk_read->chunk->node)->hints.small ||
            (size <= WHOLE_SHARD && wants_most(chunk_read)));
}

/* The bytes that are asked for beside an index. Called in turns, or in the first step. */
static uint64_t take_beside(zb__chunk_read *chunk_read) {
    const uint64_t bytes = chunk_read->spare < BESIDE_INDEX ? chunk_read->spare : BESIDE_INDEX;
    chunk_read->spare -= bytes;
    return bytes;
}

/* Asks for the index of the object itself. Where it lies at the end, its place is known only when
   the answer tells the size. */
static enum zb_code request_index(zb__chunk_read *chunk_read, zb__chunk_request_list *more,
                                  zb_error *err) {
    const zb__chunk_layout *layout = chunk_read->chunk->layout;
    if (comes_whole(chunk_read))
        return request_whole(chunk_read,
                             2 * layout->decoded_size + layout->shard->index_size + ZB__CODEC_SLACK,
                             more, err);
    zb__chunk_request *request = new_request(chunk_read, ZB__REQUEST_INDEX, more, err);
    if (!request)
        return ZB_ENOMEM;
    request->size = layout->shard->index_size + take_beside(chunk_read); /* below index_bytes */
    request->offset = layout->shard->index_at_start ? 0 : ZB_FROM_END;
    chunk_read->indexes++;
    return ZB_OK;
}

/* Asks for the index of an inner shard, whose place is known. */
static enum zb_code request_inner_index(zb__chunk_read *chunk_read, zb__leaf *shard,
                                        uint64_t offset, size_t size, zb__chunk_request_list *more,
                                        zb_error *err) {
    zb__chunk_request *request = new_request(chunk_read, ZB__REQUEST_INDEX, more, err);
    if (!request)
        return ZB_ENOMEM;
    uint64_t end = shard->offset + shard->size, most = size + take_beside(chunk_read);
    most = most < shard->size ? most : shard->size;
    request->shard = shard;
    request->offset = shard->layout->shard->index_at_start ? offset : end - most;
    request->size = most;
    chunk_read->indexes++;
    return ZB_OK;
}

/* ---- Data --------------------------------------------------------------------------------- */

static enum zb_code request_ranged_read(zb__chunk_read *chunk_read,
                                        const zb__ranged_read *ranged_read,
                                        zb__chunk_request_list *more, zb_error *err) {
    zb__chunk_request *request = new_request(chunk_read, ZB__REQUEST_DATA, more, err);
    if (!request)
        return ZB_ENOMEM;
    request->ranged_read = *ranged_read;
    request->offset = ranged_read->offset;
    request->size = ranged_read->size;
    return ZB_OK;
}

/* Decoded chunks of a version that may be another one are not looked for. */
static bool is_certain(zb__version_state version) {
    return version == ZB__VERSION_CONFIRMED || version == ZB__VERSION_ANSWERED;
}

/* Asks for the bytes of all leaves that need some. Sets *reads to whether any does. */
static enum zb_code request_leaves(zb__chunk_read *chunk_read, zb__version_state version,
                                   bool *reads, zb__chunk_request_list *more, zb_error *err) {
    zb__stored_chunk *chunk = chunk_read->chunk;
    const zb_store_hints *hints = &zb__node_store(chunk->node)->hints;
    const uint64_t part = hints->part ? hints->part : hints->max_request;
    enum zb_code code = zb__stored_chunk_sort(chunk, err);
    for (zb__leaf *leaf = chunk->leaves; leaf && !code; leaf = leaf->next)
        leaf->held = leaf->missing
                         ? NULL
                         : find_held(chunk_read, zb__leaf_begin(leaf), zb__leaf_length(leaf));
    zb__ranged_read_list ranged_reads = {0};
    const uint64_t reach = zb__store_coalesce_reach(zb__node_store(chunk->node));
    const bool is_ahead = chunk_read->is_ahead; /* then the share of unwanted bytes counts always */
    const zb__coalesce_rule rule = {.gap = is_ahead ? 0 : hints->gap,
                                    .reach = is_ahead && reach < hints->gap ? hints->gap : reach,
                                    .most = part,
                                    .spare = chunk_read->spare,
                                    .requests = is_ahead ? 1 : chunk_read->share,
                                    .looks_up = is_certain(version),
                                    .joins_raw = true};
    if (!code)
        code = zb__ranged_reads_add(&ranged_reads, chunk, &rule, err);
    *reads = false;
    for (size_t i = 0; i < ranged_reads.count && !code; i++) {
        *reads = *reads || ranged_reads.items[i].size > 0;
        code = request_ranged_read(chunk_read, &ranged_reads.items[i], more, err);
    }
    free(ranged_reads.items);
    return code;
}

/* Expands shards whose index is held, as long as there are such, and requests for the other
   indexes; for the data when no index is missing any more. Called in turns. */
static enum zb_code go_down(zb__chunk_read *chunk_read, zb__version_state version,
                            zb__chunk_request_list *more, zb__scratch *scratch, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (zb__leaf *shard; !code && (shard = chunk_read->chunk->waiting);) {
        zb__source source = {.offset = shard->offset, .size = shard->size};
        uint64_t offset = 0;
        size_t size = 0;
        chunk_read->chunk->waiting = shard->next;
        code = zb__index_place(shard->layout->shard, &source, &offset, &size, err);
        if (code)
            return zb__leaf_add_context(shard, code, err);
        const uint8_t *encoded = find_held(chunk_read, offset, size);
        code = encoded ? zb__leaf_expand_by(shard, encoded, size, scratch, err)
                       : request_inner_index(chunk_read, shard, offset, size, more, err);
    }
    bool reads;
    return code || chunk_read->indexes > 0 ? code
                                           : request_leaves(chunk_read, version, &reads, more, err);
}

/* ---- Steps -------------------------------------------------------------------------------- */

/* Drops asks that were made and not handed on. */
static void drop(zb__chunk_request_list *more) {
    for (zb__chunk_request *request = more->first; request;) {
        zb__chunk_request *next = request->next;
        free(request);
        request = next;
    }
    *more = (zb__chunk_request_list){0};
}

static void drop_leaves(zb__stored_chunk *chunk) {
    for (zb__leaf *leaf = chunk->leaves; leaf; leaf = leaf->next)
        zb__lru_release(leaf->cached);
    chunk->leaves = chunk->waiting = NULL;
    chunk->leaf_count = 0;
}

static enum zb_code fill(zb__chunk_read *chunk_read, zb__scratch *scratch, zb_error *err) {
    zb__leaf whole = zb__stored_chunk_whole(chunk_read->chunk);
    whole.missing = true;
    return zb__ranged_read_run_leaf(&whole, NULL, scratch, err);
}

/* Takes the shortest way to the data that what is known allows. An index that tells of nothing to
   be read leaves no request whose answer could confirm the version: then it is asked for anew,
   unless the version is fresh. */
static enum zb_code start_shard(zb__chunk_read *chunk_read, zb__chunk_request_list *more,
                                zb__scratch *scratch, zb_error *err) {
    zb__stored_chunk *chunk = chunk_read->chunk;
    zb__leaf whole = zb__stored_chunk_whole(chunk);
    const bool expects = zb__chunk_read_expects(chunk_read);
    enum zb_code code = expects ? zb__leaf_expand(&whole, scratch, err) : ZB_OK;
    bool has_index = expects && !(chunk->waiting && chunk->waiting->inner == UINT64_MAX);
    bool reads = false;
    if (code)
        return code;
    if (has_index && chunk->waiting) {
        code =
            /* to inner indexes: they are read */
            go_down(chunk_read, chunk_read->version, more, scratch, err);
        reads = true;
    } else if (has_index) {
        code = request_leaves(chunk_read, chunk_read->version, &reads, more, err);
    }
    if (code || (has_index && (reads || is_certain(chunk_read->version))))
        return code;
    drop(more);
    drop_leaves(chunk);
    chunk_read->version = ZB__VERSION_UNKNOWN;
    chunk->info = (zb_object_info){0};
    return request_index(chunk_read, more, err);
}

/* A raw chunk has but one size, so that its bytes are asked for by their place. Until the object is
   open, by one request: the others are to come from the same version. */
static enum zb_code start_raw(zb__chunk_read *chunk_read, zb__chunk_request_list *more,
                              zb__scratch *scratch, zb_error *err) {
    zb__chunk_request_list all = {0};
    zb__leaf whole = zb__stored_chunk_whole(chunk_read->chunk);
    bool reads;
    whole.size = chunk_read->chunk->layout->encoded_bound;
    if (chunk_read->chunk->info.size != whole.size)
        chunk_read->version = ZB__VERSION_UNKNOWN;
    enum zb_code code = zb__leaf_expand(&whole, scratch, err);
    if (!code)
        code = request_leaves(chunk_read, chunk_read->version, &reads, &all, err);
    if (code) {
        drop(&all);
        return code;
    }
    if (zb__chunk_read_expects(chunk_read) || all.count < 2) {
        *more = all;
        return ZB_OK;
    }
    zb__chunk_request *first = all.first;
    chunk_read->later =
        (zb__chunk_request_list){.first = first->next, .last = all.last, .count = all.count - 1};
    zb__chunk_request_append(more, first);
    return ZB_OK;
}

static enum zb_code start_encoded(zb__chunk_read *chunk_read, zb__chunk_request_list *more,
                                  zb_error *err) {
    zb__leaf whole = zb__stored_chunk_whole(chunk_read->chunk);
    if (is_certain(chunk_read->version))
        zb__leaf_look_up(&whole);
    chunk_read->version = ZB__VERSION_UNKNOWN; /* one request tells all */
    if (!whole.cached)
        return request_whole(chunk_read, chunk_read->chunk->layout->encoded_bound, more, err);
    zb__leaf *leaf = zb__arena_alloc(&chunk_read->chunk->arena, sizeof *leaf);
    if (!leaf) {
        zb__lru_release(whole.cached);
        return no_memory(err);
    }
    *leaf = whole;
    chunk_read->chunk->leaves = leaf;
    chunk_read->chunk->leaf_count = 1;
    const zb__ranged_read ranged_read = {.chunk = chunk_read->chunk, .first = leaf, .count = 1};
    return request_ranged_read(chunk_read, &ranged_read, more, err);
}

static enum zb_code start(zb__chunk_read *chunk_read, zb__chunk_request_list *more,
                          zb__scratch *scratch, zb_error *err) {
    zb__stored_chunk *chunk = chunk_read->chunk;
    zb__cached_version known;
    enum zb_code code = chunk->layout ? ZB_OK : zb__stored_chunk_begin(chunk, err);
    if (code)
        return code;
    if (!chunk_read->name)
        chunk_read->name = zb__array_chunk_key(chunk->node, chunk->index);
    if (!chunk_read->name)
        return no_memory(err);
    if (zb__place_of(chunk->node->hierarchy, chunk_read->name) != zb__node_store(chunk->node))
        return fill(chunk_read, scratch, err); /* in a new store, into which nothing has been put */
    bool is_known = zb__version_cache_find(chunk, &known);
    const bool is_fresh = is_known && zb__cached_version_is_fresh(chunk, &known);
    if (is_fresh && known.is_missing) {
        zb__array_note_missing(chunk->node);
        return fill(chunk_read, scratch, err);
    }
    if (is_known && !known.is_missing) {
        chunk_read->version = is_fresh ? ZB__VERSION_CONFIRMED : ZB__VERSION_EXPECTED;
        chunk->info = known.info;
    }
    if (is_open_shard(chunk->layout))
        return start_shard(chunk_read, more, scratch, err);
    return chunk->layout->pipeline->is_raw ? start_raw(chunk_read, more, scratch, err)
                                           : start_encoded(chunk_read, more, err);
}

/* All bytes of a chunk that is no open shard. */
static enum zb_code take_encoded(zb__chunk_request *request, zb__scratch *scratch, zb_error *err) {
    zb__stored_chunk *chunk = request->chunk_read->chunk;
    zb__leaf whole = zb__stored_chunk_whole(chunk);
    enum zb_code code = zb__chunk_layout_check_stored(chunk->layout, whole.size, err);
    if (code)
        return zb__leaf_add_context(&whole, code, err);
    zb__leaf_look_up(&whole);
    return zb__ranged_read_run_leaf(&whole, request->data, scratch, err);
}

/* The bytes with the index, or all bytes, of a shard. */
static enum zb_code take_index(zb__chunk_request *request, zb__chunk_request_list *more,
                               zb__scratch *scratch, zb_error *err) {
    zb__chunk_read *chunk_read = request->chunk_read;
    zb__stored_chunk *chunk = chunk_read->chunk;
    zb__leaf whole = zb__stored_chunk_whole(chunk);
    zb__leaf *shard =
        request->shard ? request->shard : zb__arena_alloc(&chunk->arena, sizeof *shard);
    if (!shard)
        return no_memory(err);
    if (!request->shard)
        *shard = whole;
    uint64_t size = request->size < chunk->info.size ? request->size : chunk->info.size;
    if (request->got != size)
        return zb__leaf_add_context(
            shard, zb_fail(err, ZB_EIO, "the shard became shorter while its index was read"), err);
    enum zb_code code = hold(
        request, request->offset == ZB_FROM_END ? chunk->info.size - request->got : request->offset,
        err);
    chunk_read->indexes -= request->kind == ZB__REQUEST_INDEX;
    shard->next = chunk->waiting;
    chunk->waiting = shard;
    return code ? code : go_down(chunk_read, request->version, more, scratch, err);
}

static enum zb_code take_data(zb__chunk_request *request, zb__chunk_request_list *more,
                              zb__scratch *scratch, zb_error *err) {
    zb__chunk_read *chunk_read = request->chunk_read;
    const zb__chunk_layout *layout = chunk_read->chunk->layout;
    enum zb_code code = ZB_OK;
    if (request->size > 0 && layout->pipeline->is_raw && !layout->shard)
        code = zb__chunk_layout_check_stored(layout, chunk_read->chunk->info.size, err);
    if (!code && request->got != request->size)
        code = zb_fail(err, ZB_EIO, "the object became shorter while it was read");
    if (code)
        return zb__leaf_add_context(request->ranged_read.first, code, err);
    if (chunk_read->later.first) {
        *more = chunk_read->later;
        chunk_read->later = (zb__chunk_request_list){0};
    }
    return zb__ranged_read_run(&request->ranged_read, request->data, scratch, err);
}

enum zb_code zb__chunk_read_step(zb__chunk_request *request, zb__chunk_request_list *more,
                                 zb__scratch *scratch, zb_error *err) {
    zb__chunk_read *chunk_read = request->chunk_read;
    if (request->kind == ZB__REQUEST_START)
        return start(chunk_read, more, scratch, err);
    if (request->version == ZB__VERSION_ABSENT)
        return fill(chunk_read, scratch, err);
    if (request->kind == ZB__REQUEST_DATA)
        return take_data(request, more, scratch, err);
    if (request->kind == ZB__REQUEST_OBJECT && !is_open_shard(chunk_read->chunk->layout))
        return take_encoded(request, scratch, err);
    pthread_mutex_lock(&chunk_read->turn);
    enum zb_code code = take_index(request, more, scratch, err);
    pthread_mutex_unlock(&chunk_read->turn);
    return code;
}

void zb__chunk_request_again(zb__chunk_request *request) {
    zb__in_flight_leave(&request->flight);
    request->kind = ZB__REQUEST_START;
    request->size = 0;
    request->chunk_read->indexes = 0;
    request->chunk_read->has_waited = true;
}

/* ---- Life --------------------------------------------------------------------------------- */

static bool is_read_ahead(const zb__stored_chunk *chunk) {
    const zb__piece *piece = chunk->pieces;
    while (piece && piece->target->is_ahead)
        piece = piece->next;
    return !piece;
}

zb__chunk_read *zb__chunk_read_new(zb__stored_chunk *chunk, size_t count, size_t in_flight,
                                   zb__chunk_request_list *more) {
    zb__chunk_read *chunk_read = calloc(1, sizeof *chunk_read);
    if (!chunk_read)
        return NULL;
    chunk_read->chunk = chunk;
    chunk_read->spare = ZB__SPARE_BYTES / count;
    chunk_read->share = in_flight > count ? in_flight / count : 1;
    chunk_read->is_ahead = is_read_ahead(chunk);
    pthread_mutex_init(&chunk_read->turn, NULL);
    if (new_request(chunk_read, ZB__REQUEST_START, more, NULL))
        return chunk_read;
    zb__chunk_read_free(chunk_read);
    return NULL;
}

enum zb_code zb__chunk_read_reset(zb__chunk_read *chunk_read, bool anew,
                                  zb__chunk_request_list *more, zb_error *err) {
    zb__stored_chunk *chunk = chunk_read->chunk;
    for (zb__chunk_request *request = chunk_read->all; request;) {
        zb__chunk_request *sibling = request->sibling;
        zb__reuse_give(request->data);
        free(request);
        request = sibling;
    }
    for (zb__held *held = chunk_read->held; held;) {
        zb__held *next = held->next;
        zb__reuse_give(held->data);
        free(held);
        held = next;
    }
    drop(&chunk_read->later);
    drop_leaves(chunk);
    zb_object_close(chunk->object);
    chunk->object = NULL;
    zb__arena_free(&chunk->arena);
    zb__array_chunk_layout_end(chunk->node->array, chunk->layout);
    chunk->layout = NULL;
    free(chunk_read->name);
    chunk_read->name = NULL;
    chunk_read->all = NULL;
    chunk_read->held = NULL;
    chunk_read->indexes = 0;
    chunk_read->version = ZB__VERSION_UNKNOWN;
    chunk_read->has_waited = false;
    return !anew || new_request(chunk_read, ZB__REQUEST_START, more, err) ? ZB_OK : ZB_ENOMEM;
}

void zb__chunk_read_free(zb__chunk_read *chunk_read) {
    if (!chunk_read)
        return;
    pthread_mutex_destroy(&chunk_read->turn);
    free(chunk_read);
}
