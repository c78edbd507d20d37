/* SPDX-License-Identifier: MIT */
#include "read/box.h"

#include "base/checked.h"
#include "node/node.h"
#include "read/piece.h"
#include "zarrbridge/array.h"
#include "zarrbridge/error.h"

static enum zb_code bad_box(const zb__selection *s, uint32_t d, uint64_t start, uint64_t count,
                            uint64_t step, zb_error *err) {
    return zb_fail(err, ZB_EINVAL,
                   "array /%s: %llu elements from %llu, %llu apart, leave dimension %u of %llu",
                   s->node->path, (unsigned long long)count, (unsigned long long)start,
                   (unsigned long long)step, d, (unsigned long long)s->node->array->info.shape[d]);
}

/* True if start + (count - 1) * step stays below extent. count is not 0. */
static bool is_inside(uint64_t start, uint64_t count, uint64_t step, uint64_t extent) {
    uint64_t last;
    return step > 0 && zb__mul_u64(count - 1, step, &last) && zb__add_u64(last, start, &last) &&
           last < extent;
}

/* Byte strides of a C-order block of these counts. False when its number of bytes does not fit. */
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

enum zb_code zb__box_piece(const zb__selection *s, zb__arena *memory, zb__piece **out, bool *empty,
                           uint64_t *bytes, zb_error *err) {
    const zb_array_info *info = &s->node->array->info;
    uint32_t ndim = info->ndim;
    zb__piece *piece = zb__piece_new(memory, ndim);
    if (!piece)
        return zb_fail(err, ZB_ENOMEM, "no memory for a box");
    *piece = (zb__piece){0};
    *out = piece;
    *empty = false;
    *bytes = 0;
    for (uint32_t d = 0; d < ndim; d++) {
        uint64_t start = s->start ? s->start[d] : 0;
        uint64_t step = s->step ? s->step[d] : 1;
        uint64_t rest =
            start < info->shape[d] && step ? (info->shape[d] - start - 1) / step + 1 : 0;
        uint64_t count = s->count ? s->count[d] : rest;
        zb__piece_start(piece)[d] = start;
        zb__piece_count(piece, ndim)[d] = count;
        zb__piece_step(piece, ndim)[d] = step;
        if (count == 0)
            *empty = true;
        else if (!is_inside(start, count, step, info->shape[d]))
            return bad_box(s, d, start, count, step, err);
    }
    int64_t *strides = zb__piece_stride(piece, ndim);
    if (!*empty && !c_strides(ndim, zb__piece_count(piece, ndim), s->item, strides, bytes))
        return zb_fail(err, ZB_EINVAL, "array /%s: the box has more bytes than memory can have",
                       s->node->path);
    for (uint32_t d = 0; s->strides && d < ndim; d++)
        strides[d] = s->strides[d];
    return ZB_OK;
}
