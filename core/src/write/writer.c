/* SPDX-License-Identifier: MIT */
/* The public writing calls: boxes are checked, cut along the grid, and encoded or gathered. */
#include "write/writer.h"

#include <stdlib.h>
#include <string.h>

#include "codec/encode.h"
#include "node/current.h"
#include "node/node.h"
#include "node/v2.h"
#include "read/piece.h"
#include "store/store.h"
#include "types/conversion.h"
#include "types/scatter.h"
#include "types/values.h"
#include "util/wait.h"
#include "write/budget.h"
#include "write/encode_blocks.h"
#include "zarrbridge/array.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

/* ---- Elements of variable length that fit ------------------------------------------------- */

/* Elements of variable length that are going to wait have to be such as can be encoded: a chunk
   that no flush could ever store would wait for ever. */

/* What a codec may put before each element, and before all of them. */
#define OVERHEAD 8

/* The place of an inner chunk in its chunk, which may not be open. */
typedef struct place {
    uint64_t origin[ZB_MAX_NDIM];
    uint64_t number;
    const zb__buffered_inner *buffered; /* NULL: no element of it was written */
} place;

static bool is_written(const zb__buffered_inner *inner, uint64_t i) {
    return inner->written ? inner->written[i >> 6] >> (i & 63) & 1 : i < inner->in_order;
}

/* The inner chunk's elements: the fill value beyond the array's edge, those that were written, and
   nothing. They point at bytes of others. */
static void bring_together(const zb__write_layout *layout, const place *at, uint8_t *elements) {
    const zb_dtype dtype = layout->inner->pipeline->dtype;
    uint64_t inside[ZB_MAX_NDIM], number = at->number, item = dtype.size;
    if (zb__inner_inside(layout, at->origin, number, inside) * item < layout->inner_bytes) {
        int64_t strides[ZB_MAX_NDIM];
        zb__inner_fill(layout, elements);
        for (uint32_t d = 0; d < layout->ndim; d++)
            strides[d] = (int64_t)(layout->strides[d] * item);
        const zb__box_copy box = {.ndim = layout->ndim,
                                  .count = inside,
                                  .dst_strides = strides,
                                  .src_dtype = dtype,
                                  .dst_dtype = dtype};
        uint8_t *nothing = elements + layout->inner_bytes; /* zeros, see measure */
        zb__scatter_fill(&box, nothing, elements);
    }
    for (uint64_t i = 0; at->buffered && i < layout->inner_bytes / item; i++)
        if (is_written(at->buffered, i))
            memcpy(elements + i * item, at->buffered->elements + i * item, item);
}

static enum zb_code measure(const zb__write_layout *layout, const place *at, zb__piece *part,
                            zb_error *err) {
    uint64_t bytes;
    /* One element more, which stays as it is. */
    uint8_t *elements = calloc(1, layout->inner_bytes + layout->inner->pipeline->dtype.size);
    if (!elements)
        return zb_fail(err, ZB_ENOMEM, "no memory for a chunk that is written in parts");
    bring_together(layout, at, elements);
    zb__inner_put(layout, part, elements);
    enum zb_code code = zb__chunk_measure(layout->inner, elements, &bytes, err);
    free(elements);
    return code;
}

/* True if the upper bound of what the inner chunk holds in memory, replaced texts included, is
   within the limit: then no element has to be looked at. */
static bool fits_surely(const zb__write_layout *layout, const zb__buffered_inner *buffered,
                        uint64_t bytes) {
    const uint64_t item = layout->inner->pipeline->dtype.size, count = layout->inner_bytes / item;
    const uint64_t fill =
        zb__values_bytes_of(layout->inner->pipeline->dtype, layout->fill) + OVERHEAD;
    uint64_t most;
    if (__builtin_mul_overflow(count + 1, fill, &most) ||
        __builtin_add_overflow(most, bytes, &most) ||
        __builtin_add_overflow(most, buffered ? zb__values_bytes(buffered->values) : 0, &most))
        return false;
    return most <= zb_limits_get()->chunk_bytes;
}

