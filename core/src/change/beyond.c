/* SPDX-License-Identifier: MIT */
#include "change/beyond.h"

#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "change/remove.h"
#include "change/reshape.h"
#include "codec/encode.h"
#include "hierarchy/staged.h"
#include "hierarchy/version.h"
#include "types/values.h"
#include "array/array.h"
#include "node/current.h"
#include "node/edit.h"
#include "node/node.h"
#include "node/walk.h"
#include "read/read.h"
#include "write/writer.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

/* Up to this many chunks are asked for one by one; beyond, those that exist are listed. Asking is
   cheaper for an array that grows slice by slice, listing for a sparse one. */
#define ASK_AT_MOST 4096

/* On a network each answer is a round trip, and one request lists at least so many names. */
#define LISTED_AT_ONCE 1000
#define LISTINGS 2 /* requests that tell of an array without chunks */

/* The bytes that are read at once to find out whether they are all fill; one row of inner chunks at
   least. */
#define LOOK_BYTES ((uint64_t)16 << 20)

/* ---- One chunk ---------------------------------------------------------------------------- */

typedef struct clearing {
    const zb_node *node;
    const zb__document_text *text;
    zb_node
        *padded; /* the array with whole chunks, so that reads and the writer reach the cut part;
                        NULL until needed */
    uint64_t padded_shape[ZB_MAX_NDIM];
    const uint64_t *keep, *region;
    uint64_t kept_grid[ZB_MAX_NDIM];   /* chunks that reach into keep, along each dimension */
    uint64_t region_grid[ZB_MAX_NDIM]; /* the same of region */
    zb__edge_looks *looks;             /* NULL: nothing is suspect */
    const zb__clean_edge *known;       /* of the chunks on this edge, or NULL */
    size_t cut;                        /* chunks on it that were looked at */
    zb_writer *writer; /* writes to padded, opened at the first chunk that needs it */
    zb_batch batch;    /* of chunks that go */
} clearing;

/* A part of a chunk, in the array's coordinates. */
typedef struct part {
    uint64_t start[ZB_MAX_NDIM], count[ZB_MAX_NDIM];
} part;

static enum zb_code need_padded(clearing *c, zb_error *err) {
    return c->padded ? ZB_OK
                     : zb__array_reshape(c->node, c->text, c->padded_shape, NULL, &c->padded, err);
}

/* The part of a chunk that lies outside keep along dimension d. False when there is none. */
static bool part_beyond(const clearing *c, const uint64_t *index, uint32_t d, part *p) {
    const zb__array *array = c->node->array;
    for (uint32_t e = 0; e < array->info.ndim; e++) {
        zb__span chunk = zb__grid_at(&array->grid, e, index[e]);
        p->start[e] = chunk.start;
        p->count[e] = zb__span_inside(chunk, c->padded_shape[e]);
    }
    uint64_t end = p->start[d] + p->count[d];
    if (end <= c->keep[d])
        return false;
    p->start[d] = c->keep[d];
    p->count[d] = end - c->keep[d];
    return true;
}

/* Cuts the part to the box that one step looks at: whole inner chunks, as many as LOOK_BYTES allow,
   the last dimensions first. Advances `at`; false at the end. */
static bool next_step(const zb__array *array, const part *whole, part *at, uint64_t *elements) {
    const zb__grid *inner = &array->inner;
    uint64_t inner_bytes = array->info.dtype.size, run = 1;
    bool wraps = true;
    for (uint32_t d = 0; d < inner->ndim; d++)
        inner_bytes *= zb__grid_largest(inner, d); /* at most chunk_bytes */
    uint64_t chunks = inner_bytes < LOOK_BYTES ? LOOK_BYTES / inner_bytes : 1;
    for (uint32_t d = inner->ndim; d-- > 0;) {
        uint64_t end = whole->start[d] + whole->count[d];
        at->start[d] += wraps ? at->count[d] : 0;
        wraps = wraps && at->start[d] >= end;
        at->start[d] = wraps ? whole->start[d] : at->start[d];
        uint64_t first = zb__grid_find(inner, d, at->start[d]).index;
        uint64_t there = zb__grid_find(inner, d, end - 1).index - first + 1;
        uint64_t taken = chunks < there ? chunks : there;
        uint64_t stop = taken == there ? end : zb__grid_at(inner, d, first + taken).start;
        at->count[d] = stop - at->start[d];
        chunks /= taken;
        run *= at->count[d];
    }
    *elements = run;
    return !wraps;
}

