/* SPDX-License-Identifier: MIT */
/*
 * Storing chunks of which only a part was written: the missing elements come from the stored
 * objects, under the keys' locks, so that no other writer replaces one between our read and our
 * put.
 *
 * A bundle of chunks is stored together, so that reading and encoding use all threads. Their locks
 * are taken in the order of the grid: two writers never wait for each other in a circle.
 */
#include "write/writer.h"

#include <stdlib.h>
#include <string.h>

#include "node/node.h"
#include "read/read.h"
#include "util/pages.h"
#include "util/pool.h"
#include "write/budget.h"
#include "write/journal.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

/* Chunks of a bundle; each takes three descriptors. */
#define BUNDLE_CHUNKS 64
/* The bytes taken over in a bundle, and of elements read at once: one more chunk or inner chunk may
   come on top. With a small budget this part of it, when that is less. */
#define BUNDLE_BYTES ((uint64_t)16 << 20)
#define BUNDLE_PART 8

static uint64_t bundle_bytes(void) {
    uint64_t part = zb_limits_get()->write_cache_bytes / BUNDLE_PART;
    return part == 0 ? 1 : part < BUNDLE_BYTES ? part : BUNDLE_BYTES;
}

typedef struct merging {
    zb__buffered_chunk *chunk;
    char *key;
    zb_lock *lock;
    zb__live live;
    zb__reused_inner taken;
    uint64_t reserved; /* for work, see below; 0: nothing was granted */
    bool is_refused;   /* nobody gave the lock in all of lock_seconds, or the array is another one,
                          or has another shape: to try again at once is no use */
} merging;

/* What has become of a bundle. */
typedef struct outcome {
    size_t done;     /* chunks that it worked on */
    bool is_refused; /* the last of them is, so that it ended there */
} outcome;

typedef struct bundle {
    merging item[BUNDLE_CHUNKS];
    zb__job jobs[BUNDLE_CHUNKS];
    size_t count;
    uint64_t bytes; /* taken over */
} bundle;

/* ---- Elements of inner chunks that were written in part
   ------------------------------------------ */

/* An inner chunk to read as it is stored now, in the array's dimensions. */
typedef struct partial {
    const zb__write_layout *layout; /* of its chunk */
    zb__buffered_inner *inner;
    uint64_t start[ZB_MAX_NDIM], count[ZB_MAX_NDIM];
    int64_t strides[ZB_MAX_NDIM];
    uint8_t *stored;
} partial;

/* Inner chunks that are read together. */
typedef struct group {
    const zb_writer *writer;
    size_t count, capacity;
    partial *partials; /* [capacity] */
    zb_read *reads;    /* [capacity] */
    uint8_t *stored;   /* capacity * inner_bytes */
} group;

/* Puts stored elements into the places where none was written. */
static void blend(const zb__write_layout *layout, zb__buffered_inner *inner,
                  const uint8_t *stored) {
    size_t item = layout->inner->pipeline->dtype.size, n = layout->inner_bytes / item;
    zb__inner_need_bits(layout, inner);
    for (size_t i = 0; i < n; i++) {
        uint64_t word = inner->written[i >> 6];
        if (word == UINT64_MAX)
            i |= 63;
        else if (!(word >> (i & 63) & 1))
            memcpy(inner->elements + i * item, stored + i * item, item);
    }
}

static enum zb_code read_group(group *g, zb_error *err) {
    if (g->count == 0)
        return ZB_OK;
    enum zb_code code = zb__array_read_fresh(g->reads, g->count, err);
    for (size_t i = 0; i < g->count && code == ZB_OK; i++)
        blend(g->partials[i].layout, g->partials[i].inner, g->partials[i].stored);
    g->count = 0;
    return code;
}

