/* SPDX-License-Identifier: MIT */
#include "read/at_once.h"

#include <stdlib.h>

#include "codec/chunk_layout.h"
#include "node/node.h"
#include "read/leaf.h"
#include "util/pool.h"
#include "zarrbridge/sys/store.h"

/* Below this much estimated work a read stays on its caller's thread: waking a worker and hearing
   back costs about 60 µs. Nanoseconds. */
#define PARALLEL_NS 100000
/* The cost of reading and copying, in nanoseconds per KiB. */
#define COPY_COST 100
/* Requests to a store that is not local have at most this length, so that several go on at once.
   Bytes. */
#define DISTANT_REQUEST ((uint64_t)2 << 20)

/* ---- Requests and costs ------------------------------------------------------------------- */

/* Puts the ranged reads of cached chunks first: they release their chunks before others need room
   in the cache. Returns how many there are. */
static size_t cached_first(zb__ranged_read_list *list) {
    size_t first = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (!list->items[i].first->cached)
            continue;
        zb__ranged_read other = list->items[first];
        list->items[first++] = list->items[i];
        list->items[i] = other;
    }
    return first;
}

/* Requests to a local store are small enough that each thread gets several. Others are not cut for
   the sake of threads: each costs a way to a server and back. */
static uint64_t most_per_request(const zb__stored_chunk *chunks, size_t count) {
    const zb_store_hints *hints = &zb__node_store(chunks->node)->hints;
    uint64_t stored = 0, most = hints->max_request;
    for (size_t i = 0; i < count && hints->is_local; i++) {
        for (const zb__leaf *leaf = chunks[i].leaves; leaf; leaf = leaf->next)
            stored += leaf->missing ? 0 : leaf->size;
    }
    uint64_t share = hints->is_local ? stored / (4 * zb__pool_width()) : DISTANT_REQUEST;
    return share < most ? share : most;
}

/* The rough cost of decoding and scattering, in nanoseconds. */
static uint64_t estimate(const zb__stored_chunk *chunks, size_t count) {
    uint64_t work = 0;
    for (size_t i = 0; i < count; i++) {
        for (const zb__leaf *leaf = chunks[i].leaves; leaf; leaf = leaf->next) {
            bool decodes = !leaf->missing && !leaf->cached;
            uint64_t elements = 0;
            for (zb__piece *piece = leaf->pieces; piece; piece = piece->next)
                elements += zb__piece_elements(piece, leaf->layout->pipeline->ndim);
            work += elements * leaf->layout->pipeline->dtype.size / 1024 * COPY_COST;
            work += decodes ? leaf->layout->decoded_size / 1024 * leaf->layout->pipeline->cost : 0;
        }
    }
    return work;
}

/* ---- Running ------------------------------------------------------------------------------ */

static enum zb_code run_expand(void *context, size_t i, zb__scratch *scratch, zb_error *err) {
    return zb__stored_chunk_expand((zb__stored_chunk *)context + i, scratch, err);
}

/* Reads a range of the stored chunk's open object, all of it, into the scratch; sets the range's
   buffer. */
static enum zb_code fetch(const zb__stored_chunk *chunk, zb_range *range, zb__scratch *scratch,
                          zb_error *err) {
    enum zb_code code = zb__buffer_reserve(&scratch->encoded, range->length, err);
    range->buffer = scratch->encoded.data;
    if (code == ZB_OK)
        code = zb_object_read(chunk->object, range, 1, err);
    if (code == ZB_OK && range->got != range->length)
        code = zb_fail(err, ZB_EIO, "the object became shorter while it was read");
    return code == ZB_OK ? ZB_OK : zb__stored_chunk_add_context(chunk, code, err);
}

/* Takes the chunk from the cache where the object is still of the version there. One question
   tells, where opening takes three. What it does not tell is left to opening. */
static bool take_unopened(zb__stored_chunk *chunk, zb__leaf *leaf) {
    zb_store *store = zb__node_store(chunk->node);
    if (!store->hints.is_local || !zb__leaf_may_be_cached(leaf))
        return false;
    char *name = zb__array_chunk_key(chunk->node, chunk->index);
    zb_probe probe = {.asks = ZB_ASK_INFO_AGAIN, .name = name};
    if (name && zb_store_probe(store, &probe, NULL) == ZB_OK) {
        chunk->info = probe.info;
        chunk->is_missing = false;
        leaf->size = chunk->info.size;
        zb__leaf_look_up(leaf);
    }
    free(name);
    return leaf->cached != NULL;
}

