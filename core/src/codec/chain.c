/* SPDX-License-Identifier: MIT */
/* Chains at work: undoing the bytes→bytes codecs of one chunk. chain_bind.c makes chains. */
#include "codec/chain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "codec/crc32c.h"

/* What a codec that does not compress may add to its input, with a wide margin. */
#define CODEC_SLACK (64u << 10)

void zb__chain_free(zb__chain *chain) {
    if (!chain)
        return;
    if (chain->shard) {
        zb__chain_free(chain->shard->index);
        zb__chain_free(chain->shard->inner);
        free(chain->shard);
    }
    free(chain->codecs);
    free(chain);
}

static bool same_codecs(const zb__chain *a, const zb__chain *b) {
    bool same = a->codec_count == b->codec_count;
    for (size_t i = 0; i < a->codec_count && same; i++)
        same = a->codecs[i].ops == b->codecs[i].ops; /* what decoding needs is in the data */
    return same;
}

bool zb__chain_same(const zb__chain *a, const zb__chain *b) {
    size_t n = a->ndim;
    if (n != b->ndim || !a->shard != !b->shard || a->dtype.kind != b->dtype.kind ||
        a->dtype.size != b->dtype.size || a->dtype.swapped != b->dtype.swapped ||
        memcmp(a->axis, b->axis, n * sizeof *a->axis) != 0 ||
        memcmp(a->stored_shape, b->stored_shape, n * sizeof *a->stored_shape) != 0 ||
        !same_codecs(a, b))
        return false;
    const zb__shard *x = a->shard, *y = b->shard;
    return !x || (x->index_at_start == y->index_at_start &&
                  memcmp(x->inner_shape, y->inner_shape, n * sizeof *x->inner_shape) == 0 &&
                  zb__chain_same(x->index, y->index) && zb__chain_same(x->inner, y->inner));
}

/* Do the codecs from the given one on keep the size up to a constant? */
static bool is_fixed_from(const zb__chain *chain, size_t first) {
    for (size_t i = first; i < chain->codec_count; i++) {
        if (chain->codecs[i].ops->fixed_overhead < 0)
            return false;
    }
    return true;
}

/* With a compressor outside, all of the bytes have to be decoded once anyhow. */
bool zb__chain_is_partial(const zb__chain *chain) {
    return chain->codec_count > 0 && chain->codecs[0].ops->partial && is_fixed_from(chain, 1);
}

uint64_t zb__chain_decoded_bound(const zb__chain *chain) {
    if (!chain->shard)
        return chain->decoded_size;
    uint64_t inner = zb__chain_encoded_bound(chain->shard->inner);
    uint64_t full =
        zb__bound_sum(zb__bound_product(inner, chain->shard->count), chain->shard->index_size);
    uint64_t bound = zb__bound_sum(zb__bound_product(full, 2),
                                   CODEC_SLACK); /* there may be gaps between the chunks */
    uint64_t limit = zb_limits_get()->shard_bytes;
    return bound < limit ? bound : limit;
}

uint64_t zb__chain_encoded_bound(const zb__chain *chain) {
    uint64_t bound = zb__chain_decoded_bound(chain);
    if (!is_fixed_from(chain, 0))
        return zb__bound_sum(zb__bound_product(bound, 2), CODEC_SLACK);
    for (size_t i = 0; i < chain->codec_count; i++)
        bound = zb__bound_sum(bound, (uint64_t)chain->codecs[i].ops->fixed_overhead);
    return bound;
}

enum zb_code zb__chain_check_stored(const zb__chain *chain, uint64_t size, zb_error *err) {
    uint64_t bound = zb__chain_encoded_bound(chain);
    if (!chain->shard && is_fixed_from(chain, 0) && size != bound)
        return zb_fail(err, ZB_EFORMAT, "it has %" PRIu64 " bytes, expected %" PRIu64, size, bound);
    if (size > bound)
        return zb_fail(err, ZB_ELIMIT,
                       "it has %" PRIu64 " stored bytes, more than the %" PRIu64
                       " that its decoded size allows%s",
                       size, bound, chain->shard ? " (at most the limit shard_bytes)" : "");
    return ZB_OK;
}

/* The sink of codec i > 0: what codec i - 1 takes. Its size is known when only codecs of fixed
   overhead lie between it and the sizes of the chunk; otherwise it is bounded, so that a bomb in
   the outer codec cannot grow beyond twice the chunk. */
static enum zb_code stage_sink(const zb__chain *chain, size_t i, const zb__sink *final,
                               zb__buffer *stage, zb__sink *sink, zb_error *err) {
    size_t capacity = final->capacity;
    bool exact = final->exact;
    for (size_t k = 0; k < i && exact; k++) {
        int overhead = chain->codecs[k].ops->fixed_overhead;
        exact = overhead >= 0;
        if (exact && __builtin_add_overflow(capacity, (size_t)overhead, &capacity))
            exact = false;
    }
    if (!exact && (__builtin_mul_overflow(final->capacity, 2, &capacity) ||
                   __builtin_add_overflow(capacity, CODEC_SLACK, &capacity)))
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

enum zb_code zb__chain_decode(const zb__chain *chain, zb__scratch *scratch, const uint8_t *in,
                              size_t size, zb__sink *sink, zb_error *err) {
    static const uint8_t nothing[1];
    if (chain->codec_count == 0)
        return copy_stored(in, size, sink, err);
    if (!in) /* of size 0; no codec may add even that to a null pointer */
        in = nothing;
    enum zb_code code = ZB_OK;
    zb__buffer *stage = &scratch->stage[0];
    for (size_t i = chain->codec_count; !code && i-- > 0;) {
        const zb__codec *codec = &chain->codecs[i];
        if (i == 0) {
            code = codec->ops->decode(codec, scratch, in, size, sink, err);
        } else if (codec->ops == &zb__codec_crc32c) {
            /* Between two codecs the payload is used where it lies. */
            code = zb__crc32c_verify(in, size, err);
            size -= code ? 0 : ZB__CRC32C_SIZE;
        } else {
            zb__sink between;
            code = stage_sink(chain, i, sink, stage, &between, err);
            if (!code)
                code = codec->ops->decode(codec, scratch, in, size, &between, err);
            in = between.data;
            size = between.size;
            stage = stage == &scratch->stage[0] ? &scratch->stage[1] : &scratch->stage[0];
        }
    }
    return code;
}