static bool is_all_fill(const zb_array_info *info, const char *data, uint64_t elements) {
    if (!zb_dtype_is_variable(info->dtype))
        return zb__is_all(data, elements, info->fill_value, info->dtype.size);
    bool same = true;
    for (uint64_t i = 0; i < elements && same; i++)
        same = zb__values_equal(info->dtype, data + i * info->dtype.size, info->fill_value);
    return same;
}

/* Sets *found if the part holds anything but fill values. A damaged part does not count: reading it
   is an error, as before, when the array has grown. */
static enum zb_code look(const clearing *c, const part *whole, bool *found, zb_error *err) {
    const zb_array_info *info = &c->padded->array->info;
    enum zb_code code = ZB_OK;
    part at = *whole;
    uint64_t elements;
    memset(at.count, 0, sizeof at.count);
    *found = false;
    for (bool first = true; !*found && !code; first = false) {
        bool more = next_step(c->padded->array, whole, &at, &elements);
        if (!first && !more)
            break;
        char *data = malloc((size_t)elements * info->dtype.size);
        zb_values *values = NULL;
        if (data && zb_dtype_is_variable(info->dtype))
            code = zb_values_new(&values, err);
        zb_read read = {.node = c->padded,
                        .start = at.start,
                        .count = at.count,
                        .view = {.data = data, .dtype = info->dtype, .values = values}};
        if (!code)
            code = data ? zb__array_read_fresh(&read, 1, err)
                        : zb_fail(err, ZB_ENOMEM, "no memory for looking beyond an array's edge");
        *found = !code && !is_all_fill(info, data, elements);
        free(data);
        zb_values_free(values);
    }
    bool damaged = code == ZB_EFORMAT || code == ZB_ECHECKSUM || code == ZB_ELIMIT;
    return damaged ? ZB_OK : code;
}

/* Fills a part. The source is one element, which all strides of zero lead to. */
static enum zb_code refill(clearing *c, const part *p, zb_error *err) {
    const zb_array_info *info = &c->padded->array->info;
    static const int64_t strides[ZB_MAX_NDIM];
    enum zb_code code = c->writer ? ZB_OK : zb__writer_open_unchecked(c->padded, &c->writer, err);
    zb_write write = {.start = p->start,
                      .count = p->count,
                      .data = info->fill_value,
                      .dtype = info->dtype,
                      .strides = strides};
    return code ? code : zb_writer_write(c->writer, &write, err);
}

/* Only dimensions in which region is larger matter: elements beyond the others are left alone. */
static enum fate { STAYS, IS_CUT, GOES } fate_of(const clearing *c, const uint64_t *index) {
    for (uint32_t d = 0; d < c->node->array->info.ndim; d++) {
        if (index[d] >= c->region_grid[d])
            return STAYS;
        if (index[d] >= c->kept_grid[d] && c->region[d] > c->keep[d])
            return GOES;
    }
    return IS_CUT;
}

/* Refills the parts of a chunk that lie outside. *was_clean: nothing had to be. */
static enum zb_code cut_chunk(clearing *c, const uint64_t *index, bool *was_clean, zb_error *err) {
    uint32_t ndim = c->node->array->info.ndim;
    enum zb_code code = need_padded(c, err);
    *was_clean = true;
    for (uint32_t d = 0; d < ndim && !code; d++) {
        part p;
        bool found = true;
        if (c->region[d] <= c->keep[d] || !part_beyond(c, index, d, &p))
            continue;
        if (c->looks)
            code = look(c, &p, &found, err);
        if (!code && found)
            code = refill(c, &p, err);
        *was_clean = *was_clean && !found;
    }
    return code;
}

static enum zb_code clear_chunk(void *context, const char *key, const uint64_t *index, bool *goes,
                                zb_error *err) {
    const enum fate fate = fate_of(context, index);
    bool was_clean;
    (void)key;
    *goes = fate == GOES;
    return fate == IS_CUT ? cut_chunk(context, index, &was_clean, err) : ZB_OK;
}