/* Adds an inner chunk to the group (fill values where nothing is stored). */
static void add_partial(group *g, const zb__buffered_chunk *chunk, uint64_t number) {
    const zb__write_layout *layout = chunk->layout;
    partial *p = &g->partials[g->count];
    uint64_t inside[ZB_MAX_NDIM], rest = number;
    uint64_t elements = zb__inner_inside(layout, chunk->origin, number, inside);
    for (uint32_t d = layout->ndim; d-- > 0;) {
        uint32_t array_dim = layout->outer->axis[d];
        p->start[array_dim] = chunk->origin[d] + zb__inner_span(layout, d, &rest).start;
        p->count[array_dim] = inside[d];
        p->strides[array_dim] = (int64_t)(layout->strides[d] * layout->inner->pipeline->dtype.size);
    }
    p->layout = layout;
    p->inner = &chunk->inner_chunks[number];
    p->stored = g->stored + g->count * g->writer->layout.inner_bytes;
    if (elements * layout->inner->pipeline->dtype.size < layout->inner_bytes)
        zb__inner_fill(layout, p->stored);
    g->reads[g->count++] = (zb_read){.node = g->writer->node,
                                     .start = p->start,
                                     .count = p->count,
                                     .view = {.data = p->stored,
                                              .dtype = layout->inner->pipeline->dtype,
                                              .strides = p->strides,
                                              .values = p->inner->values}};
}

/* The number of inner chunks that are read together: some for each thread, few enough to be
   bounded. Large inner chunks are read one for each thread as long as they are a quarter of the
   budget, and one in any case. */
static uint64_t group_capacity(const zb__write_layout *layout, uint64_t partials) {
    uint64_t fit = bundle_bytes() / (layout->inner_bytes + 1), width = zb__pool_width();
    uint64_t large = zb_limits_get()->write_cache_bytes / 4 / (layout->inner_bytes + 1);
    width = width < large ? width : large ? large : 1;
    uint64_t capacity = fit < width ? width : fit < 1024 ? fit : 1024;
    return capacity < partials ? capacity : partials;
}

static bool make_group(group *g, const zb_writer *writer, uint64_t partials) {
    uint64_t capacity = group_capacity(&writer->layout, partials);
    *g = (group){.writer = writer, .capacity = (size_t)capacity};
    g->partials = malloc((size_t)capacity * sizeof *g->partials);
    g->reads = malloc((size_t)capacity * sizeof *g->reads);
    size_t bytes;
    if (!__builtin_mul_overflow((size_t)capacity, writer->layout.inner_bytes, &bytes))
        g->stored = zb__pages_map(bytes);
    return g->partials && g->reads && g->stored;
}

static bool is_partial(const zb__buffered_inner *inner) {
    return inner->elements && inner->missing > 0;
}

/* Completes the inner chunks of all chunks of the bundle. */
static enum zb_code complete_inner_chunks(const zb_writer *writer, const bundle *b, zb_error *err) {
    uint64_t partials = 0;
    for (size_t i = 0; i < b->count; i++) {
        for (uint64_t u = 0; u < b->item[i].chunk->layout->inner_chunks; u++)
            partials += is_partial(&b->item[i].chunk->inner_chunks[u]);
    }
    if (partials == 0)
        return ZB_OK;
    group g;
    enum zb_code code = make_group(&g, writer, partials)
                            ? ZB_OK
                            : zb_fail(err, ZB_ENOMEM, "no memory for merging chunks");
    for (size_t i = 0; i < b->count && code == ZB_OK; i++) {
        for (uint64_t u = 0; u < b->item[i].chunk->layout->inner_chunks && code == ZB_OK; u++) {
            if (!is_partial(&b->item[i].chunk->inner_chunks[u]))
                continue;
            add_partial(&g, b->item[i].chunk, u);
            if (g.count == g.capacity)
                code = read_group(&g, err);
        }
    }
    if (code == ZB_OK)
        code = read_group(&g, err);
    for (size_t i = 0; i < b->count; i++)
        zb__buffered_chunk_count(b->item[i].chunk);
    free(g.partials);
    free(g.reads);
    zb__pages_unmap(g.stored, g.capacity * writer->layout.inner_bytes);
    return code;
}

/* ---- Memory ------------------------------------------------------------------------------- */

/* The memory that merging the chunk may need besides its open inner chunks, before anything is
   known of the stored one: the inner chunks without a written element are taken over. */
static uint64_t takeover_bound(const zb__buffered_chunk *chunk) {
    const zb__write_layout *layout = chunk->layout;
    uint64_t inner_chunks = 0;
    for (uint64_t u = 0; u < layout->inner_chunks && layout->shard && chunk->missing > 0; u++)
        inner_chunks += !chunk->inner_chunks[u].elements;
    return zb__work_product(inner_chunks, layout->inner_bound);
}

/* Inner chunks that were written are encoded; in place, the bytes that they replace go to a
   journal. */