/* Looks at the inner chunks that a piece of the chunk at `index` touches, as they would be with the
   piece in them; elements that were not written count as nothing, since nobody knows those that are
   stored. `layout`: of the chunk. `bytes`: those that the piece's elements point at; `part` is room
   for a part of it. The codec's own error, ZB_ELIMIT; ZB_ENOMEM. */
static enum zb_code piece_fits(const zb_writer *writer, const zb__write_layout *layout,
                               const uint64_t *index, zb__piece *piece, zb__piece *part,
                               uint64_t bytes, zb_error *err) {
    if (!layout->inner->pipeline->is_variable)
        return ZB_OK;
    const zb__buffered_chunk *chunk = zb__buffered_chunk_find(writer, index);
    zb__grid grid = zb__grid_of(layout->ndim, layout->inner_shape);
    place at;
    for (uint32_t d = 0; d < layout->ndim; d++)
        at.origin[d] = zb__chunk_span(layout, d, index).start;
    enum zb_code code = ZB_OK;
    zb__cells cells;
    zb__cells_begin(&cells, piece, &grid);
    for (; !cells.done && code == ZB_OK; zb__cells_next(&cells)) {
        at.number = zb__inner_number(layout, &cells);
        at.buffered = chunk && chunk->inner_chunks[at.number].elements
                          ? &chunk->inner_chunks[at.number]
                          : NULL;
        if (fits_surely(layout, at.buffered, bytes))
            continue;
        zb__cells_part(&cells, NULL, part);
        code = measure(layout, &at, part, err);
    }
    return code == ZB_OK ? ZB_OK : zb__chunk_add_context(writer, index, code, err);
}

/* ---- Opening ------------------------------------------------------------------------------ */

/* Chunks that one box covers are handed on in groups of this many: bounds the plan's memory. */
#define JOBS_AT_ONCE 4096

static enum zb_code open_writer(const zb_node *node, const zb_write_options *options,
                                zb_batch_check_fn check, zb_writer **out, zb_error *err) {
    if (!node->array)
        return zb_fail(err, ZB_EINVAL, "/%s is a group, not an array", node->path);
    if (!zb__node_store(node)->ops->put)
        return zb__store_fail_read_only(zb__node_store(node), err);
    enum zb_code code = zb_node_may_change(node, err);
    if (code)
        return code;
    zb_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return zb_fail(err, ZB_ENOMEM, "no memory for a writer");
    code = zb__write_layout_init(&writer->layout, node->array, err);
    if (options)
        writer->options = *options;
    if (code == ZB_OK)
        code = zb__live_check(node, &writer->layout, writer->options.strategy, err);
    if (code != ZB_OK) {
        free(writer->layout.fill);
        free(writer);
        return code;
    }
    if (writer->options.strategy == ZB_INPLACE)
        writer->options.store_empty = true; /* a chunk that is not stored cannot be overwritten */
    pthread_mutex_init(&writer->document_lock, NULL);
    zb__block_pool_init(&writer->blocks, writer->layout.inner_chunks, writer->layout.inner_bound);
    writer->node = zb_node_retain((zb_node *)node);
    writer->known = zb_node_retain(writer->node);
    writer->first = zb_node_retain(writer->node);
    zb_batch_begin(&writer->batch, zb__node_store(node), check, writer);
    zb_hierarchy_set_sync(node->hierarchy, writer->options.sync);
    *out = writer;
    return ZB_OK;
}

enum zb_code zb_writer_open(const zb_node *array, const zb_write_options *options, zb_writer **out,
                            zb_error *err) {
    return open_writer(array, options, zb__chunk_allowed, out, err);
}

/* What is put is right for the array as the owner of the lock knows it. */
static enum zb_code check_document(void *context, const char *key, zb_error *err) {
    const zb_writer *writer = context;
    (void)key;
    return zb__document_stands(writer->node, err);
}