/* ---- Chunks that are known to be clean ----------------------------------------------------- */

/* Where one dimension alone grows. Numbers of chunks stand for their indices, as long as the array
   only grows along that dimension. */
static void begin_edge(clearing *c) {
    const zb__array *array = c->node->array;
    const zb__clean_edge *known = c->looks->known;
    uint32_t growing = array->info.ndim;
    uint64_t cells = 1;
    for (uint32_t d = 0; d < array->info.ndim; d++) {
        if (c->region[d] == c->keep[d])
            cells = zb__bound_product(cells, c->region_grid[d]);
        else if (growing < array->info.ndim || c->region[d] < c->keep[d] || c->kept_grid[d] == 0)
            return;
        else
            growing = d;
    }
    if (!c->node->hierarchy->store->hints.is_local || growing == array->info.ndim ||
        cells > ASK_AT_MOST)
        return;
    zb__clean_edge *seen = calloc(1, sizeof *seen + (size_t)cells * sizeof *seen->version);
    if (!seen)
        return;
    seen->dim = growing;
    seen->index = c->kept_grid[growing] - 1;
    seen->count = (size_t)cells;
    c->looks->seen = seen;
    if (known && known->dim == seen->dim && known->index == seen->index &&
        known->count == seen->count)
        c->known = known;
}

/* The version is older than what is read: a change in between is found the next time. */
static enum zb_code cut_unless_clean(clearing *c, const uint64_t *index, const zb_object_info *info,
                                     size_t number, zb_error *err) {
    zb__clean_edge *seen = c->looks ? c->looks->seen : NULL;
    const uint64_t version = zb__version_word(&info->validator);
    bool was_clean = true;
    enum zb_code code = ZB_OK;
    if (!c->known || version == 0 || version != c->known->version[number])
        code = cut_chunk(c, index, &was_clean, err);
    if (!code && seen && number < seen->count)
        seen->version[number] = was_clean ? version : 0;
    return code;
}

/* ---- All chunks --------------------------------------------------------------------------- */

/* The chunks to look at along one dimension: those on the edge and beyond, where region is larger;
   otherwise all of region's. */
static void range_of(const clearing *c, uint32_t d, uint32_t growing, uint64_t *from,
                     uint64_t *to) {
    bool aligned = c->padded_shape[d] == c->keep[d];
    *from = d != growing ? 0 : c->kept_grid[d] - (!aligned && c->kept_grid[d] > 0);
    *to = c->region_grid[d];
}

/* The number of chunks to ask for one by one; UINT64_MAX when they are too many to count. */
static uint64_t count_asked(const clearing *c) {
    uint32_t ndim = c->node->array->info.ndim;
    uint64_t sum = 0;
    for (uint32_t growing = 0; growing < ndim; growing++) {
        uint64_t cells = 1, from, to;
        if (c->region[growing] <= c->keep[growing])
            continue;
        for (uint32_t d = 0; d < ndim; d++) {
            range_of(c, d, growing, &from, &to);
            cells = zb__bound_product(cells, to > from ? to - from : 0);
        }
        sum = zb__bound_sum(sum, cells);
    }
    return sum;
}

/* A writer that looked at the document before it told of `keep` puts a chunk under its lock in a
   moment: only then its chunk can be found. While the array grows no writer puts any there. */
static enum zb_code await_writers(const clearing *c, const char *prefix, zb_error *err) {
    const zb_locking locking = {.key = prefix, .only_waits = true};
    return c->looks ? ZB_OK : zb_store_lock_as(zb__node_store(c->node), &locking, NULL, err);
}

static enum zb_code check_document(void *context, const char *key, zb_error *err) {
    (void)key;
    return zb__document_stands(context, err);
}

/* The chunk was asked for under its lock: on a network the answer is what goes, and nothing that
   another program has put since the array's document was looked at. */
static enum zb_code erase_as_asked(clearing *c, const char *key, zb_error *err) {
    zb_erase erase = {.key = key, .expected = ZB_EXPECT_AS_READ, .batch = &c->batch};
    enum zb_code code = zb__hierarchy_erase_as(c->node->hierarchy, &erase, err);
    if (code != ZB_EUNSUPPORTED)
        return code;
    erase.expected = ZB_EXPECT_ANYTHING;
    return zb__hierarchy_erase_as(c->node->hierarchy, &erase, err);
}