static uint64_t encode_bound(const zb_writer *writer, const zb__buffered_chunk *chunk) {
    const zb__write_layout *layout = chunk->layout;
    uint64_t inner_chunks = 0;
    for (uint64_t u = 0; u < layout->inner_chunks; u++)
        inner_chunks += chunk->inner_chunks[u].elements != NULL;
    uint64_t copies = zb__is_plain(layout) ? 0 : 1;
    copies += writer->options.strategy == ZB_INPLACE;
    return zb__work_product(inner_chunks, zb__work_product(copies, layout->inner_bound)) +
           chunk->value_bytes + zb__work_product(layout->inner_chunks, ZB__INNER_LISTS);
}

/* Reserves memory for one more chunk of a bundle, before its lock is taken: only the first chunk
   may wait for it. The first reservation has room for the elements that are read at once. False:
   the chunk has to wait for the next bundle. */
static bool reserve(const zb_writer *writer, merging *m, bool is_first) {
    const zb__write_layout *layout = &writer->layout;
    uint64_t bytes = takeover_bound(m->chunk) + encode_bound(writer, m->chunk);
    if (!is_first) {
        m->reserved = zb__work_try(bytes) ? bytes : 0;
        return m->reserved > 0;
    }
    m->reserved = bytes + zb__work_product(group_capacity(layout, UINT64_MAX), layout->inner_bytes);
    zb__work_begin(m->reserved);
    return true;
}

/* Gives back the part of the reservation that the inner chunks taken over do not need. */
static void reserve_less(merging *m) {
    uint64_t bound = takeover_bound(m->chunk);
    if (m->taken.size < bound) {
        zb__work_end(bound - m->taken.size, false);
        m->reserved -= bound - m->taken.size;
    }
}

/* ---- Batches ------------------------------------------------------------------------------ */

static void end(merging *m) {
    zb__live_end(&m->live);
    zb__reused_inner_free(&m->taken);
    zb_store_unlock(m->lock);
    free(m->key);
    zb__work_end(m->reserved, true);
}

/* Takes the lock and looks at the stored object. */
static enum zb_code begin(zb_writer *writer, merging *m, zb_error *err) {
    const zb__write_layout *layout = m->chunk->layout;
    bool whole = m->chunk->missing == 0;
    m->key = zb__array_chunk_key(writer->node, m->chunk->index);
    enum zb_code code = m->key ? zb__chunk_lock(writer, m->key, whole, &m->lock, err)
                               : zb_fail(err, ZB_ENOMEM, "no memory for a chunk's key");
    if (code == ZB_OK && whole && zb__chunk_is_open_edge(writer, layout, m->chunk->index))
        code = zb__chunk_see(writer, m->key, err);
    /* The check comes before bytes of the stored object are taken for the array's. */
    if (code == ZB_OK && writer->batch.check)
        code = writer->batch.check(writer, m->key, err);
    m->is_refused = code == ZB_ECONFLICT;
    if (code == ZB_OK && !whole)
        code = zb__journal_replay(writer->node, layout, m->key, NULL, err);
    if (code == ZB_OK && !whole && layout->shard)
        code = zb__live_begin(writer, m->key, m->chunk, &m->live, err);
    if (code != ZB_OK)
        zb__chunk_add_context(writer, m->chunk->index, code, err);
    else if (!whole && layout->shard && !m->live.object)
        code = zb__reused_inner_read(writer, m->chunk, &m->taken, err);
    return code;
}

static enum zb_code run_bundle(zb_writer *writer, bundle *b, zb_error *err) {
    enum zb_code code = complete_inner_chunks(writer, b, err);
    for (size_t i = 0; i < b->count; i++) {
        const merging *m = &b->item[i];
        b->jobs[i] = (zb__job){.index = m->chunk->index,
                               .layout = m->chunk->layout,
                               .buffered = m->chunk,
                               .reused = m->taken.reused,
                               .lock = m->lock,
                               .live = m->live.object ? &m->live : NULL};
    }
    return code ? code : zb__jobs_run(writer, b->jobs, b->count, true, err);
}

/* Stores chunks from the front of the list, at most `most`. Stored chunks are dropped, and NULL in
   the list. */
