/* SPDX-License-Identifier: MIT */
/*
 * Expanding a stored chunk: from a stored object and the pieces wanted of it to its leaves. Shards
 * are opened up by their index, level by level, as long as no bytes→bytes codec lies around them;
 * leaf.c decodes the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "codec/shard_index.h"
#include "hierarchy/staged.h"
#include "node/current.h"
#include "node/node.h"
#include "read/leaf.h"
#include "read/piece.h"
#include "util/list.h"
#include "util/scratch.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/sys/store.h"

/* Uncompressed chunks are read in slabs of about this size, so that they stay in the second-level
   cache between read and scatter, and several threads share a large one. Bytes. */
#define SLAB_BYTES ((uint64_t)256 << 10)

typedef struct expansion {
    zb__stored_chunk *chunk;
    zb__arena *arena;
    zb__scratch *scratch;
    zb__emit_fn emit;
    void *context;
    bool waits; /* an index that is not at hand is not read: its shard goes to chunk->waiting */
} expansion;

static enum zb_code expand_chunk(expansion *x, const zb__leaf *leaf, const zb__source *source,
                                 zb_error *err);

static enum zb_code no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the plan of a read");
}

/* ---- Uncompressed chunks ------------------------------------------------------------------ */

/* The most slabs of one piece that are made for the sake of gaps: they take memory. */
#define MOST_SLABS 8192

/* A cell shape that cuts a C-order block into contiguous slabs: ones, then a part, then whole
   dimensions. A slab is read from the piece's first byte in it to the last, so it also ends where
   more than `gap` bytes lie between two indexes of a dimension. */
static void slab_shape(const zb__chunk_layout *layout, zb__piece *piece, uint64_t gap,
                       uint64_t *shape) {
    uint32_t ndim = layout->pipeline->ndim;
    const uint64_t *count = zb__piece_count(piece, ndim), *step = zb__piece_step(piece, ndim);
    uint64_t stride = layout->pipeline->dtype.size, span = stride, outer = 1;
    for (uint32_t d = 0; d < ndim; d++)
        outer *= count[d];
    for (uint32_t d = ndim; d-- > 0; outer /= count[d]) {
        /* One index of d has `stride` bytes, of which the piece spans `span`; `outer` is the number
           of indexes of d and all dimensions before it. */
        uint64_t fit = SLAB_BYTES / stride, extent = layout->stored_shape[d];
        bool apart = count[d] > 1 && stride * step[d] - span > gap && outer <= MOST_SLABS;
        shape[d] = fit < 1 || apart ? 1 : fit < extent ? fit : extent;
        span += (count[d] - 1) * step[d] * stride;
        stride = shape[d] < extent ? SLAB_BYTES + 1 : stride * extent; /* above: nothing fits */
    }
}

/* Emits one leaf for each slab of each piece. The pieces stay in the coordinates of the whole
   chunk, whose strides are also the slab's. */
static enum zb_code emit_slabs(expansion *x, const zb__leaf *whole, zb_error *err) {
    uint32_t ndim = whole->layout->pipeline->ndim;
    uint64_t shape[ZB_MAX_NDIM], gap = zb__node_store(x->chunk->node)->hints.gap;
    zb__grid slabs = zb__grid_of(ndim, shape);
    for (zb__piece *piece = whole->pieces; piece; piece = piece->next) {
        zb__cells cells;
        slab_shape(whole->layout, piece, gap, shape);
        for (zb__cells_begin(&cells, piece, &slabs); !cells.done; zb__cells_next(&cells)) {
            zb__piece *part = zb__cells_piece(&cells, x->arena, NULL);
            if (!part)
                return no_memory(err);
            for (uint32_t d = 0; d < ndim; d++)
                zb__piece_start(part)[d] += cells.start[d];
            zb__leaf slab = *whole;
            slab.pieces = part;
            zb__leaf_set_extent(&slab);
            enum zb_code code = x->emit(x->context, &slab, err);
            if (code != ZB_OK)
                return code;
        }
    }
    return ZB_OK;
}

/* ---- Shards ------------------------------------------------------------------------------- */

/* A piece of one inner chunk, before the pieces are grouped. */
typedef struct inner_piece {
    uint64_t inner; /* C order of the shard's stored dimensions */
    zb__piece *piece;
} inner_piece;

typedef struct inner_list {
    inner_piece *items;
    size_t count, capacity;
} inner_list;

static bool append(inner_list *list, inner_piece item) {
    if (!zb__list_grow(&list->items, list->count, &list->capacity, sizeof *list->items))
        return false;
    list->items[list->count++] = item;
    return true;
}

