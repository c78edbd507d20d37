/* SPDX-License-Identifier: MIT */
/* See chain.h. */
#include "codec/chain.h"

#include <stdlib.h>
#include <string.h>

#include "codec/blosc.h"
#include "codec/checksum.h"
#include "codec/deflate.h"
#include "codec/elements.h"
#include "codec/encode.h"
#include "codec/shuffle.h"
#include "codec/zstd.h"
#include "types/scatter.h"
#include "util/checked.h"
#include "zarrbridge/error.h"

/* What an encoded chunk of nothing but one value has at most of its elements' bytes, besides what
   frames it; and the largest element that is looked at. */
#define FILL_RATIO 32
#define FILL_FRAME 64
#define MOST_ITEM 32

/* ---- Comparing ---------------------------------------------------------------------------- */

static enum zb__stream stream_of(const zb__pipeline *pipeline, size_t i) {
    return pipeline->codecs[i].ops->bytes.stream;
}

/* The codecs in front of the checksums at the end. */
static size_t count_without_sums(const zb__pipeline *pipeline) {
    size_t count = pipeline->codec_count;
    while (count > 0 && stream_of(pipeline, count - 1) == ZB__STREAM_SUM)
        count--;
    return count;
}

/* A shape in the dimensions of the array. */
static void shape_of(const zb__chunk_layout *layout, uint64_t *shape) {
    for (uint32_t i = 0; i < layout->pipeline->ndim; i++)
        shape[layout->pipeline->axis[i]] = layout->stored_shape[i];
}

static zb_dtype in_host_order(zb_dtype dtype) {
    dtype.swapped = false;
    return dtype;
}

static bool same_elements(const zb__chunk_layout *from, const zb__chunk_layout *to) {
    const uint32_t ndim = from->pipeline->ndim;
    uint64_t a[ZB_MAX_NDIM] = {0}, b[ZB_MAX_NDIM] = {0};
    if (ndim != to->pipeline->ndim ||
        !zb_dtype_equal(in_host_order(from->pipeline->dtype), in_host_order(to->pipeline->dtype)))
        return false;
    shape_of(from, a);
    shape_of(to, b);
    return memcmp(a, b, ndim * sizeof *a) == 0;
}

/* The pipelines with that many of their codecs, or all of their codecs but for those. */
static bool same_front(const zb__pipeline *a, size_t a_count, const zb__pipeline *b,
                       size_t b_count) {
    zb__pipeline x = *a, y = *b;
    x.codec_count = a_count;
    y.codec_count = b_count;
    return zb__pipeline_same(&x, &y);
}

static bool is_deflate(enum zb__stream stream) {
    return stream == ZB__STREAM_GZIP || stream == ZB__STREAM_ZLIB;
}

/* Whether `two` ends with a shuffle and the compressor that `one`, blosc, is told to use. */
static bool is_inside(const zb__pipeline *one, size_t one_count, const zb__pipeline *two,
                      size_t two_count) {
    if (one_count != 1 || two_count != 2 || stream_of(one, 0) != ZB__STREAM_BLOSC ||
        stream_of(two, 0) != ZB__STREAM_SHUFFLED || !same_front(one, 0, two, 0))
        return false;
    const zb__blosc *blosc = one->codecs[0].state;
    const enum zb__stream inside = blosc->format == ZB__BLOSC_ZLIB   ? ZB__STREAM_ZLIB
                                   : blosc->format == ZB__BLOSC_ZSTD ? ZB__STREAM_ZSTD
                                                                     : ZB__STREAM_OWN;
    return blosc->shuffle == 1 && stream_of(two, 1) == inside &&
           zb__shuffle_element_size(two->codecs[0].state) == blosc->typesize;
}

/* Whether a stream stays, and which. */
static bool keeps_stream(zb__chain_change *c) {
    const zb__pipeline *from = c->from->pipeline, *to = c->to->pipeline;
    const size_t a = c->from_count, b = c->to_count;
    if (same_front(from, a, to, b))
        c->stream = ZB__CHAIN_BEHIND_SUMS;
    else if (a > 0 && b > 0 && is_deflate(stream_of(from, a - 1)) &&
             is_deflate(stream_of(to, b - 1)) && same_front(from, a - 1, to, b - 1))
        c->stream = ZB__CHAIN_DEFLATE;
    else if (is_inside(to, b, from, a))
        c->stream = ZB__CHAIN_INTO_BLOSC;
    else if (is_inside(from, a, to, b))
        c->stream = ZB__CHAIN_OUT_OF_BLOSC;
    else
        return false;
    return true;
}