static enum zb_code merge_some(zb_writer *writer, zb__buffered_chunk **chunks, size_t most,
                               outcome *out, zb_error *err) {
    bundle b = {.count = 0};
    enum zb_code code = ZB_OK;
    while (b.count < most && b.bytes < bundle_bytes() && code == ZB_OK) {
        merging *m = &b.item[b.count];
        *m = (merging){.chunk = chunks[b.count]};
        if (!reserve(writer, m, b.count == 0))
            break;
        b.count++;
        code = begin(writer, m, err);
        reserve_less(m);
        b.bytes += m->taken.size;
    }
    if (code == ZB_OK)
        code = run_bundle(writer, &b, err);
    for (size_t i = 0; i < b.count; i++) {
        end(&b.item[i]);
        if (b.jobs[i].stored) {
            zb__buffered_chunk_drop(writer, chunks[i]);
            chunks[i] = NULL;
        }
    }
    *out = (outcome){.done = b.count, .is_refused = b.item[b.count - 1].is_refused};
    return code;
}

static int by_index(const void *a, const void *b) {
    const zb__buffered_chunk *left = *(zb__buffered_chunk *const *)a,
                             *right = *(zb__buffered_chunk *const *)b;
    for (int d = 0; d < ZB_MAX_NDIM; d++) { /* zeros behind the array's dimensions */
        if (left->index[d] != right->index[d])
            return left->index[d] < right->index[d] ? -1 : 1;
    }
    return 0;
}

/* Stores a chunk. In a store without locks that hold between programs another one may have replaced
   the object since it was read: then it is read and merged again. */
static enum zb_code merge_one(zb_writer *writer, zb__buffered_chunk **chunk, zb_error *err) {
    for (unsigned tries = 1;; tries++) {
        outcome o;
        enum zb_code code = merge_some(writer, chunk, 1, &o, err);
        if (code != ZB_ECONFLICT || o.is_refused || zb__node_store(writer->node)->hints.is_local ||
            !zb__chunk_pause(tries))
            return code;
    }
}

/* Stores chunks one by one, after a bundle of them failed: one bad chunk does not keep the others
   in memory, and chunks that failed for the bundle's size alone (descriptors, memory) are stored.
   */
static enum zb_code merge_one_by_one(zb_writer *writer, zb__buffered_chunk **chunks, size_t count,
                                     zb_error *err) {
    enum zb_code first = ZB_OK;
    for (size_t i = 0; i < count; i++) {
        zb_error error;
        enum zb_code code = chunks[i] ? merge_one(writer, chunks + i, &error) : ZB_OK;
        if (code != ZB_OK && first == ZB_OK && err)
            *err = error;
        first = first ? first : code;
    }
    return first;
}

/* Stores chunks as merge_some, and those of a bundle that failed one by one. A chunk that was
   refused is not tried again: where its lock was waited for, that would take lock_seconds once
   more. */
static enum zb_code merge_bundle(zb_writer *writer, zb__buffered_chunk **chunks, size_t most,
                                 size_t *done, zb_error *err) {
    outcome o;
    enum zb_code code = merge_some(writer, chunks, most, &o, err);
    const bool was_replaced = code == ZB_ECONFLICT && !zb__node_store(writer->node)->hints.is_local;
    *done = o.done;
    if (code != ZB_OK && o.is_refused)
        (void)merge_one_by_one(writer, chunks, o.done - 1, NULL);
    else if (code != ZB_OK && (o.done > 1 || was_replaced))
        code = merge_one_by_one(writer, chunks, o.done, err);
    return code;
}

/* Of text, nobody knows how much is stored in the parts that were not written: so there are no more
   chunks than threads. */
static size_t most_chunks(const zb_writer *writer) {
    const size_t width = zb__pool_width();
    const bool is_bounded = !writer->layout.inner->pipeline->is_variable;
    return is_bounded || width > BUNDLE_CHUNKS ? BUNDLE_CHUNKS : width;
}

enum zb_code zb__merge(zb_writer *writer, zb__buffered_chunk **chunks, size_t count,
                       zb_error *err) {
    const size_t limit = most_chunks(writer);
    enum zb_code first = zb_writer_show(writer, err);
    if (first)
        return first;
    qsort(chunks, count, sizeof *chunks, by_index);
    for (size_t i = 0, done; i < count; i += done) {
        size_t most = count - i < limit ? count - i : limit;
        zb_error error;
        enum zb_code code = merge_bundle(writer, chunks + i, most, &done, &error);
        if (code != ZB_OK && first == ZB_OK && err)
            *err = error;
        first = first ? first : code;
    }
    return first;
}