static int by_inner(const void *a, const void *b) {
    uint64_t left = ((const inner_piece *)a)->inner, right = ((const inner_piece *)b)->inner;
    return left < right ? -1 : left > right;
}

/* Splits all pieces by the shard's inner grid; the parts of one inner chunk end up side by side. */
static enum zb_code split_pieces(expansion *x, const zb__shard *shard, uint32_t ndim,
                                 zb__piece *pieces, inner_list *list, zb_error *err) {
    zb__grid grid = zb__grid_of(ndim, shard->inner_shape);
    for (zb__piece *piece = pieces; piece; piece = piece->next) {
        zb__cells cells;
        zb__cells_begin(&cells, piece, &grid);
        for (; !cells.done; zb__cells_next(&cells)) {
            uint64_t inner = 0;
            for (uint32_t d = 0; d < ndim; d++)
                inner = inner * shard->grid[d] + cells.cell[d];
            zb__piece *part = zb__cells_piece(&cells, x->arena, shard->inner->pipeline->axis);
            if (!part || !append(list, (inner_piece){.inner = inner, .piece = part}))
                return no_memory(err);
        }
    }
    if (pieces->next)
        qsort(list->items, list->count, sizeof *list->items, by_inner);
    return ZB_OK;
}

/* Sets the leaf's place, which the index gives. */
static enum zb_code locate(const zb__source *shard, zb__inner_chunks *chunks, zb__leaf *leaf,
                           zb_error *err) {
    leaf->missing = !zb__inner_chunk_at(chunks, leaf->inner);
    if (leaf->missing)
        return ZB_OK;
    leaf->offset = shard->offset + chunks->offset;
    leaf->size = chunks->size;
    return zb__inner_chunk_check(chunks, err);
}

/* The shard as its inner chunks' messages need it: NULL when it is the stored chunk's object. */
static enum zb_code keep_around(expansion *x, const zb__leaf *shard, const zb__leaf **around,
                                zb_error *err) {
    *around = NULL;
    if (shard->inner == UINT64_MAX)
        return ZB_OK;
    zb__leaf *copy = zb__arena_alloc(x->arena, sizeof *copy);
    if (!copy)
        return no_memory(err);
    *copy = *shard;
    *around = copy;
    return ZB_OK;
}

static enum zb_code expand_inner(expansion *x, const zb__leaf *shard_leaf, const zb__source *shard,
                                 const zb__index *index, const inner_list *list, zb_error *err) {
    const zb__leaf *around;
    zb__inner_chunks chunks =
        zb__inner_chunks_of(index->entries, shard_leaf->layout->shard->count, shard->size);
    enum zb_code code = keep_around(x, shard_leaf, &around, err);
    for (size_t i = 0; i < list->count && code == ZB_OK;) {
        zb__leaf leaf = {.chunk = x->chunk,
                         .inner = list->items[i].inner,
                         .around = around,
                         .transient = shard->memory != NULL};
        for (zb__piece **end = &leaf.pieces; i < list->count && list->items[i].inner == leaf.inner;
             i++) {
            *end = list->items[i].piece;
            end = &(*end)->next;
        }
        code = zb__shard_inner(shard_leaf->layout->shard, leaf.inner, &leaf.layout, err);
        if (!code)
            code = locate(shard, &chunks, &leaf, err);
        if (code != ZB_OK)
            return zb__leaf_add_context(&leaf, code, err);
        zb__source source = *shard;
        source.offset = leaf.offset;
        source.size = leaf.size;
        code = expand_chunk(x, &leaf, &source, err);
    }
    return code;
}

/* Releases the index. */
static enum zb_code expand_by_index(expansion *x, const zb__leaf *leaf, const zb__source *source,
                                    zb__index *index, zb_error *err) {
    inner_list list = {0};
    enum zb_code code = split_pieces(x, leaf->layout->shard, leaf->layout->pipeline->ndim,
                                     leaf->pieces, &list, err);
    if (code == ZB_OK)
        code = expand_inner(x, leaf, source, index, &list, err);
    free(list.items);
    zb__index_release(index);
    return code;
}

static enum zb_code wait_for_index(expansion *x, const zb__leaf *leaf, zb_error *err) {
    zb__leaf *copy = zb__arena_alloc(x->arena, sizeof *copy);
    if (!copy)
        return no_memory(err);
    *copy = *leaf;
    copy->next = x->chunk->waiting;
    x->chunk->waiting = copy;
    return ZB_OK;
}