enum zb_code zb__writer_open_unchecked(const zb_node *node, zb_writer **out, zb_error *err) {
    zb_write_options options = {.sync = zb__hierarchy_sync(node->hierarchy)};
    return open_writer(node, &options, check_document, out, err);
}

/* ---- Writing one box ---------------------------------------------------------------------- */

typedef struct plan {
    zb__arena memory; /* of jobs and their pieces */
    zb__job *jobs;
    size_t count;
    zb__piece *piece, *part; /* of the current chunk, and of one of its inner chunks */
} plan;

/* True if the piece covers all of the chunk that lies inside the array. */
static bool covers(const zb__write_layout *layout, const uint64_t *index, zb__piece *piece) {
    for (uint32_t d = 0; d < layout->ndim; d++) {
        uint64_t inside = zb__span_inside(zb__chunk_span(layout, d, index), layout->shape[d]);
        if (zb__piece_count(piece, layout->ndim)[d] != inside)
            return false; /* with a step above 1 the count is smaller, too */
    }
    return true;
}

/* Forgets the plan's jobs, and gives back what they hold. */
static void end_jobs(zb_writer *writer, plan *p) {
    for (size_t i = 0; i < p->count; i++) {
        if (p->jobs[i].piece)
            zb__write_layout_give(writer, p->jobs[i].layout);
    }
    zb__arena_free(&p->memory);
    p->jobs = NULL;
    p->count = 0;
}

static enum zb_code run_jobs(zb_writer *writer, plan *p, zb_error *err) {
    enum zb_code code = zb__jobs_run(writer, p->jobs, p->count, false, err);
    for (size_t i = 0; i < p->count; i++) {
        /* Drops the buffered chunk at this index, which is stored now or overwritten. */
        zb__buffered_chunk *buffered =
            p->jobs[i].stored ? zb__buffered_chunk_find(writer, p->jobs[i].index) : NULL;
        if (buffered)
            zb__buffered_chunk_drop(writer, buffered);
    }
    end_jobs(writer, p);
    return code;
}

/* Stores buffered chunks, the least recently used first, until `excess` bytes or all are free. */
static enum zb_code store_oldest(zb_writer *writer, uint64_t excess, zb_error *err) {
    zb__buffered_chunk **list = malloc((writer->buffered.count + 1) * sizeof(zb__buffered_chunk *));
    if (!list)
        return zb_fail(err, ZB_ENOMEM, "no memory for a list of chunks");
    size_t count = 0;
    uint64_t freed = 0;
    for (zb__buffered_chunk *c = writer->oldest; c && freed < excess; c = c->newer) {
        list[count++] = c;
        freed += c->bytes + c->inner_bytes;
    }
    enum zb_code code = zb__merge(writer, list, count, err);
    free(list);
    return code;
}

/* Frees the memory that the writer only keeps for later. */
static void free_idle(zb_writer *writer) {
    zb__spare_free(writer);
    zb__block_pool_free(&writer->blocks);
}

/* The bytes that have to go so that `more` bytes fit the budget, and an eighth of it stays free
   besides: several chunks are stored together. 0 while they fit. */
static uint64_t excess_with(uint64_t more) {
    const uint64_t budget = zb_limits_get()->write_cache_bytes;
    uint64_t all;
    if (__builtin_add_overflow(zb__waiting_bytes(0), more, &all))
        all = UINT64_MAX;
    return all > budget ? all - (budget - budget / 8) : 0;
}

/* Makes room for `more` bytes that are going to wait. The sum is that of the process, and other
   threads change it at any time: so the plan's jobs, which may point at buffered chunks, are run
   before buffered chunks are stored, whatever the sum is by then. */
