/* SPDX-License-Identifier: MIT */
/*
 * The codecs vlen-utf8 and vlen-bytes, of text and of bytes: a uint32 with the number of elements,
 * then of each in C order a uint32 with its length in bytes, and the bytes. All numbers are
 * little-endian.
 */
#include <string.h>

#include "util/bytes.h"
#include "util/checked.h"
#include "codec/elements.h"
#include "codec/encode.h"
#include "util/utf8.h"
#include "types/values.h"
#include "zarrbridge/limits.h"

#define NUMBER 4 /* bytes of a count, and of a length */

static enum zb_code parse(const zb_json *configuration, const zb__binding *binding, void **state,
                          zb_error *err) {
    (void)configuration;
    (void)state;
    if (binding->dtype.kind == ZB_KIND_STRING)
        return ZB_OK;
    return zb_fail(err, ZB_EFORMAT, "it serialises strings alone");
}

static enum zb_code parse_bytes(const zb_json *configuration, const zb__binding *binding,
                                void **state, zb_error *err) {
    (void)configuration;
    (void)state;
    if (binding->dtype.kind == ZB_KIND_BYTES)
        return ZB_OK;
    return zb_fail(err, ZB_EFORMAT, "it serialises bytes of variable length alone");
}

static uint64_t count_of(const zb__chunk_layout *layout) {
    return layout->decoded_size / sizeof(zb_slice);
}

static enum zb_code prepare(const void *state, zb__chunk_layout *layout, zb_error *err) {
    (void)state;
    if (count_of(layout) <= UINT32_MAX)
        return ZB_OK;
    return zb_fail(err, ZB_ELIMIT, "a chunk has 2^32 elements or more");
}

static uint64_t decode_bound(const zb__chunk_layout *layout) {
    (void)layout;
    return zb_limits_get()->chunk_bytes;
}

/* ---- Decoding ---- */

/* The element at heap[*at], which then moves behind it. */
static enum zb_code decode_element(const zb__elements *elements, bool is_text, uint64_t number,
                                   size_t *at, zb_slice *out, zb_error *err) {
    size_t left = elements->heap_size - *at;
    if (left < NUMBER)
        return zb_fail(err, ZB_EFORMAT, "it ends before element %llu", (unsigned long long)number);
    uint32_t length = zb__load_le32(elements->heap + *at);
    if (length > left - NUMBER)
        return zb_fail(err, ZB_EFORMAT, "element %llu has %u bytes where %zu are left",
                       (unsigned long long)number, length, left - NUMBER);
    *out = (zb_slice){.data = (const char *)elements->heap + *at + NUMBER, .size = length};
    *at += NUMBER + (size_t)length;
    if (is_text && !zb__is_utf8(out->data, out->size))
        return zb_fail(err, ZB_EFORMAT, "element %llu is no UTF-8 text",
                       (unsigned long long)number);
    return ZB_OK;
}

static enum zb_code decode(const void *state, const zb__chunk_layout *layout,
                           zb__elements *elements, zb_error *err) {
    (void)state;
    uint64_t count = count_of(layout);
    if (elements->heap_size < NUMBER)
        return zb_fail(err, ZB_EFORMAT, "%zu bytes where the number of elements should be",
                       elements->heap_size);
    uint32_t said = zb__load_le32(elements->heap);
    if (said != count)
        return zb_fail(err, ZB_EFORMAT, "it says that it has %u elements, expected %llu", said,
                       (unsigned long long)count);
    size_t at = NUMBER;
    enum zb_code code = ZB_OK;
    const bool is_text = layout->pipeline->dtype.kind == ZB_KIND_STRING;
    for (uint64_t i = 0; i < count && !code; i++) {
        zb_slice slice;
        code = decode_element(elements, is_text, i, &at, &slice, err);
        if (!code)
            memcpy(elements->data + i * sizeof slice, &slice, sizeof slice);
    }
    if (!code && at != elements->heap_size)
        code =
            zb_fail(err, ZB_EFORMAT, "%zu bytes follow the last element", elements->heap_size - at);
    return code;
}

/* ---- Encoding ---- */

static zb__box_copy box_of(const zb__encoding *e, const zb__chunk_layout *layout,
                           const zb__elements_view *view) {
    return (zb__box_copy){.ndim = layout->pipeline->ndim,
                          .count = layout->stored_shape,
                          .src_strides = view->strides,
                          .src_dtype = e->dtype};
}

/* What elements of a dozen bytes need. */
static uint64_t encode_bound(const zb__chunk_layout *layout) {
    return NUMBER + layout->decoded_size;
}