static enum zb_code expand_shard(expansion *x, const zb__leaf *leaf, const zb__source *source,
                                 zb_error *err) {
    zb__index index;
    if (x->waits && !zb__index_find(x->chunk, leaf->layout->shard, source, &index))
        return wait_for_index(x, leaf, err);
    enum zb_code code =
        x->waits ? ZB_OK
                 : zb__index_load(x->chunk, leaf->layout->shard, source, x->scratch, &index, err);
    return code ? zb__leaf_add_context(leaf, code, err)
                : expand_by_index(x, leaf, source, &index, err);
}

/* Expands one chunk of any level: goes down while it can, then emits leaves. */
static enum zb_code expand_chunk(expansion *x, const zb__leaf *leaf, const zb__source *source,
                                 zb_error *err) {
    const zb__chunk_layout *layout = leaf->layout;
    if (leaf->missing)
        return x->emit(x->context, leaf, err);
    if (layout->shard && layout->pipeline->codec_count == 0)
        return expand_shard(x, leaf, source, err);
    enum zb_code code = zb__chunk_layout_check_stored(layout, leaf->size, err);
    if (code != ZB_OK)
        return zb__leaf_add_context(leaf, code, err);
    if (layout->pipeline->is_raw)
        return emit_slabs(x, leaf, err);
    return x->emit(x->context, leaf, err);
}

enum zb_code zb__shard_expand(const zb__leaf *shard, const zb__source *source, zb__arena *arena,
                              zb__scratch *scratch, zb__emit_fn emit, void *context,
                              zb_error *err) {
    expansion x = {.chunk = shard->chunk,
                   .arena = arena,
                   .scratch = scratch,
                   .emit = emit,
                   .context = context};
    return expand_shard(&x, shard, source, err);
}

/* ---- Keys --------------------------------------------------------------------------------- */

/* That it is missing is sure then, and no other array's chunk is taken for it. */
static enum zb_code open_fresh(zb__stored_chunk *chunk, const char *name, zb_error *err) {
    const zb_open opening = {.key = name, .home = zb__node_home(chunk->node)};
    zb_error why;
    enum zb_code code;
    unsigned tries = 0;
    do
        code = zb_object_open_as(zb__place_of(chunk->node->hierarchy, name), &opening,
                                 &chunk->object, &chunk->info, &why);
    while (code == ZB_ECONFLICT && zb__node_is_back(chunk->node, &tries, &why));
    if (code && err)
        *err = why;
    return code;
}

enum zb_code zb__stored_chunk_open(zb__stored_chunk *chunk, zb_error *err) {
    char *name = zb__array_chunk_key(chunk->node, chunk->index);
    if (!name)
        return no_memory(err);
    enum zb_code code = chunk->is_fresh ? open_fresh(chunk, name, err)
                                        : zb_object_open(zb__place_of(chunk->node->hierarchy, name),
                                                         name, &chunk->object, &chunk->info, err);
    free(name);
    chunk->is_missing = code == ZB_ENOTFOUND;
    if (chunk->is_missing) {
        chunk->object = NULL;
        return ZB_OK;
    }
    return code == ZB_OK ? ZB_OK : zb__stored_chunk_add_context(chunk, code, err);
}

static enum zb_code keep_leaf(void *context, const zb__leaf *leaf, zb_error *err) {
    zb__stored_chunk *chunk = context;
    zb__leaf *copy = zb__arena_alloc(&chunk->arena, sizeof *copy);
    if (!copy)
        return no_memory(err);
    *copy = *leaf;
    copy->next = chunk->leaves;
    chunk->leaves = copy;
    chunk->leaf_count++;
    return ZB_OK;
}

static int by_offset(const void *a, const void *b) {
    const zb__leaf *left = *(zb__leaf *const *)a, *right = *(zb__leaf *const *)b;
    if (left->missing != right->missing)
        return left->missing ? -1 : 1;
    uint64_t a_begin = zb__leaf_begin(left), b_begin = zb__leaf_begin(right);
    return a_begin < b_begin ? -1 : a_begin > b_begin;
}

/* True if the leaves are of one uncompressed chunk and want mostly the same bytes of it, as boxes
   do that interleave: the bands of a picture that lies by pixel. `b` does not begin before `a`. */
static bool want_the_same(const zb__leaf *a, const zb__leaf *b) {
    if (a->missing || !a->layout->pipeline->is_raw || a->layout != b->layout ||
        a->inner != b->inner || a->around != b->around || b->lo >= a->hi)
        return false;
    const uint64_t end = a->hi > b->hi ? a->hi : b->hi, shared_end = a->hi < b->hi ? a->hi : b->hi;
    return shared_end - b->lo > (end - a->lo) / 2 && end - a->lo <= 2 * SLAB_BYTES;
}