zb__chain_change zb__chain_compare(const zb__chunk_layout *from, const zb__chunk_layout *to) {
    static const char *const reasons[] = {
        [ZB__CHAIN_BEHIND_SUMS] = "checksums differ",
        [ZB__CHAIN_DEFLATE] = "one is gzip, the other zlib",
        [ZB__CHAIN_INTO_BLOSC] = "shuffle and compressor become blosc",
        [ZB__CHAIN_OUT_OF_BLOSC] = "blosc becomes shuffle and compressor"};
    zb__chain_change c = {.from = from,
                          .to = to,
                          .from_count = count_without_sums(from->pipeline),
                          .to_count = count_without_sums(to->pipeline)};
    if (!same_elements(from, to)) {
        c.way = ZB_CHAIN_NONE;
        c.reason = "chunks differ in shape or type";
    } else if (zb__pipeline_same(from->pipeline, to->pipeline)) {
        c.way = ZB_CHAIN_SAME;
    } else if (keeps_stream(&c)) {
        c.way = ZB_CHAIN_REWRAPPED;
        c.reason = reasons[c.stream];
    } else {
        c.way = from->pipeline->is_variable ? ZB_CHAIN_NONE : ZB_CHAIN_ANEW;
        c.reason = "codecs differ";
    }
    return c;
}

/* The edge cuts the chunk, and its elements can be looked at one by one. */
static bool has_outside(const zb__chain_change *c, const zb__chain_edge *edge) {
    return edge && c->way != ZB_CHAIN_NONE && !c->from->pipeline->is_variable;
}

/* Zstandard's frames become those that tell their size: not all readers take others. */
static bool ends_with_zstd(const zb__chain_change *c) {
    return c->from_count > 0 && stream_of(c->from->pipeline, c->from_count - 1) == ZB__STREAM_ZSTD;
}

uint64_t zb__chain_bound(const zb__chain_change *c, const zb__chain_edge *edge, const uint8_t *in,
                         size_t size) {
    if (c->way == ZB_CHAIN_NONE)
        return 0;
    if (c->way == ZB_CHAIN_SAME && !has_outside(c, edge) &&
        !(ends_with_zstd(c) && zb__zstd_lacks_size(in, size)))
        return 0;
    const uint64_t sums = c->to->pipeline->codec_count - c->to_count;
    const uint64_t kept = zb__bound_sum(size, ZB__BLOSC_AROUND + ZB__DEFLATE_AROUND +
                                                  ZB__ZSTD_STATED + sums * ZB__CHECKSUM_SIZE);
    const uint64_t anew = zb__chunk_encode_bound(c->to); /* a stream may not fit its wrapping */
    return anew > kept || c->way == ZB_CHAIN_ANEW ? anew : kept;
}

/* ---- Checking ----------------------------------------------------------------------------- */

/* The bytes that codec `count` gets, UINT64_MAX where they vary. */
static uint64_t size_behind(const zb__chunk_layout *layout, size_t count) {
    const zb__pipeline *pipeline = layout->pipeline;
    uint64_t size =
        pipeline->serializer.ops->serializer.is_elements ? layout->decoded_bound : UINT64_MAX;
    for (size_t i = 0; i < count && size != UINT64_MAX; i++) {
        const int overhead = pipeline->codecs[i].ops->bytes.fixed_overhead;
        size = overhead < 0 ? UINT64_MAX : size + (uint64_t)overhead;
    }
    return size;
}

/* Undoes the first `count` codecs; the serialised chunk is in the scratch's `decoded`. */
static enum zb_code decode_front(const zb__chunk_layout *layout, size_t count, zb__scratch *scratch,
                                 const uint8_t *in, size_t size, zb_error *err) {
    zb__pipeline front = *layout->pipeline;
    zb__chunk_layout view = *layout;
    zb__elements elements;
    front.codec_count = count;
    view.pipeline = &front;
    return zb__elements_serialised(&view, scratch, in, size, &elements, err);
}

static enum zb_code check_size(size_t size, uint64_t expected, zb_error *err) {
    if (expected == UINT64_MAX || size == expected)
        return ZB_OK;
    return zb_fail(err, ZB_EFORMAT, "it has %zu bytes, expected %llu", size,
                   (unsigned long long)expected);
}