static enum zb_code measure(const zb__encoding *e, const zb__chunk_layout *layout,
                            const zb__elements_view *view, uint64_t *size, zb_error *err) {
    const zb__box_copy box = box_of(e, layout, view);
    uint64_t limit = zb_limits_get()->chunk_bytes;
    enum zb_code code = zb__values_measure(&box, view->data, size, err);
    if (code)
        return code;
    *size = zb__bound_sum(*size, NUMBER + NUMBER * count_of(layout));
    if (*size > limit)
        return zb_fail(err, ZB_ELIMIT,
                       "a chunk's elements have %llu bytes, more than the limit chunk_bytes (%llu)",
                       (unsigned long long)*size, (unsigned long long)limit);
    return ZB_OK;
}

/* A walk over a view, whose dimensions may be permuted, in C order. Calls itself once for each
   dimension. */
typedef struct writing {
    const zb__encoding *e;
    const zb__chunk_layout *layout;
    const zb__elements_view *view;
    uint8_t *at;
    uint8_t *end;
    bool is_fill;
} writing;

/* False for an element that does not fit: somebody has changed it since it was measured, or its
   length fits no uint32, which only a raised limit chunk_bytes lets through. */
static bool write_element(writing *w, const uint8_t *element) {
    zb_slice slice;
    memcpy(&slice, element, sizeof slice);
    size_t left = (size_t)(w->end - w->at);
    if (left < NUMBER || slice.size > left - NUMBER || slice.size > UINT32_MAX)
        return false;
    zb__store_le32(w->at, (uint32_t)slice.size);
    if (slice.size > 0)
        memcpy(w->at + NUMBER, slice.data, slice.size);
    w->at += NUMBER + slice.size;
    w->is_fill = w->is_fill && zb__values_equal(w->e->dtype, element, w->e->fill);
    return true;
}

static bool write_elements(writing *w, const uint8_t *element, uint32_t depth) {
    const uint32_t ndim = w->layout->pipeline->ndim;
    if (depth == ndim) /* an array without dimensions */
        return write_element(w, element);
    const bool is_row = depth + 1 == ndim;
    bool good = true;
    for (uint64_t i = 0; i < w->layout->stored_shape[depth] && good; i++) {
        const uint8_t *at = element + (int64_t)i * w->view->strides[depth];
        good = is_row ? write_element(w, at) : write_elements(w, at, depth + 1);
    }
    return good;
}

static enum zb_code encode(const zb__encoding *e, const zb__chunk_layout *layout,
                           const zb__elements_view *view, zb__serialised *out, zb_error *err) {
    uint64_t size;
    uint8_t *target = out->target;
    enum zb_code code = measure(e, layout, view, &size, err);
    if (!code && target && size > out->capacity)
        code = zb_fail(err, ZB_EINVAL, "%llu bytes cannot be stored in %zu",
                       (unsigned long long)size, out->capacity);
    if (!code && !target) {
        code = zb__buffer_reserve(&e->scratch->block, (size_t)size, err);
        target = e->scratch->block.data;
    }
    if (code)
        return code;
    writing w = {.e = e,
                 .layout = layout,
                 .view = view,
                 .at = target + NUMBER,
                 .end = target + size,
                 .is_fill = true};
    zb__store_le32(target, (uint32_t)count_of(layout));
    if (!write_elements(&w, view->data, 0))
        return zb_fail(err, ZB_EINVAL,
                       "an element has 4 GiB or more, or has changed while it was written");
    out->data = target;
    out->size = w.is_fill && !e->store_empty ? 0 : (size_t)(w.at - target);
    return ZB_OK;
}

static const char *const members[] = {NULL};

#define SERIALIZER                                                                                 \
    {.prepare = prepare,                                                                           \
     .decode_bound = decode_bound,                                                                 \
     .decode = decode,                                                                             \
     .encode_bound = encode_bound,                                                                 \
     .measure = measure,                                                                           \
     .encode = encode}

const zb__codec_ops zb__codec_vlen_utf8 = {
    .name = "vlen-utf8",
    .kind = ZB__ARRAY_TO_BYTES,
    .members = members,
    .parse = parse,
    .serializer = SERIALIZER,
};

const zb__codec_ops zb__codec_vlen_bytes = {
    .name = "vlen-bytes",
    .kind = ZB__ARRAY_TO_BYTES,
    .members = members,
    .parse = parse_bytes,
    .serializer = SERIALIZER,
};