/* Makes one leaf of such neighbours in the sorted list, so that their bytes are read once. */
static void join_leaves(zb__stored_chunk *chunk) {
    for (zb__leaf *leaf = chunk->leaves; leaf->next;) {
        zb__leaf *next = leaf->next;
        if (!want_the_same(leaf, next)) {
            leaf = next;
            continue;
        }
        zb__piece *last = next->pieces; /* it is the only one: `next` has not been joined */
        last->next = leaf->pieces;
        leaf->pieces = last;
        leaf->hi = leaf->hi > next->hi ? leaf->hi : next->hi;
        leaf->next = next->next;
        chunk->leaf_count--;
    }
}

enum zb_code zb__stored_chunk_sort(zb__stored_chunk *chunk, zb_error *err) {
    if (chunk->leaf_count < 2)
        return ZB_OK;
    zb__leaf **all = malloc(chunk->leaf_count * sizeof(zb__leaf *));
    if (!all)
        return no_memory(err);
    size_t n = 0;
    for (zb__leaf *leaf = chunk->leaves; leaf; leaf = leaf->next)
        all[chunk->leaf_count - ++n] = leaf; /* the list is in reverse */
    qsort(all, n, sizeof(zb__leaf *), by_offset);
    for (size_t i = 0; i < n; i++)
        all[i]->next = i + 1 < n ? all[i + 1] : NULL;
    chunk->leaves = all[0];
    free(all);
    join_leaves(chunk);
    return ZB_OK;
}

enum zb_code zb__stored_chunk_begin(zb__stored_chunk *chunk, zb_error *err) {
    enum zb_code code =
        zb__array_chunk_layout(chunk->node->array, chunk->index, &chunk->layout, err);
    return code == ZB_OK ? ZB_OK : zb__stored_chunk_add_context(chunk, code, err);
}

zb__leaf zb__stored_chunk_whole(zb__stored_chunk *chunk) {
    return (zb__leaf){.chunk = chunk,
                      .layout = chunk->layout,
                      .pieces = chunk->pieces,
                      .inner = UINT64_MAX,
                      .size = chunk->info.size};
}

enum zb_code zb__stored_chunk_expand(zb__stored_chunk *chunk, zb__scratch *scratch, zb_error *err) {
    enum zb_code code = zb__stored_chunk_begin(chunk, err);
    if (code != ZB_OK)
        return code;
    zb__leaf whole = zb__stored_chunk_whole(chunk);
    if (chunk->layout->pipeline->codec_count > 0) /* nothing to look at before: the task opens it */
        return keep_leaf(chunk, &whole, err);
    code = zb__stored_chunk_open(chunk, err);
    if (code != ZB_OK)
        return code;
    whole.missing = chunk->object == NULL;
    whole.size = chunk->info.size;
    expansion x = {.chunk = chunk,
                   .arena = &chunk->arena,
                   .scratch = scratch,
                   .emit = keep_leaf,
                   .context = chunk};
    zb__source source = {.object = chunk->object, .size = chunk->info.size};
    code = expand_chunk(&x, &whole, &source, err);
    return code == ZB_OK ? zb__stored_chunk_sort(chunk, err) : code;
}

/* ---- Where indexes come later ------------------------------------------------------------- */

static expansion later_of(zb__stored_chunk *chunk, zb__scratch *scratch) {
    return (expansion){.chunk = chunk,
                       .arena = &chunk->arena,
                       .scratch = scratch,
                       .emit = keep_leaf,
                       .context = chunk,
                       .waits = true};
}

enum zb_code zb__leaf_expand(const zb__leaf *leaf, zb__scratch *scratch, zb_error *err) {
    expansion x = later_of(leaf->chunk, scratch);
    zb__source source = {.offset = leaf->offset, .size = leaf->size};
    return leaf->layout->pipeline->codec_count == 0 ? expand_chunk(&x, leaf, &source, err)
                                                    : keep_leaf(leaf->chunk, leaf, err);
}

enum zb_code zb__leaf_expand_by(const zb__leaf *leaf, const uint8_t *encoded, size_t size,
                                zb__scratch *scratch, zb_error *err) {
    expansion x = later_of(leaf->chunk, scratch);
    zb__source source = {.offset = leaf->offset, .size = leaf->size};
    zb__index index;
    enum zb_code code = zb__index_take(leaf->chunk, leaf->layout->shard, &source, encoded, size,
                                       scratch, &index, err);
    return code ? zb__leaf_add_context(leaf, code, err)
                : expand_by_index(&x, leaf, &source, &index, err);
}
