/* SPDX-License-Identifier: MIT */
/*
 * Executing a read: boxes are cut into stored chunks, and a bundle of stored chunks at a time is
 * read, by the way that suits its store (at_once.h, flow.h). See plan.h for the picture.
 */
#include "read/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "codec/chunk_layout.h"
#include "node/current.h"
#include "node/node.h"
#include "read/at_once.h"
#include "read/flow.h"
#include "read/leaf.h"
#include "read/piece.h"
#include "read/retry.h"
#include "util/list.h"
#include "util/lru.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* Pieces collected before they are grouped by chunk: bounds the plan's memory (about 300 bytes
 * each). */
#define WAVE_PIECES 16384
/* Keys expanded and run together: bounds open files. */
#define BATCH_KEYS 128

typedef struct wave {
    bool is_fresh;
    zb__progress *progress; /* NULL: nobody listens */
    zb__stored_chunk *chunks;
    size_t chunk_count, chunk_capacity;
    zb__arena arena; /* pieces and grid indexes of the stored chunks */
    zb__ranged_read_list ranged_reads;
} wave;

static enum zb_code no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the plan of a read");
}

/* ---- Keys --------------------------------------------------------------------------------- */

/* The chunk's number in C order, or UINT64_MAX when the grid has more chunks than that. */
static uint64_t number_of(const zb__array *array, const uint64_t *index) {
    uint64_t number = 0;
    for (uint32_t d = 0; d < array->info.ndim; d++) {
        if (__builtin_mul_overflow(number, array->chunk_count[d], &number) ||
            __builtin_add_overflow(number, index[d], &number))
            return UINT64_MAX;
    }
    return number;
}

static enum zb_code add_chunk(wave *w, const zb_node *node, const zb__cells *cells, zb_error *err) {
    uint32_t ndim = cells->grid.ndim;
    uint64_t *index = zb__arena_alloc(&w->arena, ndim * sizeof *index);
    zb__piece *piece = zb__cells_piece(cells, &w->arena, node->array->pipeline->axis);
    if (!index || !piece ||
        !zb__list_grow(&w->chunks, w->chunk_count, &w->chunk_capacity, sizeof(zb__stored_chunk)))
        return no_memory(err);
    memcpy(index, cells->cell, ndim * sizeof *index);
    /* A stored chunk without a number is not cached. */
    w->chunks[w->chunk_count++] =
        (zb__stored_chunk){.node = node,
                           .index = index,
                           .number = w->is_fresh ? UINT64_MAX : number_of(node->array, index),
                           .is_fresh = w->is_fresh,
                           .pieces = piece};
    return ZB_OK;
}

static int by_chunk(const void *a, const void *b) {
    const zb__stored_chunk *left = a, *right = b;
    if (left->node != right->node)
        return left->node < right->node ? -1 : 1;
    for (uint32_t d = 0; d < left->node->array->info.ndim; d++) {
        if (left->index[d] != right->index[d])
            return left->index[d] < right->index[d] ? -1 : 1;
    }
    return 0;
}

/* Leaves each stored chunk once, with all pieces of it: several boxes may touch it. */
static void group_chunks(wave *w) {
    qsort(w->chunks, w->chunk_count, sizeof(zb__stored_chunk), by_chunk);
    size_t kept = 0;
    for (size_t i = 0; i < w->chunk_count; i++) {
        if (kept > 0 && by_chunk(&w->chunks[kept - 1], &w->chunks[i]) == 0) {
            w->chunks[i].pieces->next = w->chunks[kept - 1].pieces;
            w->chunks[kept - 1].pieces = w->chunks[i].pieces;
        } else {
            w->chunks[kept++] = w->chunks[i];
        }
    }
    w->chunk_count = kept;
}

/* ---- Running ------------------------------------------------------------------------------ */

static void release_bundle(zb__stored_chunk *chunks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (zb__leaf *leaf = chunks[i].leaves; leaf; leaf = leaf->next)
            zb__lru_release(leaf->cached);
        zb_object_close(chunks[i].object);
        zb__arena_free(&chunks[i].arena);
        zb__array_chunk_layout_end(chunks[i].node->array, chunks[i].layout);
        chunks[i].layout = NULL;
        chunks[i].object = NULL;
        chunks[i].leaves = NULL;
        chunks[i].leaf_count = 0;
    }
}

