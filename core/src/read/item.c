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

/* Bytes asked for beside an index: the inner chunks there are often wanted, and bytes that come
   along cost less than another way to the server. */
#define BESIDE_INDEX ((size_t)64 << 10)
/* A shard of at most this decoded size, of which half is wanted, is read with one request.
   Bytes. */
#define WHOLE_SHARD ((uint64_t)16 << 20)

static enum zb_code no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the plan of a read");
}

void zb__ask_append(zb__ask_list *list, zb__ask *ask) {
    ask->next = NULL;
    if (list->last)
        list->last->next = ask;
    else
        list->first = ask;
    list->last = ask;
    list->count++;
}

static zb__ask *new_ask(zb__item *item, zb__ask_kind kind, zb__ask_list *more, zb_error *err) {
    zb__ask *ask = calloc(1, sizeof *ask);
    if (!ask) {
        no_memory(err);
        return NULL;
    }
    ask->item = item;
    ask->kind = kind;
    zb__ask_append(more, ask);
    return ask;
}

/* ---- Held bytes --------------------------------------------------------------------------- */

/* Takes over the bytes that have come with an ask. */
static enum zb_code hold(zb__ask *ask, uint64_t offset, zb_error *err) {
    zb__held *held = malloc(sizeof *held);
    if (!held)
        return no_memory(err);
    *held =
        (zb__held){.next = ask->item->held, .data = ask->data, .offset = offset, .size = ask->got};
    ask->item->held = held;
    ask->data = NULL;
    return ZB_OK;
}