/* Checks what the first `count` codecs have made, as far as it says something of itself. */
static enum zb_code check_front(const zb__chunk_layout *layout, size_t count, zb__scratch *scratch,
                                const uint8_t *in, size_t size, zb_error *err) {
    if (count == 0)
        return check_size(size, size_behind(layout, 0), err);
    const uint64_t inside = size_behind(layout, count - 1);
    bool checksum;
    uint64_t content;
    enum zb_code code;
    switch (stream_of(layout->pipeline, count - 1)) {
    case ZB__STREAM_SHUFFLED:
        return check_size(size, size_behind(layout, count), err);
    case ZB__STREAM_BLOSC:
        if (inside > SIZE_MAX || zb__blosc_has_sums(in, size))
            break;
        return zb__blosc_check(in, size, (size_t)inside, err);
    case ZB__STREAM_ZSTD:
        code = zb__zstd_survey(in, size, &checksum, &content, err);
        if (code)
            return code;
        if (inside != UINT64_MAX && !checksum &&
            (content == inside || zb__zstd_may_hold(in, size, inside)))
            return ZB_OK;
        break;
    default:
        break;
    }
    return decode_front(layout, count, scratch, in, size, err);
}

static enum zb_code open_sums(const zb__pipeline *pipeline, size_t count, const uint8_t **in,
                              size_t *size, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = pipeline->codec_count; i-- > count && !code;)
        code = zb__checksum_open(pipeline->codecs[i].state, in, size, err);
    return code;
}

/* ---- Changing ----------------------------------------------------------------------------- */

/* The elements of a chunk, as the other pipeline wants to have them. */
static enum zb_code bring(const zb__chain_change *c, zb__scratch *scratch, const uint8_t *elements,
                          const uint8_t **out, zb_error *err) {
    const zb__pipeline *from = c->from->pipeline, *to = c->to->pipeline;
    const uint32_t ndim = from->ndim;
    int64_t strides[ZB_MAX_NDIM], from_strides[ZB_MAX_NDIM], to_strides[ZB_MAX_NDIM];
    int64_t stride = from->dtype.size;
    *out = elements;
    if (zb_dtype_equal(from->dtype, to->dtype) &&
        memcmp(from->axis, to->axis, ndim * sizeof *from->axis) == 0)
        return ZB_OK;
    for (uint32_t i = ndim; i-- > 0; stride *= (int64_t)c->from->stored_shape[i])
        strides[from->axis[i]] = stride;
    stride = to->dtype.size;
    for (uint32_t i = ndim; i-- > 0; stride *= (int64_t)c->to->stored_shape[i]) {
        from_strides[i] = strides[to->axis[i]];
        to_strides[i] = stride;
    }
    enum zb_code code = zb__buffer_reserve(&scratch->encoded, (size_t)c->to->decoded_size, err);
    if (code)
        return code;
    const zb__box_copy copy = {.ndim = ndim,
                               .count = c->to->stored_shape,
                               .src_strides = from_strides,
                               .dst_strides = to_strides,
                               .src_dtype = from->dtype,
                               .dst_dtype = to->dtype};
    zb__scatter(&copy, elements, scratch->encoded.data);
    *out = scratch->encoded.data;
    return ZB_OK;
}

static enum zb_code open_elements(const zb__chain_change *c, zb__scratch *scratch,
                                  const uint8_t *in, size_t size, zb__elements *elements,
                                  zb_error *err) {
    enum zb_code code = zb__elements_serialised(c->from, scratch, in, size, elements, err);
    if (code)
        return code;
    if (zb__chunk_layout_has_heap(c->from))
        return zb__elements_open(c->from, scratch, elements, err);
    elements->data = elements->heap;
    return ZB_OK;
}

bool zb__chain_is_fill(const zb__chain_change *c, const void *fill, zb__scratch *scratch,
                       const uint8_t *in, size_t size) {
    const zb__pipeline *from = c->from->pipeline;
    const zb_dtype dtype = from->dtype;
    uint8_t own[MOST_ITEM];
    zb__elements elements = {0};
    if (c->way == ZB_CHAIN_NONE || from->is_variable || dtype.size > sizeof own ||
        (from->codec_count > 0 && size > c->from->decoded_size / FILL_RATIO + FILL_FRAME) ||
        zb__chunk_layout_check_stored(c->from, size, NULL) != ZB_OK)
        return false;
    const bool is_there = from->is_raw && size == c->from->decoded_size; /* as they are */
    if (!is_there && open_elements(c, scratch, in, size, &elements, NULL) != ZB_OK)
        return false;
    zb__convert(in_host_order(dtype), fill, 0, dtype, own, 0, 1);
    return zb__is_all(is_there ? in : elements.data, c->from->decoded_size / dtype.size, own,
                      dtype.size);
}

static enum zb_code encode_elements(const zb__chain_change *c, zb__scratch *scratch,
                                    const zb__elements *elements, uint8_t *out, size_t capacity,
                                    size_t *written, zb_error *err) {
    const uint8_t *brought;
    enum zb_code code = bring(c, scratch, elements->data, &brought, err);
    return code
               ? code
               : zb__chunk_encode(c->to, scratch, brought, NULL, true, out, capacity, written, err);
}

