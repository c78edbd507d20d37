/* SPDX-License-Identifier: MIT */
/*
 * Chunks on their way out.
 *
 * A shard is walked down to its leaves without copying: a view of the elements is passed on, and
 * each level narrows it to an inner chunk and permutes its dimensions. Only a leaf brings its
 * elements together, and only where they do not lie together already. Encoded inner chunks are
 * written behind each other straight into the shard. Where codecs lie around a shard, the shard
 * needs memory of its own, because its leaves use the scratch; such shards are rare.
 *
 * Capacities are handed down and checked at every step, so that a codec that broke its bound would
 * end in an error, not in other memory.
 */
#include "codec/encode.h"

#include <string.h>

#include "codec/filters.h"
#include "types/scatter.h"
#include "zarrbridge/error.h"

bool zb__is_all(const void *elements, uint64_t n, const void *fill, size_t item) {
    if (n == 0)
        return true;
    /* The first equals fill, and each of the others the one before it. */
    const uint8_t *bytes = elements;
    return memcmp(bytes, fill, item) == 0 &&
           memcmp(bytes, bytes + item, (size_t)(n - 1) * item) == 0;
}

uint64_t zb__chunk_encode_bound(const zb__chunk_layout *layout) {
    const zb__pipeline *pipeline = layout->pipeline;
    uint64_t bound =
        pipeline->serializer.ops->serializer.encode_bound(zb__chunk_layout_serializer(layout));
    for (size_t i = 0; i < pipeline->codec_count; i++)
        bound = pipeline->codecs[i].ops->bytes.encode_bound(bound);
    return bound;
}

/* As the encoding below: through the codecs of shards. */
enum zb_code zb__view_measure(const zb__encoding *e, const zb__chunk_layout *layout,
                              const zb__elements_view *view, uint64_t *bound, zb_error *err) {
    const zb__pipeline *pipeline = layout->pipeline;
    const zb__serializer_ops *serializer = &pipeline->serializer.ops->serializer;
    enum zb_code code = ZB_OK;
    if (serializer->measure && !layout->plain) /* behind filters there are numbers alone */
        code = serializer->measure(e, layout, view, bound, err);
    else
        *bound = serializer->encode_bound(zb__chunk_layout_serializer(layout));
    for (size_t i = 0; i < pipeline->codec_count && !code; i++)
        *bound = pipeline->codecs[i].ops->bytes.encode_bound(*bound);
    return code;
}

/* The view of all elements of a chunk, which lie side by side. */
static zb__elements_view whole_view(const zb__chunk_layout *layout, const uint8_t *elements) {
    zb__elements_view view = {.data = elements};
    int64_t stride = layout->pipeline->dtype.size;
    for (uint32_t i = layout->pipeline->ndim; i-- > 0;) {
        view.strides[i] = stride;
        stride *= (int64_t)layout->stored_shape[i];
    }
    return view;
}

/* Serialises a chunk behind the filters, for which its elements are brought together. */
static enum zb_code encode_filtered(const zb__encoding *e, const zb__chunk_layout *layout,
                                    const zb__elements_view *view, zb__serialised *out,
                                    zb_error *err) {
    const zb__pipeline *pipeline = layout->pipeline;
    zb__buffer *work = &e->scratch->work[0];
    enum zb_code code = zb__buffer_reserve(work, (size_t)layout->decoded_size, err);
    if (code)
        return code;
    zb__elements_view together = whole_view(layout, work->data);
    const zb__box_copy copy = {.ndim = pipeline->ndim,
                               .count = layout->stored_shape,
                               .src_strides = view->strides,
                               .dst_strides = together.strides,
                               .src_dtype = e->dtype,
                               .dst_dtype = pipeline->dtype};
    zb__scatter(&copy, view->data, work->data);
    uint64_t elements = layout->decoded_size / pipeline->dtype.size;
    if (!e->store_empty && zb__is_all(work->data, elements, e->fill, pipeline->dtype.size))
        return ZB_OK;
    const uint8_t *filtered;
    code = zb__filters_encode(&pipeline->filters, layout->stored_shape, e->scratch, &filtered, err);
    if (code)
        return code;
    zb__encoding behind = {
        .scratch = e->scratch, .dtype = pipeline->plain->dtype, .store_empty = true};
    behind.dtype.swapped = false;
    zb__elements_view plain = whole_view(layout->plain, filtered);
    return pipeline->serializer.ops->serializer.encode(&behind, layout->plain, &plain, out, err);
}

/* Calls itself through the codecs of shards, as deep as the limit shard_depth. */
enum zb_code zb__view_encode(const zb__encoding *e, const zb__chunk_layout *layout,
                             const zb__elements_view *view, uint8_t *out, size_t capacity,
                             size_t *size, zb_error *err) {
    const zb__pipeline *pipeline = layout->pipeline;
    zb__serialised made = {.target = pipeline->codec_count ? NULL : out,
                           .capacity = pipeline->codec_count ? 0 : capacity};
    *size = 0;
    enum zb_code code =
        layout->plain ? encode_filtered(e, layout, view, &made, err)
                      : pipeline->serializer.ops->serializer.encode(e, layout, view, &made, err);
    if (!code && made.size > 0 && made.data == out)
        *size = made.size;
    else if (!code && made.size > 0)
        code = zb__pipeline_encode(pipeline, e->scratch, made.data, made.size, out, capacity, size,
                                   err);
    if (made.own.data)
        zb__buffer_free(&made.own);
    return code;
}

enum zb_code zb__chunk_measure(const zb__chunk_layout *layout, const uint8_t *elements,
                               uint64_t *bound, zb_error *err) {
    zb__encoding e = {.dtype = layout->pipeline->dtype};
    zb__elements_view view = whole_view(layout, elements);
    return zb__view_measure(&e, layout, &view, bound, err);
}

enum zb_code zb__chunk_encode(const zb__chunk_layout *layout, zb__scratch *scratch,
                              const uint8_t *elements, const void *fill, bool store_empty,
                              uint8_t *out, size_t capacity, size_t *size, zb_error *err) {
    const zb__pipeline *pipeline = layout->pipeline;
    zb__encoding e = {
        .scratch = scratch, .dtype = pipeline->dtype, .fill = fill, .store_empty = store_empty};
    zb__elements_view view = whole_view(layout, elements);
    return zb__view_encode(&e, layout, &view, out, capacity, size, err);
}