static enum zb_code keep_budget(zb_writer *writer, plan *p, uint64_t more, zb_error *err) {
    if (excess_with(more) == 0)
        return ZB_OK;
    free_idle(writer);
    if (excess_with(more) == 0)
        return ZB_OK;
    enum zb_code code = p->count > 0 ? run_jobs(writer, p, err) : ZB_OK;
    free_idle(writer);
    const uint64_t excess = excess_with(more);
    if (code == ZB_OK && excess > 0 && writer->oldest)
        code = store_oldest(writer, excess, err);
    free_idle(writer);
    return code;
}

/* Adds a complete chunk to the plan: covered by a piece that lasts as long as the plan, or gathered
   in a buffered chunk. */
static enum zb_code add_job(zb_writer *writer, plan *p, const uint64_t *index, zb__piece *piece,
                            const zb__buffered_chunk *buffered, zb_error *err) {
    uint32_t ndim = writer->layout.ndim;
    if (!p->jobs)
        p->jobs = zb__arena_alloc(&p->memory, JOBS_AT_ONCE * sizeof *p->jobs);
    uint64_t *copy = zb__arena_alloc(&p->memory, ndim * sizeof *copy);
    if (!p->jobs || !copy)
        return zb_fail(err, ZB_ENOMEM, "no memory for the plan of a write");
    memcpy(copy, index, ndim * sizeof *copy);
    const zb__write_layout *layout = buffered ? buffered->layout : NULL;
    enum zb_code code = buffered ? ZB_OK : zb__write_layout_take(writer, index, &layout, err);
    if (code)
        return code;
    p->jobs[p->count++] =
        (zb__job){.index = copy, .layout = layout, .piece = piece, .buffered = buffered};
    return p->count == JOBS_AT_ONCE ? run_jobs(writer, p, err) : ZB_OK;
}

static enum zb_code add_part(zb_writer *writer, plan *p, const uint64_t *index, zb_error *err) {
    zb__buffered_chunk *buffered;
    const zb__write_layout *layout;
    enum zb_code code = zb__write_layout_take(writer, index, &layout, err);
    if (code != ZB_OK)
        return code;
    uint64_t budget = zb_limits_get()->write_cache_bytes, waiting = zb__waiting_bytes(0);
    uint64_t text; /* was looked at before, so that there is no error */
    zb__piece_measure(layout, p->piece, &text, NULL);
    uint64_t more = zb__write_buffer_bytes(writer, layout, index, p->piece, text,
                                           waiting < budget ? budget - waiting : 0);
    code = piece_fits(writer, layout, index, p->piece, p->part, text, err);
    zb__write_layout_give(writer, layout);
    if (code == ZB_OK)
        code = keep_budget(writer, p, more, err);
    if (code != ZB_OK)
        return code;
    code = zb__write_buffer_add(writer, index, p->piece, p->part, &buffered, err);
    if (code == ZB_OK && buffered->missing == 0)
        code = add_job(writer, p, index, NULL, buffered, err);
    return code == ZB_OK ? keep_budget(writer, p, 0, err) : code;
}

static enum zb_code write_box(zb_writer *writer, plan *p, zb__piece *box, zb_error *err) {
    const uint32_t *axis = writer->layout.outer->axis;
    enum zb_code code = ZB_OK;
    zb__cells cells;
    zb__cells_begin(&cells, box, writer->layout.grid);
    for (; !cells.done && code == ZB_OK; zb__cells_next(&cells)) {
        zb__cells_part(&cells, axis, p->piece);
        if (!covers(&writer->layout, cells.cell, p->piece)) {
            code = add_part(writer, p, cells.cell, err);
            continue;
        }
        zb__piece *piece = zb__cells_piece(&cells, &p->memory, axis);
        code = piece ? add_job(writer, p, cells.cell, piece, NULL, err)
                     : zb_fail(err, ZB_ENOMEM, "no memory for the plan of a write");
    }
    return code == ZB_OK && p->count > 0 ? run_jobs(writer, p, err) : code;
}

