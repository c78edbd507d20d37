/* SPDX-License-Identifier: MIT */
#include "read/piece.h"

#include "node/node.h"
#include "util/checked.h"
#include "zarrbridge/array.h"
#include "zarrbridge/error.h"

zb__piece *zb__piece_new(zb__arena *arena, uint32_t ndim) {
    return zb__arena_alloc(arena, sizeof(zb__piece) + 4 * (size_t)ndim * sizeof(uint64_t));
}

uint64_t zb__piece_elements(zb__piece *piece, uint32_t ndim) {
    uint64_t elements = 1;
    for (uint32_t d = 0; d < ndim; d++)
        elements *= zb__piece_count(piece, ndim)[d];
    return elements;
}

uint64_t zb__pieces_elements(zb__piece *first, uint32_t ndim) {
    uint64_t elements = 0;
    for (zb__piece *piece = first; piece; piece = piece->next)
        elements += zb__piece_elements(piece, ndim);
    return elements;
}

void zb__piece_extent(zb__piece *piece, uint32_t ndim, const uint64_t *shape, size_t item,
                      uint64_t *lo, uint64_t *hi) {
    const uint64_t *start = zb__piece_start(piece);
    const uint64_t *count = zb__piece_count(piece, ndim);
    const uint64_t *step = zb__piece_step(piece, ndim);
    uint64_t stride = item, first = 0, last = 0;
    for (uint32_t d = ndim; d-- > 0;) {
        first += start[d] * stride;
        last += (start[d] + (count[d] - 1) * step[d]) * stride;
        stride *= shape[d];
    }
    *lo = first;
    *hi = last + item;
}

/* Finds the cell of element `first[d]` of the box along d, and the number of elements that follow
   it in that cell. */
static void enter_cell(zb__cells *cells, uint32_t d, uint64_t first) {
    uint32_t ndim = cells->grid.ndim;
    uint64_t step = zb__piece_step(cells->piece, ndim)[d];
    uint64_t at = zb__piece_start(cells->piece)[d] + first * step;
    zb__span cell = zb__grid_find(&cells->grid, d, at);
    uint64_t after = cell.extent - 1 - (at - cell.start);
    uint64_t room = (step > 1 ? after / step : after) + 1;
    uint64_t left = zb__piece_count(cells->piece, ndim)[d] - first;
    cells->cell[d] = cell.index;
    cells->start[d] = cell.start;
    cells->first[d] = first;
    cells->run[d] = room < left ? room : left;
}

void zb__cells_begin(zb__cells *cells, zb__piece *piece, const zb__grid *grid) {
    cells->piece = piece;
    cells->grid = *grid;
    cells->done = false;
    for (uint32_t d = 0; d < grid->ndim; d++)
        enter_cell(cells, d, 0);
}

void zb__cells_next(zb__cells *cells) {
    for (uint32_t d = cells->grid.ndim; d-- > 0;) {
        uint64_t first = cells->first[d] + cells->run[d];
        if (first < zb__piece_count(cells->piece, cells->grid.ndim)[d]) {
            enter_cell(cells, d, first);
            return;
        }
        if (cells->first[d] > 0) /* else this is the first cell, and the only one */
            enter_cell(cells, d, 0);
    }
    cells->done = true;
}

void zb__cells_part(const zb__cells *cells, const uint32_t *axis, zb__piece *part) {
    uint32_t ndim = cells->grid.ndim;
    zb__piece *whole = cells->piece;
    part->next = NULL;
    part->target = whole->target;
    int64_t offset = 0;
    for (uint32_t i = 0; i < ndim; i++) {
        uint32_t d = axis ? axis[i] : i;
        uint64_t step = zb__piece_step(whole, ndim)[d];
        uint64_t at = zb__piece_start(whole)[d] + cells->first[d] * step;
        int64_t stride = zb__piece_stride(whole, ndim)[d];
        zb__piece_start(part)[i] = at - cells->start[d];
        zb__piece_count(part, ndim)[i] = cells->run[d];
        zb__piece_step(part, ndim)[i] = step;
        zb__piece_stride(part, ndim)[i] = stride;
        offset += (int64_t)cells->first[d] * stride;
    }
    part->dst = whole->dst + offset;
}

zb__piece *zb__cells_piece(const zb__cells *cells, zb__arena *arena, const uint32_t *axis) {
    zb__piece *part = zb__piece_new(arena, cells->grid.ndim);
    if (part)
        zb__cells_part(cells, axis, part);
    return part;
}

/* ---- Boxes of callers --------------------------------------------------------------------- */

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
