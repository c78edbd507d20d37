/* SPDX-License-Identifier: MIT */
/* The public reading calls: arguments are checked and become boxes for the planner. */
#include "read/read.h"

#include <stdlib.h>

#include "base/wait.h"
#include "node/current.h"
#include "node/node.h"
#include "read/piece.h"
#include "read/plan.h"
#include "types/conversion.h"
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
    if (values || !node->array->chain->is_variable)
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
    *target = (zb__target){
        .dtype = read->view.dtype, .values = read->view.values, .stream = bytes >= STREAM_BYTES};
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
            code = zb__array_still(reads[i].node, err);
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
