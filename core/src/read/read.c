/* SPDX-License-Identifier: MIT */
/* The public reading calls: arguments are checked and become boxes for the planner. */
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

#include "node/current.h"
#include "node/node.h"
#include "read/piece.h"
#include "read/plan.h"
#include "types/conversion.h"
#include "util/wait.h"
#include "zarrbridge/array.h"
#include "zarrbridge/read.h"

/* Outputs from this size on bypass the cache on their way to memory. Below, the next reader
   of the data would miss them there. Bytes. */
#define STREAM_BYTES ((uint64_t)32 << 20)

static enum zb_code check_types(const zb_node *node, zb_dtype dtype, zb_error *err) {
    if (!node->array)
        return zb_fail(err, ZB_EINVAL, "/%s is a group, not an array", node->path);
    if (zb_dtype_converts(node->array->info.dtype, dtype))
        return ZB_OK;
    return zb__no_conversion(node->path, node->array->info.dtype, dtype, false, err);
}

static enum zb_code check_values(const zb_node *node, const zb_values *values, zb_error *err) {
    if (values || !node->array->pipeline->is_variable)
        return ZB_OK;
    return zb_fail(err, ZB_EINVAL,
                   "array /%s: its elements have a variable length, and the view has no zb_values",
                   node->path);
}

/* The piece of one read, with its target filled in. *empty: it asks for no element. */
static enum zb_code piece_of(const zb_read *read, zb__arena *arena, zb__target *target,
                             zb__piece **out, bool *empty, zb_error *err) {
    enum zb_code code = check_types(read->node, read->view.dtype, err);
    if (code == ZB_OK)
        code = check_values(read->node, read->view.values, err);
    if (code != ZB_OK)
        return code;
    const zb__selection selection = {.node = read->node,
                                     .start = read->start,
                                     .count = read->count,
                                     .step = read->step,
                                     .strides = read->view.strides,
                                     .item = read->view.dtype.size};
    uint64_t bytes;
    code = zb__box_piece(&selection, arena, out, empty, &bytes, err);
    if (code != ZB_OK)
        return code;
    *target = (zb__target){.dtype = read->view.dtype,
                           .values = read->view.values,
                           .stream = bytes >= STREAM_BYTES,
                           .is_ahead = read->is_ahead};
    (*out)->target = target;
    (*out)->dst = read->view.data;
    return ZB_OK;
}

/* `progress` may be NULL. */
static enum zb_code read_all(const zb_read *reads, size_t count, bool is_fresh,
                             zb__progress *progress, zb_error *err) {
    zb__arena arena = {0};
    zb__box *boxes = zb__arena_alloc(&arena, count * sizeof *boxes);
    zb__target *targets = zb__arena_alloc(&arena, count * sizeof *targets);
    enum zb_code code = boxes && targets ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a read");
    size_t used = 0;
    for (size_t i = 0; i < count && code == ZB_OK; i++) {
        const zb_read *read = &reads[i];
        zb__piece *piece;
        bool empty;
        code = piece_of(read, &arena, &targets[i], &piece, &empty, err);
        if (code != ZB_OK || empty)
            continue;
        boxes[used++] = (zb__box){.node = read->node, .piece = piece};
        if (progress)
            progress->total += zb__piece_elements(piece, read->node->array->info.ndim);
    }
    if (code == ZB_OK)
        code = zb__plan_run(boxes, used, is_fresh, progress, err);
    zb__arena_free(&arena);
    return code;
}

enum zb_code zb__array_read_fresh(const zb_read *reads, size_t count, zb_error *err) {
    return read_all(reads, count, true, NULL, err);
}

static enum zb_code read_present(const zb_read *reads, size_t count, zb__progress *progress,
                                 zb_error *err) {
    enum zb_code code = read_all(reads, count, false, progress, err);
    for (size_t i = 0; i < count && code == ZB_OK; i++) {
        if (i == 0 || reads[i].node != reads[i - 1].node)
            code = zb_array_still(reads[i].node, err);
    }
    return code;
}

enum zb_code zb_array_read(const zb_read *reads, size_t count, zb_error *err) {
    return read_present(reads, count, NULL, err);
}

enum zb_code zb_array_read_with(const zb_read *reads, size_t count, zb_progress_fn fn,
                                void *context, zb_error *err) {
    zb__progress progress = zb__progress_begin(fn, context);
    zb__stopper *stopper = zb__stopper_mine();
    const zb__stopper before = *stopper;
    zb_thread_may_stop((zb_stop){zb__progress_ask, &progress});
    const enum zb_code code = read_present(reads, count, &progress, err);
    *stopper = before;
    stopper->is_stopped |= code == ZB_ECANCELLED && before.ask.fn;
    return code ? code : zb__progress_end(&progress, err);
}

/* ---- Points ------------------------------------------------------------------------------- */