static enum zb_code ask_for(clearing *c, const uint64_t *index, zb_error *err) {
    zb_object_info info;
    zb_store *store = zb__node_store(c->node);
    zb_lock *lock = NULL;
    const enum fate fate = fate_of(c, index);
    const size_t number = fate == IS_CUT ? c->cut++ : 0;
    char *key = zb__array_chunk_key(c->node, index);
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "no memory for a chunk's key");
    enum zb_code code = await_writers(c, key, err);
    if (!code && fate == GOES && !store->hints.is_local)
        code = zb_store_lock(store, key, &lock, err);
    if (!code)
        code = zb_store_stat(zb__place_of(c->node->hierarchy, key), key, &info, err);
    if (!code && fate == GOES)
        code =
            lock ? erase_as_asked(c, key, err) : zb__hierarchy_erase(c->node->hierarchy, key, err);
    else if (!code && fate == IS_CUT)
        code = cut_unless_clean(c, index, &info, number, err);
    zb_store_unlock(lock);
    free(key);
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

/* The slab of chunks that lies on or beyond the edge of one dimension. */
static enum zb_code ask_slab(clearing *c, uint32_t growing, zb_error *err) {
    uint32_t ndim = c->node->array->info.ndim;
    uint64_t index[ZB_MAX_NDIM], from[ZB_MAX_NDIM], to[ZB_MAX_NDIM];
    for (uint32_t d = 0; d < ndim; d++) {
        range_of(c, d, growing, &from[d], &to[d]);
        index[d] = from[d];
        if (from[d] >= to[d])
            return ZB_OK;
    }
    for (;;) {
        enum zb_code code = ask_for(c, index, err);
        uint32_t d = ndim;
        while (d > 0 && ++index[d - 1] == to[d - 1]) {
            d--;
            index[d] = from[d];
        }
        if (code || d == 0)
            return code;
    }
}

/* As if all chunks of the grid were stored. */
static bool is_listing_cheaper(const clearing *c) {
    const zb_store_hints *hints = &c->node->hierarchy->store->hints;
    uint64_t most = ASK_AT_MOST;
    if (!hints->is_local) {
        most = 1;
        for (uint32_t d = 0; d < c->node->array->info.ndim; d++) {
            const uint64_t kept = c->kept_grid[d], region = c->region_grid[d];
            most = zb__bound_product(most, kept > region ? kept : region);
        }
        most = most / LISTED_AT_ONCE + LISTINGS;
    }
    return hints->can_list && count_asked(c) > (most < ASK_AT_MOST ? most : ASK_AT_MOST);
}

static enum zb_code look_at_all(clearing *c, zb_error *err) {
    enum zb_code code = ZB_OK;
    if (is_listing_cheaper(c)) {
        code = await_writers(c, c->node->path, err);
        return code ? code : zb__chunks_erase(c->node, clear_chunk, c, err);
    }
    if (c->looks)
        begin_edge(c);
    for (uint32_t d = 0; d < c->node->array->info.ndim && !code; d++) {
        if (c->region[d] > c->keep[d])
            code = ask_slab(c, d, err);
    }
    return code;
}

enum zb_code zb__beyond_clear(const zb_node *node, const zb__document_text *text,
                              const uint64_t *keep, const uint64_t *region, zb__edge_looks *looks,
                              zb_error *err) {
    const zb__grid *grid = &node->array->grid;
    clearing c = {.node = node, .text = text, .keep = keep, .region = region, .looks = looks};
    for (uint32_t d = 0; d < grid->ndim; d++) {
        c.kept_grid[d] = zb__grid_count(grid, d, keep[d]);
        c.region_grid[d] = zb__grid_count(grid, d, region[d]);
        c.padded_shape[d] = zb__grid_pad(grid, d, keep[d]);
    }
    zb_batch_begin(&c.batch, zb__node_store(node), check_document, (void *)(uintptr_t)node);
    enum zb_code code = look_at_all(&c, err);
    zb_batch_end(&c.batch);
    if (code)
        zb_writer_abandon(c.writer);
    else
        code = zb_writer_close(c.writer, err);
    zb_node_release(c.padded);
    return code;
}
