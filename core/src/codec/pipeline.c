/* SPDX-License-Identifier: MIT */
/*
 * Chains at work: undoing and doing the bytes→bytes codecs of one chunk. pipeline_bind.c makes
 * pipelines.
 */
#include "codec/pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "codec/chunk_layout.h"
#include "util/checked.h"

/* ---- Properties --------------------------------------------------------------------------- */

static bool same_codec(const zb__codec *a, const zb__codec *b) {
    return a->ops == b->ops && (!a->ops->same || a->ops->same(a->state, b->state));
}

bool zb__pipeline_same(const zb__pipeline *a, const zb__pipeline *b) {
    bool same = a->ndim == b->ndim && zb_dtype_equal(a->dtype, b->dtype) &&
                memcmp(a->axis, b->axis, a->ndim * sizeof *a->axis) == 0 &&
                zb__filters_same(&a->filters, &b->filters) &&
                same_codec(&a->serializer, &b->serializer) && a->codec_count == b->codec_count;
    for (size_t i = 0; i < a->codec_count && same; i++)
        same = same_codec(&a->codecs[i], &b->codecs[i]);
    return same;
}

/* True if the codecs from the given one on keep the size up to a constant. */
static bool is_fixed_from(const zb__pipeline *pipeline, size_t first) {
    for (size_t i = first; i < pipeline->codec_count; i++) {
        if (pipeline->codecs[i].ops->bytes.fixed_overhead < 0)
            return false;
    }
    return true;
}

bool zb__pipeline_is_fixed(const zb__pipeline *pipeline) {
    return is_fixed_from(pipeline, 0);
}

bool zb__pipeline_is_checked(const zb__pipeline *pipeline) {
    for (size_t i = 0; i < pipeline->codec_count; i++) {
        if (pipeline->codecs[i].ops->bytes.is_checksum)
            return true;
    }
    return false;
}

/* With a compressor outside, all of the bytes have to be decoded once anyhow. */
bool zb__pipeline_is_partial(const zb__pipeline *pipeline) {
    return pipeline->codec_count > 0 && pipeline->codecs[0].ops->bytes.is_partial &&
           is_fixed_from(pipeline, 1);
}

/* ---- Decoding ----------------------------------------------------------------------------- */

/* The sink of codec i > 0: the input of codec i - 1. Its size is known when only codecs of fixed
   overhead lie between it and the sizes of the chunk; otherwise it is bounded, so that a bomb in
   the outer codec cannot grow beyond twice the chunk. */
static enum zb_code stage_sink(const zb__pipeline *pipeline, size_t i, const zb__sink *final,
                               zb__buffer *stage, zb__sink *sink, zb_error *err) {
    size_t capacity = final->capacity;
    bool exact = final->exact;
    for (size_t k = 0; k < i && exact; k++) {
        int overhead = pipeline->codecs[k].ops->bytes.fixed_overhead;
        exact = overhead >= 0;
        if (exact && __builtin_add_overflow(capacity, (size_t)overhead, &capacity))
            exact = false;
    }
    if (!exact && (__builtin_mul_overflow(final->capacity, 2, &capacity) ||
                   __builtin_add_overflow(capacity, ZB__CODEC_SLACK, &capacity)))
        return zb_fail(err, ZB_ELIMIT, "a chunk of %zu bytes is too large to decode",
                       final->capacity);
    enum zb_code code = zb__buffer_reserve(stage, capacity, err);
    *sink = (zb__sink){.data = stage->data, .capacity = capacity, .exact = exact, .hi = capacity};
    return code;
}

/* No codecs: the stored bytes are the chunk. */
static enum zb_code copy_stored(const uint8_t *in, size_t size, zb__sink *sink, zb_error *err) {
    if (size > sink->capacity || (sink->exact && size < sink->capacity))
        return zb_fail(err, ZB_EFORMAT, "the chunk has %zu bytes, expected %s%zu", size,
                       sink->exact ? "" : "at most ", sink->capacity);
    size_t hi = sink->hi < size ? sink->hi : size;
    if (sink->lo < hi)
        memcpy(sink->data + sink->lo, in + sink->lo, hi - sink->lo);
    sink->size = size;
    return ZB_OK;
}

