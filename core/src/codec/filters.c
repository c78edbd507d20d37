/* SPDX-License-Identifier: MIT */
/* See filters.h. */
#include "codec/filters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codec/number.h"
#include "types/scatter.h"
#include "util/checked.h"
#include "zarrbridge/limits.h"

void zb__filters_free(zb__filters *filters) {
    for (size_t i = 0; i < filters->count; i++) {
        if (!filters->list[i].is_borrowed)
            zb__codec_free(&filters->list[i].codec);
    }
    free(filters->list);
    *filters = (zb__filters){.list = NULL};
}

bool zb__filters_same(const zb__filters *a, const zb__filters *b) {
    bool same = a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++) {
        const zb__codec *x = &a->list[i].codec, *y = &b->list[i].codec;
        same = x->ops == y->ops && (!x->ops->same || x->ops->same(x->state, y->state));
    }
    return same;
}

static zb__filter *add(zb__filters *filters) {
    zb__filter *list = realloc(filters->list, (filters->count + 1) * sizeof *list);
    if (!list)
        return NULL;
    filters->list = list;
    return &list[filters->count++];
}

bool zb__filters_inherit(zb__filters *filters, const zb__filters *inherited) {
    for (size_t i = 0; inherited && i < inherited->count; i++) {
        zb__filter *filter = add(filters);
        if (!filter)
            return false;
        *filter = inherited->list[i];
        filter->is_borrowed = true;
    }
    return true;
}

bool zb__filters_add(zb__filters *filters, zb__codec codec, zb__representation before,
                     zb__representation after) {
    zb__filter *filter = add(filters);
    if (filter)
        *filter = (zb__filter){.codec = codec, .before = before, .after = after};
    return filter != NULL;
}

const zb__filter *zb__filters_positional(const zb__filters *filters) {
    for (size_t i = 0; i < filters->count; i++) {
        const zb__array_ops *ops = &filters->list[i].codec.ops->array;
        if (ops->is_positional || ops->compose)
            return &filters->list[i];
    }
    return NULL;
}

/* ---- Shapes ------------------------------------------------------------------------------- */

/* Permutes a shape as a transpose does; axis gets the permutation. */
static void turn(const zb__filter *filter, const uint64_t *shape, uint64_t *out, uint32_t *axis) {
    uint32_t ndim = filter->before.ndim;
    for (uint32_t i = 0; i < ndim; i++)
        axis[i] = i;
    filter->codec.ops->array.compose(filter->codec.state, ndim, axis);
    for (uint32_t i = 0; i < ndim; i++)
        out[i] = shape[axis[i]];
}

static enum zb_code shape_after(const zb__filter *filter, const uint64_t *shape, uint64_t *out,
                                zb_error *err) {
    const zb__codec_ops *ops = filter->codec.ops;
    uint32_t axis[ZB_MAX_NDIM];
    if (ops->array.compose) {
        turn(filter, shape, out, axis);
        return ZB_OK;
    }
    if (!ops->array.shape) {
        memcpy(out, shape, filter->before.ndim * sizeof *out);
        return ZB_OK;
    }
    enum zb_code code = ops->array.shape(filter->codec.state, shape, out, err);
    return code ? zb_error_prefix(err, code, "%s", ops->name) : ZB_OK;
}

static enum zb_code check_size(const zb__filter *filter, const uint64_t *shape, zb_error *err) {
    uint64_t bytes, limit = zb_limits_get()->chunk_bytes;
    if (zb__product_u64(shape, filter->after.ndim, filter->after.dtype.size, &bytes) &&
        bytes <= limit && bytes <= SIZE_MAX)
        return ZB_OK;
    return zb_fail(err, ZB_ELIMIT,
                   "a chunk has more bytes behind %s than the limit chunk_bytes (%" PRIu64 ")",
                   filter->codec.ops->name, limit);
}

/* The shapes in front of each filter, and behind the last one. */
typedef struct shapes {
    uint64_t at[2][ZB_MAX_NDIM]; /* in turns */
} shapes;

enum zb_code zb__filters_shape(const zb__filters *filters, const uint64_t *shape, uint64_t *out,
                               zb_error *err) {
    shapes s;
    if (filters->count == 0)
        return ZB_OK;
    memcpy(s.at[0], shape, filters->list[0].before.ndim * sizeof *shape);
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < filters->count && !code; i++) {
        code = shape_after(&filters->list[i], s.at[i % 2], s.at[(i + 1) % 2], err);
        if (!code)
            code = check_size(&filters->list[i], s.at[(i + 1) % 2], err);
    }
    uint32_t ndim = filters->list[filters->count - 1].after.ndim;
    if (!code)
        memcpy(out, s.at[filters->count % 2], ndim * sizeof *out);
    return code;
}

/* The shape in front of filter i of a layout that has been checked. */
static enum zb_code shape_before(const zb__filters *filters, size_t i, const uint64_t *shape,
                                 uint64_t *out, zb_error *err) {
    zb__filters front = {.list = filters->list, .count = i};
    if (i == 0)
        memcpy(out, shape, filters->list[0].before.ndim * sizeof *out);
    return zb__filters_shape(&front, shape, out, err);
}

static uint64_t count_of(uint32_t ndim, const uint64_t *shape) {
    uint64_t count = 1;
    for (uint32_t i = 0; i < ndim; i++)
        count *= shape[i]; /* fits: the layout has been checked */
    return count;
}