enum zb_code zb_writer_write(zb_writer *writer, const zb_write *write, zb_error *err) {
    const zb_array_info *info = &writer->node->array->info;
    if (!zb_dtype_writes(write->dtype, info->dtype))
        return zb__no_conversion(writer->node->path, write->dtype, info->dtype, true, err);
    zb__arena memory = {0};
    plan p = {0};
    zb__piece *box;
    bool empty;
    uint64_t bytes;
    zb__selection selection = {.node = writer->known,
                               .start = write->start,
                               .count = write->count,
                               .step = write->step,
                               .strides = write->strides,
                               .item = write->dtype.size};
    zb__target target = {.dtype = write->dtype};
    enum zb_code code = zb__box_piece(&selection, &memory, &box, &empty, &bytes, err);
    if (code == ZB_OK && !empty) {
        box->dst = (char *)write->data; /* only read from here on */
        box->target = &target;
        code = zb__piece_check(&writer->layout, box, err);
        if (code != ZB_OK)
            zb_error_prefix(err, code, "array /%s", writer->node->path);
        p.piece = zb__piece_new(&memory, info->ndim);
        p.part = zb__piece_new(&memory, info->ndim);
        if (code == ZB_OK && !(p.piece && p.part))
            code = zb_fail(err, ZB_ENOMEM, "no memory for the plan of a write");
        if (code == ZB_OK)
            do {
                code = write_box(writer, &p, box, err);
                end_jobs(writer, &p);
            } while (zb__writer_follows(writer, code));
    }
    zb__arena_free(&memory);
    return code;
}

/* ---- Flushing and closing ----------------------------------------------------------------- */

enum zb_code zb__fail_lost(const zb_writer *writer, zb_error *err) {
    return zb_fail(err, ZB_EIO,
                   "store %s, array /%s: an earlier flush failed, and what was written before it "
                   "has to be written again by another writer",
                   zb__node_store(writer->node)->label, writer->node->path);
}

/* Makes durable what the store has of ours. What is gone when that fails has its old content: not
   even a later flush that succeeds may claim to have stored it. */
static enum zb_code flush_store(zb_writer *writer, zb_error *err) {
    if (writer->options.sync == ZB_SYNC_NONE)
        return ZB_OK;
    enum zb_code code = zb_store_flush_batch(zb__node_store(writer->node), &writer->batch, err);
    const bool waited = atomic_exchange(&writer->waits, false);
    writer->lost = writer->lost || (code != ZB_OK && waited);
    return code;
}

enum zb_code zb_writer_flush(zb_writer *writer, zb_error *err) {
    zb_error second;
    const bool had_lost = writer->lost;
    enum zb_code code;
    zb__stop_no_more();
    const enum zb_code shown = zb_writer_show(writer, err);
    if (shown)
        return shown;
    /* Chunks that cannot be stored go on waiting in memory; that keeps back no others. */
    do
        code = writer->oldest ? store_oldest(writer, UINT64_MAX, err) : ZB_OK;
    while (zb__writer_follows(writer, code));
    free_idle(writer);
    const enum zb_code flushed = flush_store(writer, code ? &second : err);
    code = code ? code : flushed;
    return code == ZB_OK && had_lost ? zb__fail_lost(writer, err) : code;
}

void zb_writer_abandon(zb_writer *writer) {
    if (!writer)
        return;
    while (writer->oldest)
        zb__buffered_chunk_drop(writer, writer->oldest);
    zb__spare_free(writer);
    zb__writer_forget_hidden(writer);
    zb_batch_end(&writer->batch);
    zb__block_pool_free(&writer->blocks);
    zb__write_layouts_free(writer);
    zb__map_free(&writer->buffered);
    free(writer->layout.fill);
    pthread_mutex_destroy(&writer->document_lock);
    zb_node_release(writer->first);
    zb_node_release(writer->known);
    zb_node_release(writer->node);
    free(writer);
}

enum zb_code zb_writer_close(zb_writer *writer, zb_error *err) {
    enum zb_code code = writer ? zb_writer_flush(writer, err) : ZB_OK;
    zb_writer_abandon(writer);
    return code;
}