enum zb_code zb__pipeline_decode(const zb__pipeline *pipeline, zb__scratch *scratch,
                                 const uint8_t *in, size_t size, zb__sink *sink, zb_error *err) {
    static const uint8_t nothing[1];
    if (pipeline->codec_count == 0)
        return copy_stored(in, size, sink, err);
    if (!in) /* of size 0; no codec may add even 0 to a null pointer */
        in = nothing;
    enum zb_code code = ZB_OK;
    zb__buffer *stage = &scratch->stage[0];
    for (size_t i = pipeline->codec_count; !code && i-- > 0;) {
        const zb__bytes_ops *ops = &pipeline->codecs[i].ops->bytes;
        const void *state = pipeline->codecs[i].state;
        if (i == 0) {
            code = ops->decode(state, scratch, in, size, sink, err);
        } else if (ops->strip) { /* between two codecs the payload is used where it lies */
            code = ops->strip(in, size, &size, err);
        } else {
            zb__sink between;
            code = stage_sink(pipeline, i, sink, stage, &between, err);
            if (!code)
                code = ops->decode(state, scratch, in, size, &between, err);
            in = between.data;
            size = between.size;
            stage = stage == &scratch->stage[0] ? &scratch->stage[1] : &scratch->stage[0];
        }
    }
    return code;
}

/* ---- Encoding ----------------------------------------------------------------------------- */

/* The bytes that codec i adds go behind those that an earlier codec has written, where they lie. */
static bool is_in_place(const zb__pipeline *pipeline, size_t i) {
    return i > 0 && i < pipeline->codec_count && pipeline->codecs[i].ops->bytes.append;
}

/* Runs codec i and those in place that follow it; *i is left at the last of them. */
static enum zb_code encode_stage(const zb__pipeline *pipeline, size_t *i, zb__scratch *scratch,
                                 const uint8_t *in, size_t size, uint8_t *out, size_t capacity,
                                 size_t *written, zb_error *err) {
    const zb__codec *codec = &pipeline->codecs[*i];
    enum zb_code code =
        codec->ops->bytes.encode(codec->state, scratch, in, size, out, capacity, written, err);
    while (!code && is_in_place(pipeline, *i + 1))
        code = pipeline->codecs[++*i].ops->bytes.append(out, *written, capacity, written, err);
    return code;
}

/* Room for the output of encode_stage. */
static enum zb_code reserve_stage(const zb__pipeline *pipeline, size_t i, size_t size,
                                  zb__buffer *stage, zb_error *err) {
    uint64_t bound = pipeline->codecs[i].ops->bytes.encode_bound(size);
    while (is_in_place(pipeline, ++i))
        bound = pipeline->codecs[i].ops->bytes.encode_bound(bound);
    if (bound > SIZE_MAX)
        return zb_fail(err, ZB_ELIMIT, "a chunk is too large to be encoded");
    return zb__buffer_reserve(stage, (size_t)bound, err);
}

enum zb_code zb__pipeline_encode(const zb__pipeline *pipeline, zb__scratch *scratch,
                                 const uint8_t *in, size_t size, uint8_t *out, size_t capacity,
                                 size_t *written, zb_error *err) {
    size_t last = 0; /* the codec that writes to out */
    for (size_t i = 0; i < pipeline->codec_count; i++)
        last = is_in_place(pipeline, i) ? last : i;
    if (pipeline->codec_count == 0) {
        if (size > capacity)
            return zb_fail(err, ZB_EINVAL, "%zu bytes cannot be stored in %zu", size, capacity);
        memcpy(out, in, size);
        *written = size;
        return ZB_OK;
    }
    zb__buffer *stage = &scratch->stage[0];
    for (size_t i = 0; i < last; i++) {
        enum zb_code code = reserve_stage(pipeline, i, size, stage, err);
        if (!code)
            code = encode_stage(pipeline, &i, scratch, in, size, stage->data, stage->capacity,
                                &size, err);
        if (code)
            return code;
        in = stage->data;
        stage = stage == &scratch->stage[0] ? &scratch->stage[1] : &scratch->stage[0];
    }
    return encode_stage(pipeline, &last, scratch, in, size, out, capacity, written, err);
}
