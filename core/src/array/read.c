/* SPDX-License-Identifier: MIT */
/* The public reading calls: arguments are checked and become boxes for the planner. */
#include "array/read.h"

#include <stdlib.h>

#include "base/checked.h"

/* Outputs from this size on bypass the cache on their way to memory. Below, the next reader
   of the data would miss them there. Bytes. */
#define STREAM_BYTES ((uint64_t)32 << 20)

static enum zb_code bad_box(const zb_read *read, uint32_t d, uint64_t start, uint64_t count,
                            uint64_t step, zb_error *err) {
    return zb_fail(err, ZB_EINVAL,
                   "array /%s: %llu elements from %llu, %llu apart, leave dimension %u of %llu",
                   read->node->path, (unsigned long long)count, (unsigned long long)start,
                   (unsigned long long)step, d,
                   (unsigned long long)read->node->array->info.shape[d]);
}

/* Does start + (count - 1) * step stay below extent? count is not 0. */
static bool is_inside(uint64_t start, uint64_t count, uint64_t step, uint64_t extent) {
    uint64_t last;
    return step > 0 && zb__mul_u64(count - 1, step, &last) && zb__add_u64(last, start, &last) &&
           last < extent;
}

static enum zb_code check_types(const zb_node *node, zb_dtype dtype, zb_error *err) {
    if (!node->array)
        return zb_fail(err, ZB_EINVAL, "/%s is a group, not an array", node->path);
    if (zb_dtype_converts(node->array->info.dtype, dtype))
        return ZB_OK;
    char from[24], to[24];
    return zb_fail(err, ZB_EUNSUPPORTED, "array /%s: %s does not convert to %s", node->path,
                   zb_dtype_name(node->array->info.dtype, from), zb_dtype_name(dtype, to));
}

/* Byte strides of a C-order block of these counts. False when it has more bytes than there are. */
static bool c_strides(uint32_t ndim, const uint64_t *count, size_t item, int64_t *strides,
                      uint64_t *bytes) {
    uint64_t stride = item;
    for (uint32_t d = ndim; d-- > 0;) {
        strides[d] = (int64_t)stride;
        if (!zb__mul_u64(stride, count[d], &stride) || stride > INT64_MAX)
            return false;
    }
    *bytes = stride;
    return true;
}

/* Fills piece with the read's box and says whether it is empty. *bytes is the size of its elements. */
static enum zb_code fill_piece(const zb_read *read, zb__piece *piece, bool *empty, uint64_t *bytes,
                               zb_error *err) {
    const zb_array_info *info = &read->node->array->info;
    uint32_t ndim = info->ndim;
    *empty = false;
    for (uint32_t d = 0; d < ndim; d++) {
        uint64_t start = read->start ? read->start[d] : 0;
        uint64_t step = read->step ? read->step[d] : 1;
        uint64_t count = read->count           ? read->count[d]
                         : start < info->shape[d] && step ? (info->shape[d] - start - 1) / step + 1
                                                          : 0;
        zb__piece_start(piece)[d] = start;
        zb__piece_count(piece, ndim)[d] = count;
        zb__piece_step(piece, ndim)[d] = step;
        if (count == 0)
            *empty = true;
        else if (!is_inside(start, count, step, info->shape[d]))
            return bad_box(read, d, start, count, step, err);
    }
    int64_t *strides = zb__piece_stride(piece, ndim);
    if (!*empty && !c_strides(ndim, zb__piece_count(piece, ndim), read->view.dtype.size, strides,
                              bytes))
        return zb_fail(err, ZB_EINVAL, "array /%s: the box has more bytes than memory can have",
                       read->node->path);
    for (uint32_t d = 0; read->view.strides && d < ndim; d++)
        strides[d] = read->view.strides[d];
    piece->next = NULL;
    piece->dst = read->view.data;
    return ZB_OK;
}

enum zb_code zb_array_read(const zb_read *reads, size_t count, zb_error *err) {
    zb__arena arena = {0};
    zb__box *boxes = zb__arena_alloc(&arena, count * sizeof *boxes);
    zb__target *targets = zb__arena_alloc(&arena, count * sizeof *targets);
    enum zb_code code = boxes && targets ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a read");
    size_t used = 0;
    for (size_t i = 0; i < count && code == ZB_OK; i++) {
        const zb_read *read = &reads[i];
        code = check_types(read->node, read->view.dtype, err);
        if (code != ZB_OK)
            break;
        zb__piece *piece = zb__piece_new(&arena, read->node->array->info.ndim);
        if (!piece) {
            code = zb_fail(err, ZB_ENOMEM, "no memory for a read");
            break;
        }
        bool empty;
        uint64_t bytes = 0;
        code = fill_piece(read, piece, &empty, &bytes, err);
        targets[i] = (zb__target){.dtype = read->view.dtype, .stream = bytes >= STREAM_BYTES};
        piece->target = &targets[i];
        if (code == ZB_OK && !empty)
            boxes[used++] = (zb__box){.node = read->node, .piece = piece};
    }
    if (code == ZB_OK)
        code = zb__plan_run(boxes, used, err);
    zb__arena_free(&arena);
    return code;
}