static bool flows(const zb_store *store) {
    return !store->hints.is_local && zb_store_can_submit(store);
}

static enum zb_code look(void *context, zb__stored_chunk *chunks, size_t count, zb_error *err) {
    wave *w = context;
    enum zb_code code = flows(zb__node_store(chunks->node))
                            ? zb__flow_run(chunks, count, w->progress, err)
                            : zb__at_once_run(chunks, count, &w->ranged_reads, err);
    release_bundle(chunks, count);
    return code;
}

static bool lacks_descriptors(const zb_error *error) {
    return error->sys_errno == EMFILE || error->sys_errno == ENFILE;
}

/* A bundle has an object open for each stored chunk. Where the process may not have that many
   descriptors, the bundle is split in halves. */
static enum zb_code run_bundle(wave *w, zb__stored_chunk *chunks, size_t count, zb_error *err) {
    zb__retry retry = {0};
    zb_error error = {.code = ZB_OK};
    enum zb_code code = zb__missing_surely(chunks, count, look, w, &error);
    while (code != ZB_OK && !lacks_descriptors(&error) &&
           zb__retry_pays(&retry, chunks, count, code))
        code = zb__missing_surely(chunks, count, look, w, &error);
    if (code != ZB_OK && lacks_descriptors(&error) && count > 1) {
        code = run_bundle(w, chunks, count / 2, err);
        return code ? code : run_bundle(w, chunks + count / 2, count - count / 2, err);
    }
    if (code != ZB_OK && err)
        *err = error;
    return code;
}

/* The stored chunks that make the next bundle: of one store. A flow has no more objects open than
   it must, so that it takes all of them, unless they may have to be read again together. */
static size_t bundle_of(const zb__stored_chunk *chunks, size_t count) {
    zb_store *store = zb__node_store(chunks->node);
    size_t n = 1, most = count;
    if (count > BATCH_KEYS && (!flows(store) || zb_store_can_change(store)))
        most = BATCH_KEYS;
    while (n < most &&
           (chunks[n].node == chunks[n - 1].node || zb__node_store(chunks[n].node) == store))
        n++;
    return n;
}

/* Counts a bundle as done, and tells of it when it is time. */
static enum zb_code note_done(zb__progress *progress, const zb__stored_chunk *chunks, size_t count,
                              zb_error *err) {
    for (size_t i = 0; i < count && progress; i++)
        progress->done += zb__stored_chunk_wanted(&chunks[i]);
    return zb__progress_is_due(progress) ? zb__progress_tell(progress, 0, err) : ZB_OK;
}

static enum zb_code run_wave(wave *w, bool group, zb_error *err) {
    if (group)
        group_chunks(w);
    enum zb_code code = ZB_OK;
    for (size_t i = 0, count; i < w->chunk_count && code == ZB_OK; i += count) {
        count = bundle_of(&w->chunks[i], w->chunk_count - i);
        code = run_bundle(w, &w->chunks[i], count, err);
        if (!code)
            code = note_done(w->progress, &w->chunks[i], count, err);
    }
    w->chunk_count = 0;
    zb__arena_free(&w->arena);
    return code;
}

enum zb_code zb__plan_run(const zb__box *boxes, size_t count, bool is_fresh, zb__progress *progress,
                          zb_error *err) {
    wave w = {.is_fresh = is_fresh, .progress = progress};
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < count && code == ZB_OK; i++) {
        zb__cells cells;
        zb__cells_begin(&cells, boxes[i].piece, &boxes[i].node->array->grid);
        for (; !cells.done && code == ZB_OK; zb__cells_next(&cells)) {
            code = add_chunk(&w, boxes[i].node, &cells, err);
            if (code == ZB_OK && w.chunk_count == WAVE_PIECES)
                code = run_wave(&w, count > 1, err);
        }
    }
    if (code == ZB_OK && w.chunk_count > 0)
        code = run_wave(&w, count > 1, err);
    zb__arena_free(&w.arena);
    free(w.chunks);
    free(w.ranged_reads.items);
    return code;
}