/* ---- One filter --------------------------------------------------------------------------- */

static void row_strides(uint32_t ndim, const uint64_t *shape, uint32_t item, int64_t *strides) {
    int64_t stride = item;
    for (uint32_t i = ndim; i-- > 0; stride *= (int64_t)shape[i])
        strides[i] = stride;
}

/* A transpose behind another filter. `shape` is the one in front of it. */
static void permute(const zb__filter *filter, const uint64_t *shape, bool back, const uint8_t *in,
                    uint8_t *out) {
    uint32_t ndim = filter->before.ndim, item = filter->before.dtype.size, axis[ZB_MAX_NDIM];
    uint64_t turned[ZB_MAX_NDIM];
    int64_t plain[ZB_MAX_NDIM], stored[ZB_MAX_NDIM], from[ZB_MAX_NDIM];
    turn(filter, shape, turned, axis);
    row_strides(ndim, shape, item, plain);
    row_strides(ndim, turned, item, stored);
    for (uint32_t i = 0; i < ndim; i++)
        from[i] = plain[axis[i]];
    zb__box_copy copy = {.ndim = ndim,
                         .count = turned,
                         .src_strides = back ? stored : from,
                         .dst_strides = back ? from : stored,
                         .src_dtype = filter->before.dtype,
                         .dst_dtype = filter->before.dtype};
    zb__scatter(&copy, in, out);
}

static enum zb_code run(const zb__filter *filter, const uint64_t *shape, bool back,
                        const uint8_t *in, uint8_t *out, zb_error *err) {
    const zb__codec_ops *ops = filter->codec.ops;
    uint64_t count = count_of(filter->before.ndim, shape);
    if (ops->array.compose) {
        permute(filter, shape, back, in, out);
        return ZB_OK;
    }
    enum zb_code code = back ? ops->array.decode(filter->codec.state, in, count, out, err)
                             : ops->array.encode(filter->codec.state, in, count, out, err);
    return code ? zb_error_prefix(err, code, "%s", ops->name) : ZB_OK;
}

/* ---- All of them -------------------------------------------------------------------------- */

enum zb_code zb__filters_decode(const zb__filters *filters, const uint64_t *shape,
                                zb__scratch *scratch, const uint8_t *in, uint8_t *out,
                                zb_error *err) {
    enum zb_code code = ZB_OK;
    size_t turns = 1;
    for (size_t i = filters->count; i-- > 0 && !code; turns++) {
        const zb__filter *filter = &filters->list[i];
        zb__buffer *work = &scratch->work[turns % 2];
        uint64_t before[ZB_MAX_NDIM];
        code = shape_before(filters, i, shape, before, err);
        if (code)
            break;
        uint64_t size = count_of(filter->before.ndim, before) * filter->before.dtype.size;
        if (i > 0)
            code = zb__buffer_reserve(work, (size_t)size, err);
        if (!code)
            code = run(filter, before, true, in, i > 0 ? work->data : out, err);
        in = work->data;
    }
    return code;
}

enum zb_code zb__filters_encode(const zb__filters *filters, const uint64_t *shape,
                                zb__scratch *scratch, const uint8_t **out, zb_error *err) {
    enum zb_code code = ZB_OK;
    const uint8_t *in = scratch->work[0].data;
    for (size_t i = 0; i < filters->count && !code; i++) {
        const zb__filter *filter = &filters->list[i];
        zb__buffer *work = &scratch->work[(i + 1) % 2];
        uint64_t before[ZB_MAX_NDIM], after[ZB_MAX_NDIM];
        code = shape_before(filters, i, shape, before, err);
        if (!code)
            code = shape_after(filter, before, after, err);
        if (code)
            break;
        uint64_t size = count_of(filter->after.ndim, after) * filter->after.dtype.size;
        code = zb__buffer_reserve(work, (size_t)size, err);
        if (!code)
            code = run(filter, before, false, in, work->data, err);
        in = work->data;
    }
    *out = in;
    return code;
}

/* The largest element of a number. */
#define ELEMENT 16

enum zb_code zb__filters_missing(const zb__filters *filters, const void *fill, void *out,
                                 zb_error *err) {
    uint8_t element[2][ELEMENT] = {{0}};
    size_t turns = 0;
    const uint64_t none[1] = {1};
    enum zb_code code = ZB_OK;
    memcpy(element[0], fill, filters->list[0].before.dtype.size);
    for (size_t i = 0; i < filters->count && !code; i++, turns++) {
        const zb__filter *filter = &filters->list[i];
        const uint8_t *in = element[turns % 2];
        uint8_t *next = element[(turns + 1) % 2];
        if (filter->codec.ops->array.keeps_fill)
            zb__number_clamp(filter->after.dtype, zb__number_load(filter->before.dtype, in), next);
        else
            code = run(&(zb__filter){.codec = filter->codec, .before = {.ndim = 0}}, none, false,
                       in, next, err);
    }
    for (size_t i = filters->count; i-- > 0 && !code; turns++)
        code = run(&(zb__filter){.codec = filters->list[i].codec, .before = {.ndim = 0}}, none,
                   true, element[turns % 2], element[(turns + 1) % 2], err);
    if (code)
        return zb_error_prefix(err, code, "fill_value in front of a shard");
    memcpy(out, element[turns % 2], filters->list[0].before.dtype.size);
    return ZB_OK;
}