static enum zb_code make_anew(const zb__chain_change *c, zb__scratch *scratch, const uint8_t *in,
                              size_t size, uint8_t *out, size_t capacity, size_t *written,
                              zb_error *err) {
    zb__elements elements = {0};
    enum zb_code code = open_elements(c, scratch, in, size, &elements, err);
    return code ? code : encode_elements(c, scratch, &elements, out, capacity, written, err);
}

/* Sets the elements from..end of a row. False where they were that already. */
static bool set_fill(uint8_t *row, uint64_t from, uint64_t end, const uint8_t *fill, size_t item) {
    bool changed = false;
    for (uint64_t i = from; i < end; i++) {
        if (memcmp(row + i * item, fill, item) != 0) {
            memcpy(row + i * item, fill, item);
            changed = true;
        }
    }
    return changed;
}

/* Sets the elements outside the array, row by row, to one of the pipeline's type. False where they
   were that already. */
static bool fill_outside(const zb__chunk_layout *layout, const zb__chain_edge *edge,
                         const uint8_t *fill, uint8_t *elements) {
    const zb__pipeline *pipeline = layout->pipeline;
    const uint32_t last = pipeline->ndim - 1;
    const uint64_t row = layout->stored_shape[last], inside = edge->inside[pipeline->axis[last]];
    const size_t item = pipeline->dtype.size;
    bool changed = false;
    for (uint64_t at = 0; at < layout->decoded_size / item; at += row) {
        uint64_t rest = at / row;
        bool is_outside = false;
        for (uint32_t i = last; i-- > 0; rest /= layout->stored_shape[i])
            is_outside |= rest % layout->stored_shape[i] >= edge->inside[pipeline->axis[i]];
        changed |= set_fill(elements + at * item, is_outside ? 0 : inside, row, fill, item);
    }
    return changed;
}

static enum zb_code rewrap_deflate(const zb__chain_change *c, zb__scratch *scratch,
                                   const uint8_t *in, size_t size, uint8_t *out, size_t *written,
                                   zb_error *err) {
    const bool was_gzip = stream_of(c->from->pipeline, c->from_count - 1) == ZB__STREAM_GZIP;
    const zb__codec *to = &c->to->pipeline->codecs[c->to_count - 1];
    const uint64_t inside = size_behind(c->from, c->from_count - 1);
    const uint64_t room =
        inside != UINT64_MAX
            ? inside
            : zb__bound_sum(zb__bound_product(c->from->decoded_bound, 2), ZB__CODEC_SLACK);
    zb__deflated opened;
    if (room > SIZE_MAX / 2)
        return zb_fail(err, ZB_ELIMIT, "a chunk is too large to be decoded");
    enum zb_code code = zb__buffer_reserve(&scratch->decoded, (size_t)room, err);
    if (code)
        return code;
    code = (was_gzip ? zb__gzip_open : zb__zlib_open)(scratch, in, size, scratch->decoded.data,
                                                      (size_t)room, &opened, err);
    if (!code)
        code = check_size(opened.content_size, inside, err);
    if (!code)
        *written = (to->ops->bytes.stream == ZB__STREAM_GZIP ? zb__gzip_close : zb__zlib_close)(
            &opened, *(const int *)to->state, out);
    return code;
}

/* *fits is false where the stream has no such wrapping. */
static bool wrap_blosc(const zb__chain_change *c, const uint8_t *in, size_t size, uint8_t *out,
                       size_t *written) {
    const zb__blosc *blosc = c->to->pipeline->codecs[0].state;
    const zb__blosc_single single = {.format = blosc->format,
                                     .typesize = blosc->typesize,
                                     .decoded = (size_t)c->from->decoded_bound,
                                     .stream = in,
                                     .size = size};
    if (!zb__blosc_can_wrap(&single))
        return false;
    *written = zb__blosc_wrap(&single, out);
    return true;
}

static bool unwrap_blosc(const zb__chain_change *c, const uint8_t *in, size_t size, uint8_t *out,
                         size_t *written) {
    const zb__blosc *blosc = c->from->pipeline->codecs[0].state;
    zb__blosc_single single;
    if (!zb__blosc_unwrap(in, size, &single) || single.format != blosc->format ||
        single.typesize != blosc->typesize)
        return false;
    memcpy(out, single.stream, single.size);
    *written = single.size;
    return true;
}

