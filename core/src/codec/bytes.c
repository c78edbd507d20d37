/* SPDX-License-Identifier: MIT */
/* The bytes codec: the elements as they are, in C order, in one byte order or the other. */
#include <stdlib.h>

#include "codec/configuration.h"
#include "codec/encode.h"
#include "types/dtype.h"
#include "types/scatter.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

#define HOST_IS_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

typedef struct byte_order {
    bool is_big;
} byte_order;

/* A missing `endian` is read as little, as by all readers that do not refuse it: no writer ever
   meant big by leaving it out. On one-byte elements it says nothing. */
static enum zb_code bytes_parse(const zb_json *configuration, const zb__binding *binding,
                                void **state, zb_error *err) {
    static const char *const choices[] = {"little", "big", NULL};
    if (zb_dtype_is_variable(binding->dtype))
        return zb_fail(err, ZB_EFORMAT, "it serialises elements of a fixed size alone");
    byte_order *order = zb__codec_new_state(sizeof *order, state, err);
    if (!order)
        return ZB_ENOMEM;
    size_t choice = 0;
    enum zb_code code = zb__configuration_choice(configuration, "endian", choices, &choice, err);
    order->is_big = choice == 1;
    return code;
}

static zb_dtype bytes_stored_dtype(const void *state, zb_dtype dtype) {
    const byte_order *order = state;
    dtype.swapped = zb__dtype_has_order(dtype) && order->is_big != HOST_IS_BIG;
    return dtype;
}

static uint64_t bytes_bound(const zb__chunk_layout *layout) {
    return layout->decoded_size;
}

/* ---- Encoding ----------------------------------------------------------------------------- */

/* True if the view's elements are, byte for byte, the serialised chunk. */
static bool is_serialised(const zb__encoding *e, const zb__chunk_layout *layout,
                          const zb__elements_view *view) {
    const zb__pipeline *pipeline = layout->pipeline;
    int64_t stride = pipeline->dtype.size;
    for (uint32_t i = pipeline->ndim; i-- > 0;) {
        if (layout->stored_shape[i] > 1 && view->strides[i] != stride)
            return false;
        stride *= (int64_t)layout->stored_shape[i];
    }
    return pipeline->dtype.swapped == e->dtype.swapped;
}

/* Brings the elements together in the scratch, in stored byte order, and the fill value behind
   them. */
static enum zb_code gather(const zb__encoding *e, const zb__chunk_layout *layout,
                           const zb__elements_view *view, zb_error *err) {
    const zb__pipeline *pipeline = layout->pipeline;
    int64_t strides[ZB_MAX_NDIM], stride = pipeline->dtype.size;
    for (uint32_t i = pipeline->ndim; i-- > 0;) {
        strides[i] = stride;
        stride *= (int64_t)layout->stored_shape[i];
    }
    zb__box_copy copy = {.ndim = pipeline->ndim,
                         .count = layout->stored_shape,
                         .src_strides = view->strides,
                         .dst_strides = strides,
                         .src_dtype = e->dtype,
                         .dst_dtype = pipeline->dtype};
    const size_t size = (size_t)layout->decoded_size;
    enum zb_code code = zb__buffer_reserve(&e->scratch->block, size + pipeline->dtype.size, err);
    if (code)
        return code;
    zb__scatter(&copy, view->data, e->scratch->block.data);
    if (!e->store_empty) /* else nobody compares, and there may be no fill value */
        zb__convert(e->dtype, e->fill, 0, pipeline->dtype, e->scratch->block.data + size, 0, 1);
    return ZB_OK;
}

/* `fill` in the order of the elements. */
static bool is_all_fill(const zb__chunk_layout *layout, const uint8_t *elements, const void *fill) {
    const uint32_t size = layout->pipeline->dtype.size;
    return zb__is_all(elements, layout->decoded_size / size, fill, size);
}

static enum zb_code bytes_encode(const zb__encoding *e, const zb__chunk_layout *layout,
                                 const zb__elements_view *view, zb__serialised *out,
                                 zb_error *err) {
    const void *fill = e->fill;
    out->data = view->data;
    if (!is_serialised(e, layout, view)) {
        enum zb_code code = gather(e, layout, view, err);
        if (code)
            return code;
        out->data = e->scratch->block.data;
        fill = e->scratch->block.data + layout->decoded_size;
    }
    bool is_left_out = !e->store_empty && is_all_fill(layout, out->data, fill);
    out->size = is_left_out ? 0 : (size_t)layout->decoded_size;
    return ZB_OK;
}

static const char *const members[] = {"endian", NULL};
static const char *const defaults[] = {"\"little\""};

const zb__codec_ops zb__codec_bytes = {
    .name = "bytes",
    .old_name = "endian", /* before the specification was final */
    .kind = ZB__ARRAY_TO_BYTES,
    .members = members,
    .defaults = defaults,
    .parse = bytes_parse,
    .free = free,
    .serializer = {.is_elements = true,
                   .stored_dtype = bytes_stored_dtype,
                   .decode_bound = bytes_bound,
                   .encode_bound = bytes_bound,
                   .encode = bytes_encode},
};