/* Runs a chunk whose object is not open yet: the whole object is read and decoded in one go. */
static enum zb_code run_unopened(zb__stored_chunk *chunk, zb__leaf *leaf, zb__scratch *scratch,
                                 zb_error *err) {
    if (take_unopened(chunk, leaf))
        return zb__ranged_read_run_leaf(leaf, NULL, scratch, err);
    enum zb_code code = zb__stored_chunk_open(chunk, err);
    if (code != ZB_OK)
        return code;
    leaf->missing = chunk->object == NULL;
    if (leaf->missing)
        return zb__ranged_read_run_leaf(leaf, NULL, scratch, err);
    leaf->size = chunk->info.size;
    zb__leaf_look_up(leaf);
    zb_range range = {.length = (size_t)leaf->size};
    code = zb__chunk_layout_check_stored(leaf->layout, leaf->size, err);
    if (code != ZB_OK)
        zb__leaf_add_context(leaf, code, err);
    else if (!leaf->cached)
        code = fetch(chunk, &range, scratch, err);
    zb_object_close(chunk->object);
    chunk->object = NULL;
    return code == ZB_OK ? zb__ranged_read_run_leaf(leaf, range.buffer, scratch, err) : code;
}

typedef struct run {
    const zb__ranged_read_list *ranged_reads;
    size_t cached; /* so many at the beginning need no bytes */
    size_t width;  /* threads */
} run;

/* The place in the list of the i-th task to begin. Chunks that follow one another in a file mostly
   lie side by side in the destination, where the ends of their rows share cache lines, over which
   threads would fight that write them at the same time. So each thread goes through a part of the
   list, while all take their time. */
static size_t place_of(const run *r, size_t i) {
    const size_t part = (r->ranged_reads->count - r->cached) / r->width;
    if (i < r->cached || i - r->cached >= part * r->width)
        return i;
    const size_t turn = i - r->cached;
    return r->cached + turn % r->width * part + turn / r->width;
}

static enum zb_code run_ranged_read(void *context, size_t i, zb__scratch *scratch, zb_error *err) {
    const run *r = context;
    const zb__ranged_read *t = &r->ranged_reads->items[place_of(r, i)];
    if (!t->chunk->object && !t->first->missing)
        return run_unopened(t->chunk, t->first, scratch, err);
    if (t->size == 0)
        return zb__ranged_read_run_leaf(t->first, NULL, scratch, err);
    zb_range range = {.offset = t->offset, .length = (size_t)t->size};
    enum zb_code code = fetch(t->chunk, &range, scratch, err);
    return code ? code : zb__ranged_read_run(t, range.buffer, scratch, err);
}

enum zb_code zb__at_once_run(zb__stored_chunk *chunks, size_t count,
                             zb__ranged_read_list *ranged_reads, zb_error *err) {
    const zb_store_hints *hints = &zb__node_store(chunks->node)->hints;
    /* Opening and looking up an index takes microseconds on a local store. */
    size_t width = hints->is_local && count < 16 ? 1 : 0;
    enum zb_code code = zb__pool_run(run_expand, chunks, count, width, err);
    zb__coalesce_rule rule = {
        .gap = hints->gap, .spare = UINT64_MAX, .most = most_per_request(chunks, count)};
    ranged_reads->count = 0;
    for (size_t i = 0; i < count && code == ZB_OK; i++) {
        rule.looks_up = chunks[i].object != NULL;
        code = zb__ranged_reads_add(ranged_reads, &chunks[i], &rule, err);
    }
    run r = {.ranged_reads = ranged_reads, .cached = cached_first(ranged_reads)};
    /* What a store that is not local takes for a request is no work. */
    width = hints->is_local && estimate(chunks, count) < PARALLEL_NS ? 1 : 0;
    r.width = width ? width : zb__pool_width();
    return code ? code : zb__pool_run(run_ranged_read, &r, ranged_reads->count, width, err);
}