/* The bytes [offset, offset + size) where they are held, else NULL. */
static const uint8_t *find_held(const zb__item *item, uint64_t offset, uint64_t size) {
    for (const zb__held *held = item->held; held; held = held->next) {
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

/* True if at least half of the elements of the chunk that lie in the array are wanted. */
static bool wants_half(const zb__stored_chunk *chunk) {
    const zb__array *array = chunk->node->array;
    uint32_t ndim = array->info.ndim;
    const uint64_t wanted = zb__stored_chunk_wanted(chunk);
    uint64_t inside = 1;
    for (uint32_t d = 0; d < ndim; d++)
        inside *=
            zb__span_inside(zb__grid_at(&array->grid, d, chunk->index[d]), array->info.shape[d]);
    return wanted >= inside - inside / 2;
}

static enum zb_code ask_whole(zb__item *item, uint64_t most, zb__ask_list *more, zb_error *err) {
    zb__ask *ask = new_ask(item, ZB__ASK_OBJECT, more, err);
    if (!ask)
        return ZB_ENOMEM;
    ask->size = ZB_WHOLE;
    ask->most = most;
    return ZB_OK;
}

/* True if a shard comes faster whole than by its index first. */
static bool comes_whole(const zb__item *item) {
    const uint64_t size = item->chunk->layout->decoded_size;
    return !item->never_whole && (size <= zb__node_store(item->chunk->node)->hints.small ||
                                  (size <= WHOLE_SHARD && wants_half(item->chunk)));
}

/* Asks for the index of the object itself. Where it lies at the end, its place is known only when
   the answer tells the size. */
static enum zb_code ask_index(zb__item *item, zb__ask_list *more, zb_error *err) {
    const zb__chunk_layout *layout = item->chunk->layout;
    if (comes_whole(item))
        return ask_whole(item,
                         2 * layout->decoded_size + layout->shard->index_size + ZB__CODEC_SLACK,
                         more, err);
    zb__ask *ask = new_ask(item, ZB__ASK_INDEX, more, err);
    if (!ask)
        return ZB_ENOMEM;
    ask->size = layout->shard->index_size + BESIDE_INDEX; /* below the limit index_bytes */
    ask->offset = layout->shard->index_at_start ? 0 : ZB_FROM_END;
    item->indexes++;
    return ZB_OK;
}

/* Asks for the index of an inner shard, whose place is known. */
static enum zb_code ask_inner_index(zb__item *item, zb__leaf *shard, uint64_t offset, size_t size,
                                    zb__ask_list *more, zb_error *err) {
    zb__ask *ask = new_ask(item, ZB__ASK_INDEX, more, err);
    if (!ask)
        return ZB_ENOMEM;
    uint64_t end = shard->offset + shard->size, most = size + BESIDE_INDEX;
    most = most < shard->size ? most : shard->size;
    ask->shard = shard;
    ask->offset = shard->layout->shard->index_at_start ? offset : end - most;
    ask->size = most;
    item->indexes++;
    return ZB_OK;
}

/* ---- Data --------------------------------------------------------------------------------- */

static enum zb_code ask_task(zb__item *item, const zb__task *task, zb__ask_list *more,
                             zb_error *err) {
    zb__ask *ask = new_ask(item, ZB__ASK_DATA, more, err);
    if (!ask)
        return ZB_ENOMEM;
    ask->task = *task;
    ask->offset = task->offset;
    ask->size = task->size;
    return ZB_OK;
}

/* Decoded chunks of a version that may be another one are not looked for. */
static bool is_certain(zb__version_state version) {
    return version == ZB__VERSION_CONFIRMED || version == ZB__VERSION_ANSWERED;
}

/* Asks for the bytes of all leaves that need some. Sets *reads to whether any does. */
static enum zb_code ask_leaves(zb__item *item, zb__version_state version, bool *reads,
                               zb__ask_list *more, zb_error *err) {
    zb__stored_chunk *chunk = item->chunk;
    const zb_store_hints *hints = &zb__node_store(chunk->node)->hints;
    const uint64_t part = hints->part ? hints->part : hints->max_request;
    enum zb_code code = zb__stored_chunk_sort(chunk, err);
    for (zb__leaf *leaf = chunk->leaves; leaf && !code; leaf = leaf->next)
        leaf->held =
            leaf->missing ? NULL : find_held(item, zb__leaf_begin(leaf), zb__leaf_length(leaf));
    zb__task_list tasks = {0};
    const zb__task_rule rule = {.gap = hints->gap,
                                .reach = zb__store_reach(zb__node_store(chunk->node)),
                                .most = part,
                                .looks_up = is_certain(version),
                                .joins_raw = true};
    if (!code)
        code = zb__tasks_add(&tasks, chunk, &rule, err);
    *reads = false;
    for (size_t i = 0; i < tasks.count && !code; i++) {
        *reads = *reads || tasks.items[i].size > 0;
        code = ask_task(item, &tasks.items[i], more, err);
    }
    free(tasks.items);
    return code;
}

/* Expands shards whose index is held, as long as there are such, and asks for the other indexes;
   for the data when no index is missing any more. Called in turns. */
static enum zb_code go_down(zb__item *item, zb__version_state version, zb__ask_list *more,
                            zb__scratch *scratch, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (zb__leaf *shard; !code && (shard = item->chunk->waiting);) {
        zb__source source = {.offset = shard->offset, .size = shard->size};
        uint64_t offset = 0;
        size_t size = 0;
        item->chunk->waiting = shard->next;
        code = zb__index_place(shard->layout->shard, &source, &offset, &size, err);
        if (code)
            return zb__leaf_add_context(shard, code, err);
        const uint8_t *encoded = find_held(item, offset, size);
        code = encoded ? zb__leaf_expand_by(shard, encoded, size, scratch, err)
                       : ask_inner_index(item, shard, offset, size, more, err);
    }
    bool reads;
    return code || item->indexes > 0 ? code : ask_leaves(item, version, &reads, more, err);
}

/* ---- Steps -------------------------------------------------------------------------------- */

/* Drops asks that were made and not handed on. */
static void drop(zb__ask_list *more) {
    for (zb__ask *ask = more->first; ask;) {
        zb__ask *next = ask->next;
        free(ask);
        ask = next;
    }
    *more = (zb__ask_list){0};
}

static void drop_leaves(zb__stored_chunk *chunk) {
    for (zb__leaf *leaf = chunk->leaves; leaf; leaf = leaf->next)
        zb__lru_release(leaf->cached);
    chunk->leaves = chunk->waiting = NULL;
    chunk->leaf_count = 0;
}

static enum zb_code fill(zb__item *item, zb__scratch *scratch, zb_error *err) {
    zb__leaf whole = zb__stored_chunk_whole(item->chunk);
    whole.missing = true;
    return zb__task_run_leaf(&whole, NULL, scratch, err);
}

/* Takes the shortest way to the data that what is known allows. An index that tells of nothing to
   be read leaves no request whose answer could confirm the version: then it is asked for anew,
   unless the version is fresh. */
static enum zb_code start_shard(zb__item *item, zb__ask_list *more, zb__scratch *scratch,
                                zb_error *err) {
    zb__stored_chunk *chunk = item->chunk;
    zb__leaf whole = zb__stored_chunk_whole(chunk);
    const bool expects = zb__item_expects(item);
    enum zb_code code = expects ? zb__leaf_expand(&whole, scratch, err) : ZB_OK;
    bool has_index = expects && !(chunk->waiting && chunk->waiting->inner == UINT64_MAX);
    bool reads = false;
    if (code)
        return code;
    if (has_index && chunk->waiting) {
        code =
            go_down(item, item->version, more, scratch, err); /* to inner indexes: they are read */
        reads = true;
    } else if (has_index) {
        code = ask_leaves(item, item->version, &reads, more, err);
    }
    if (code || (has_index && (reads || is_certain(item->version))))
        return code;
    drop(more);
    drop_leaves(chunk);
    item->version = ZB__VERSION_UNKNOWN;
    chunk->info = (zb_object_info){0};
    return ask_index(item, more, err);
}

/* A raw chunk has but one size, so that its bytes are asked for by their place. Until the object is
   open, by one request: the others are to come from the same version. */
static enum zb_code start_raw(zb__item *item, zb__ask_list *more, zb__scratch *scratch,
                              zb_error *err) {
    zb__ask_list all = {0};
    zb__leaf whole = zb__stored_chunk_whole(item->chunk);
    bool reads;
    whole.size = item->chunk->layout->encoded_bound;
    if (item->chunk->info.size != whole.size)
        item->version = ZB__VERSION_UNKNOWN;
    enum zb_code code = zb__leaf_expand(&whole, scratch, err);
    if (!code)
        code = ask_leaves(item, item->version, &reads, &all, err);
    if (code) {
        drop(&all);
        return code;
    }
    if (zb__item_expects(item) || all.count < 2) {
        *more = all;
        return ZB_OK;
    }
    zb__ask *first = all.first;
    item->later = (zb__ask_list){.first = first->next, .last = all.last, .count = all.count - 1};
    zb__ask_append(more, first);
    return ZB_OK;
}

static enum zb_code start_encoded(zb__item *item, zb__ask_list *more, zb_error *err) {
    zb__leaf whole = zb__stored_chunk_whole(item->chunk);
    if (is_certain(item->version))
        zb__leaf_look_up(&whole);
    item->version = ZB__VERSION_UNKNOWN; /* one request tells all */
    if (!whole.cached)
        return ask_whole(item, item->chunk->layout->encoded_bound, more, err);
    zb__leaf *leaf = zb__arena_alloc(&item->chunk->arena, sizeof *leaf);
    if (!leaf) {
        zb__lru_release(whole.cached);
        return no_memory(err);
    }
    *leaf = whole;
    item->chunk->leaves = leaf;
    item->chunk->leaf_count = 1;
    const zb__task task = {.chunk = item->chunk, .first = leaf, .count = 1};
    return ask_task(item, &task, more, err);
}

static enum zb_code start(zb__item *item, zb__ask_list *more, zb__scratch *scratch, zb_error *err) {
    zb__stored_chunk *chunk = item->chunk;
    zb__known known;
    enum zb_code code = chunk->layout ? ZB_OK : zb__stored_chunk_begin(chunk, err);
    if (code)
        return code;
    if (!item->name)
        item->name = zb__array_chunk_key(chunk->node, chunk->index);
    if (!item->name)
        return no_memory(err);
    if (zb__place_of(chunk->node->hierarchy, item->name) != zb__node_store(chunk->node))
        return fill(item, scratch, err); /* in a new store, into which nothing has been put */
    bool is_known = zb__known_find(chunk, &known);
    const bool is_fresh = is_known && zb__known_is_fresh(chunk, &known);
    if (is_fresh && known.is_missing) {
        zb__array_note_missing(chunk->node);
        return fill(item, scratch, err);
    }
    if (is_known && !known.is_missing) {
        item->version = is_fresh ? ZB__VERSION_CONFIRMED : ZB__VERSION_EXPECTED;
        chunk->info = known.info;
    }
    if (is_open_shard(chunk->layout))
        return start_shard(item, more, scratch, err);
    return chunk->layout->pipeline->is_raw ? start_raw(item, more, scratch, err)
                                           : start_encoded(item, more, err);
}

/* All bytes of a chunk that is no open shard. */
static enum zb_code take_encoded(zb__ask *ask, zb__scratch *scratch, zb_error *err) {
    zb__stored_chunk *chunk = ask->item->chunk;
    zb__leaf whole = zb__stored_chunk_whole(chunk);
    enum zb_code code = zb__chunk_layout_check_stored(chunk->layout, whole.size, err);
    if (code)
        return zb__leaf_add_context(&whole, code, err);
    zb__leaf_look_up(&whole);
    return zb__task_run_leaf(&whole, ask->data, scratch, err);
}

/* The bytes with the index, or all bytes, of a shard. */
static enum zb_code take_index(zb__ask *ask, zb__ask_list *more, zb__scratch *scratch,
                               zb_error *err) {
    zb__item *item = ask->item;
    zb__stored_chunk *chunk = item->chunk;
    zb__leaf whole = zb__stored_chunk_whole(chunk);
    zb__leaf *shard = ask->shard ? ask->shard : zb__arena_alloc(&chunk->arena, sizeof *shard);
    if (!shard)
        return no_memory(err);
    if (!ask->shard)
        *shard = whole;
    uint64_t size = ask->size < chunk->info.size ? ask->size : chunk->info.size;
    if (ask->got != size)
        return zb__leaf_add_context(
            shard, zb_fail(err, ZB_EIO, "the shard became shorter while its index was read"), err);
    enum zb_code code =
        hold(ask, ask->offset == ZB_FROM_END ? chunk->info.size - ask->got : ask->offset, err);
    item->indexes -= ask->kind == ZB__ASK_INDEX;
    shard->next = chunk->waiting;
    chunk->waiting = shard;
    return code ? code : go_down(item, ask->version, more, scratch, err);
}

static enum zb_code take_data(zb__ask *ask, zb__ask_list *more, zb__scratch *scratch,
                              zb_error *err) {
    zb__item *item = ask->item;
    const zb__chunk_layout *layout = item->chunk->layout;
    enum zb_code code = ZB_OK;
    if (ask->size > 0 && layout->pipeline->is_raw && !layout->shard)
        code = zb__chunk_layout_check_stored(layout, item->chunk->info.size, err);
    if (!code && ask->got != ask->size)
        code = zb_fail(err, ZB_EIO, "the object became shorter while it was read");
    if (code)
        return zb__leaf_add_context(ask->task.first, code, err);
    if (item->later.first) {
        *more = item->later;
        item->later = (zb__ask_list){0};
    }
    return zb__task_run(&ask->task, ask->data, scratch, err);
}

enum zb_code zb__item_step(zb__ask *ask, zb__ask_list *more, zb__scratch *scratch, zb_error *err) {
    zb__item *item = ask->item;
    if (ask->kind == ZB__ASK_START)
        return start(item, more, scratch, err);
    if (ask->version == ZB__VERSION_ABSENT)
        return fill(item, scratch, err);
    if (ask->kind == ZB__ASK_DATA)
        return take_data(ask, more, scratch, err);
    if (ask->kind == ZB__ASK_OBJECT && !is_open_shard(item->chunk->layout))
        return take_encoded(ask, scratch, err);
    pthread_mutex_lock(&item->turn);
    enum zb_code code = take_index(ask, more, scratch, err);
    pthread_mutex_unlock(&item->turn);
    return code;
}

void zb__ask_again(zb__ask *ask) {
    zb__in_flight_leave(&ask->flight);
    ask->kind = ZB__ASK_START;
    ask->size = 0;
    ask->item->indexes = 0;
    ask->item->has_waited = true;
}

/* ---- Life --------------------------------------------------------------------------------- */

zb__item *zb__item_new(zb__stored_chunk *chunk, zb__ask_list *more) {
    zb__item *item = calloc(1, sizeof *item);
    if (!item)
        return NULL;
    item->chunk = chunk;
    pthread_mutex_init(&item->turn, NULL);
    if (new_ask(item, ZB__ASK_START, more, NULL))
        return item;
    zb__item_free(item);
    return NULL;
}

enum zb_code zb__item_reset(zb__item *item, bool anew, zb__ask_list *more, zb_error *err) {
    zb__stored_chunk *chunk = item->chunk;
    for (zb__ask *ask = item->all; ask;) {
        zb__ask *sibling = ask->sibling;
        zb__reuse_give(ask->data);
        free(ask);
        ask = sibling;
    }
    for (zb__held *held = item->held; held;) {
        zb__held *next = held->next;
        zb__reuse_give(held->data);
        free(held);
        held = next;
    }
    drop(&item->later);
    drop_leaves(chunk);
    zb_object_close(chunk->object);
    chunk->object = NULL;
    zb__arena_free(&chunk->arena);
    zb__array_chunk_layout_end(chunk->node->array, chunk->layout);
    chunk->layout = NULL;
    free(item->name);
    item->name = NULL;
    item->all = NULL;
    item->held = NULL;
    item->indexes = 0;
    item->version = ZB__VERSION_UNKNOWN;
    item->has_waited = false;
    return !anew || new_ask(item, ZB__ASK_START, more, err) ? ZB_OK : ZB_ENOMEM;
}

void zb__item_free(zb__item *item) {
    if (!item)
        return;
    pthread_mutex_destroy(&item->turn);
    free(item);
}