/*
 * Reading single elements: they are ordered by chunk first, so that each chunk's points come
 * together and the chunk is decoded once, whatever the order of the request.
 */

/* Points planned at a time: bounds the memory of the plan. */
#define POINTS_AT_ONCE 16384

typedef struct point {
    uint64_t rank; /* orders points by chunk; equal ranks of different chunks do no harm */
    size_t i;
} point;

static int by_rank(const void *a, const void *b) {
    const point *left = a, *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return left->i < right->i ? -1 : left->i > right->i;
}

/* Checks all points and orders them by the innermost chunk that holds them. */
static enum zb_code order_points(const zb_points *points, point *ordered, zb_error *err) {
    const zb_node *node = points->node;
    const zb__array *array = node->array;
    const zb_array_info *info = &array->info;
    for (size_t i = 0; i < points->count; i++) {
        const uint64_t *at = points->coords + i * info->ndim;
        uint64_t chunk = 0, inner = 0;
        for (uint32_t d = 0; d < info->ndim; d++) {
            if (at[d] >= info->shape[d])
                return zb_fail(err, ZB_EINVAL,
                               "array /%s: point %zu has %llu in dimension %u of %llu", node->path,
                               i, (unsigned long long)at[d], d, (unsigned long long)info->shape[d]);
            zb__span outer = zb__grid_find(&array->grid, d, at[d]);
            chunk = chunk * array->chunk_count[d] + outer.index;
            inner = inner * zb__grid_count(&array->inner, d, outer.extent) +
                    zb__grid_find(&array->inner, d, at[d] - outer.start).index;
        }
        ordered[i] = (point){.rank = chunk << 24 | (inner & 0xffffff), .i = i};
    }
    qsort(ordered, points->count, sizeof *ordered, by_rank);
    return ZB_OK;
}

/* One box of one element each, for the points of these numbers. */
static enum zb_code read_ordered(const zb_points *points, const point *ordered, size_t count,
                                 const zb__target *target, zb_error *err) {
    const uint32_t ndim = points->node->array->info.ndim;
    const int64_t stride = points->view.strides ? points->view.strides[0] : target->dtype.size;
    zb__arena arena = {0};
    zb__box *boxes = zb__arena_alloc(&arena, count * sizeof *boxes);
    enum zb_code code = boxes ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for reading points");
    for (size_t i = 0; i < count && code == ZB_OK; i++) {
        zb__piece *piece = zb__piece_new(&arena, ndim);
        if (!piece) {
            code = zb_fail(err, ZB_ENOMEM, "no memory for reading points");
            break;
        }
        piece->next = NULL;
        piece->target = target;
        piece->dst = (char *)points->view.data + (int64_t)ordered[i].i * stride;
        for (uint32_t d = 0; d < ndim; d++) {
            zb__piece_start(piece)[d] = points->coords[ordered[i].i * ndim + d];
            zb__piece_count(piece, ndim)[d] = 1;
            zb__piece_step(piece, ndim)[d] = 1;
            zb__piece_stride(piece, ndim)[d] = target->dtype.size;
        }
        boxes[i] = (zb__box){.node = points->node, .piece = piece};
    }
    if (code == ZB_OK)
        code = zb__plan_run(boxes, count, false, NULL, err);
    zb__arena_free(&arena);
    return code;
}

static enum zb_code check(const zb_points *points, zb_error *err) {
    const zb_node *node = points->node;
    if (!node->array)
        return zb_fail(err, ZB_EINVAL, "/%s is a group, not an array", node->path);
    if (!zb_dtype_converts(node->array->info.dtype, points->view.dtype))
        return zb_fail(err, ZB_EUNSUPPORTED, "array /%s: its elements do not convert", node->path);
    if (node->array->pipeline->is_variable && !points->view.values)
        return zb_fail(err, ZB_EINVAL,
                       "array /%s: its elements have a variable length, and there is no zb_values",
                       node->path);
    return ZB_OK;
}

enum zb_code zb_array_read_points(const zb_points *points, zb_error *err) {
    const size_t count = points->count;
    enum zb_code code = check(points, err);
    if (code || count == 0)
        return code;
    point *ordered = count <= SIZE_MAX / sizeof *ordered ? malloc(count * sizeof *ordered) : NULL;
    if (!ordered)
        return zb_fail(err, ZB_ENOMEM, "no memory for %zu points", count);
    const zb__target target = {.dtype = points->view.dtype, .values = points->view.values};
    code = order_points(points, ordered, err);
    for (size_t i = 0; i < count && code == ZB_OK; i += POINTS_AT_ONCE) {
        const size_t n = count - i < POINTS_AT_ONCE ? count - i : POINTS_AT_ONCE;
        code = read_ordered(points, ordered + i, n, &target, err);
    }
    free(ordered);
    return code == ZB_OK ? zb_array_still(points->node, err) : code;
}