/* Blosc's zlib streams end with a checksum. */
static enum zb_code check_stream(const zb__chain_change *c, zb__scratch *scratch, const uint8_t *in,
                                 size_t size, zb_error *err) {
    return c->stream == ZB__CHAIN_OUT_OF_BLOSC
               ? decode_front(c->from, c->from_count, scratch, in, size, err)
               : check_front(c->from, c->from_count, scratch, in, size, err);
}

/* A stream that needs no other wrapping. False where it has several frames of no stated size. */
static bool copy_stream(const zb__chain_change *c, const uint8_t *in, size_t size, uint8_t *out,
                        size_t *written) {
    if (ends_with_zstd(c) && zb__zstd_lacks_size(in, size)) {
        const uint64_t content = size_behind(c->from, c->from_count - 1);
        return content != UINT64_MAX && zb__zstd_state_size(in, size, content, out, written);
    }
    memcpy(out, in, size);
    *written = size;
    return true;
}

/* *fits: false where the stream does not fit the other wrapping. */
static enum zb_code rewrap(const zb__chain_change *c, zb__scratch *scratch, const uint8_t *in,
                           size_t size, uint8_t *out, size_t *written, bool *fits, zb_error *err) {
    *fits = true;
    enum zb_code code = open_sums(c->from->pipeline, c->from_count, &in, &size, err);
    if (code)
        return code;
    if (c->stream == ZB__CHAIN_DEFLATE) {
        code = rewrap_deflate(c, scratch, in, size, out, written, err);
        *fits = code != ZB_EUNSUPPORTED; /* several members of gzip */
    } else {
        code = check_stream(c, scratch, in, size, err);
        if (!code && c->stream == ZB__CHAIN_INTO_BLOSC)
            *fits = wrap_blosc(c, in, size, out, written);
        else if (!code && c->stream == ZB__CHAIN_OUT_OF_BLOSC)
            *fits = unwrap_blosc(c, in, size, out, written);
        else if (!code)
            *fits = copy_stream(c, in, size, out, written);
    }
    const zb__pipeline *to = c->to->pipeline;
    for (size_t i = c->to_count; i < to->codec_count && !code && *fits; i++)
        *written = zb__checksum_close(to->codecs[i].state, out, *written);
    return code;
}

/* *done: elements outside the array were something else, and the chunk is encoded without them. */
static enum zb_code run_at_edge(const zb__chain_change *c, const zb__chain_edge *edge,
                                zb__scratch *scratch, const uint8_t *in, size_t size, uint8_t *out,
                                size_t capacity, size_t *written, bool *done, zb_error *err) {
    const zb_dtype dtype = c->from->pipeline->dtype;
    zb__elements elements = {0};
    uint8_t *fill = malloc(dtype.size);
    if (!fill)
        return zb_fail(err, ZB_ENOMEM, "no memory for a fill value");
    zb__convert(in_host_order(dtype), edge->fill, 0, dtype, fill, 0, 1);
    enum zb_code code = open_elements(c, scratch, in, size, &elements, err);
    *done = !code && fill_outside(c->from, edge, fill, elements.data);
    free(fill);
    return *done ? encode_elements(c, scratch, &elements, out, capacity, written, err) : code;
}

enum zb_code zb__chain_run(const zb__chain_change *c, const zb__chain_edge *edge,
                           zb__scratch *scratch, const uint8_t *in, size_t size, uint8_t *out,
                           size_t capacity, size_t *written, zb_error *err) {
    bool fits = false, done = false;
    enum zb_code code = zb__chunk_layout_check_stored(c->from, size, err);
    if (code)
        return code;
    if (c->way == ZB_CHAIN_NONE)
        return zb_fail(err, ZB_EUNSUPPORTED, "an encoded chunk cannot be moved: %s", c->reason);
    const uint64_t bound = zb__chain_bound(c, edge, in, size);
    if (c->way == ZB_CHAIN_SAME && bound == 0) {
        *written = size;
        code = open_sums(c->from->pipeline, c->from_count, &in, &size, err);
        return code ? code : check_front(c->from, c->from_count, scratch, in, size, err);
    }
    if (capacity < bound)
        return zb_fail(err, ZB_EINVAL, "a chunk of %zu bytes cannot be changed into %zu", size,
                       capacity);
    if (has_outside(c, edge))
        code = run_at_edge(c, edge, scratch, in, size, out, capacity, written, &done, err);
    if (code || done)
        return code;
    if (c->way != ZB_CHAIN_ANEW)
        code = rewrap(c, scratch, in, size, out, written, &fits, err);
    return fits || (code && code != ZB_EUNSUPPORTED)
               ? code
               : make_anew(c, scratch, in, size, out, capacity, written, err);
}
