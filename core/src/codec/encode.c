/* SPDX-License-Identifier: MIT */
/*
 * Chunks on their way out.
 *
 * A shard is walked down to its leaves without copying: what is passed on is a view of the
 * elements, and each level narrows it to an inner chunk and permutes its dimensions. Only a leaf
 * brings its elements together, and only where they do not lie together already. Encoded inner
 * chunks are written behind each other straight into the shard. Where codecs lie around a shard,
 * the shard needs memory of its own, because its leaves use the scratch; such shards are rare.
 *
 * Capacities are handed down and checked at every step, so that a codec that broke its bound would
 * end in an error, not in other memory.
 */
#include "codec/encode.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "codec/crc32c.h"
#include "kernel/scatter.h"

/* What stays the same while a chunk is walked. */
typedef struct encoding {
    zb__scratch *scratch;
    zb_dtype dtype;   /* of the elements and the fill value that the caller gave */
    const void *fill; /* one element */
    bool store_empty;
} encoding;

/* The elements of a chunk within the caller's. */
typedef struct elements_view {
    const uint8_t *data;
    int64_t strides[ZB_MAX_NDIM]; /* bytes, of the chunk's stored dimensions */
} elements_view;

bool zb__is_all(const void *elements, uint64_t n, const void *fill, size_t item) {
    if (n == 0)
        return true;
    /* The first equals fill, and each of the others the one before it. */
    const uint8_t *bytes = elements;
    return memcmp(bytes, fill, item) == 0 &&
           memcmp(bytes, bytes + item, (size_t)(n - 1) * item) == 0;
}

/* ---- Bounds ------------------------------------------------------------------------------- */

/* Of the chunk before its bytes→bytes codecs. */
static uint64_t serialised_bound(const zb__chain *chain) {
    const zb__shard *shard = chain->shard;
    if (!shard)
        return chain->decoded_size;
    uint64_t inner = zb__chunk_encode_bound(shard->inner);
    return zb__bound_sum(zb__bound_product(inner, shard->count), shard->index_size);
}

uint64_t zb__chunk_encode_bound(const zb__chain *chain) {
    uint64_t bound = serialised_bound(chain);
    for (size_t i = 0; i < chain->codec_count; i++)
        bound = chain->codecs[i].ops->encode_bound(bound);
    return bound;
}

static enum zb_code reserve_bound(zb__buffer *buffer, uint64_t bound, zb_error *err) {
    if (bound > SIZE_MAX)
        return zb_fail(err, ZB_ELIMIT, "a chunk is too large to be encoded");
    return zb__buffer_reserve(buffer, (size_t)bound, err);
}

/* ---- Bytes→bytes codecs ------------------------------------------------------------------- */

/* A checksum is put behind what an earlier codec has written, where it lies. */
static bool is_in_place(const zb__chain *chain, size_t i) {
    return i > 0 && chain->codecs[i].ops == &zb__codec_crc32c;
}

/* Runs codec i and the checksums that follow it; *i is left at the last of them. */
static enum zb_code encode_stage(const zb__chain *chain, size_t *i, zb__scratch *scratch,
                                 const uint8_t *in, size_t size, uint8_t *out, size_t capacity,
                                 size_t *written, zb_error *err) {
    const zb__codec *codec = &chain->codecs[*i];
    enum zb_code code = codec->ops->encode(codec, scratch, in, size, out, capacity, written, err);
    for (; !code && *i + 1 < chain->codec_count && is_in_place(chain, *i + 1); ++*i)
        code = zb__crc32c_append(out, *written, capacity, written, err);
    return code;
}

enum zb_code zb__codecs_encode(const zb__chain *chain, zb__scratch *scratch, const uint8_t *in,
                               size_t size, uint8_t *out, size_t capacity, size_t *written,
                               zb_error *err) {
    size_t last = 0; /* the codec that writes to out */
    for (size_t i = 0; i < chain->codec_count; i++)
        last = is_in_place(chain, i) ? last : i;
    if (chain->codec_count == 0) {
        if (size > capacity)
            return zb_fail(err, ZB_EINVAL, "%zu bytes cannot be stored in %zu", size, capacity);
        memcpy(out, in, size);
        *written = size;
        return ZB_OK;
    }
    zb__buffer *stage = &scratch->stage[0];
    for (size_t i = 0; i < last; i++) {
        uint64_t bound = chain->codecs[i].ops->encode_bound(size);
        bound = zb__bound_sum(bound, ZB__CRC32C_SIZE * chain->codec_count);
        enum zb_code code = reserve_bound(stage, bound, err);
        if (!code)
            code = encode_stage(chain, &i, scratch, in, size, stage->data, stage->capacity, &size,
                                err);
        if (code)
            return code;
        in = stage->data;
        stage = stage == &scratch->stage[0] ? &scratch->stage[1] : &scratch->stage[0];
    }
    return encode_stage(chain, &last, scratch, in, size, out, capacity, written, err);
}

/* ---- Leaves ------------------------------------------------------------------------------- */

/* Are the view's elements, byte for byte, the serialised chunk? */
static bool is_serialised(const encoding *e, const zb__chain *leaf, const elements_view *view) {
    int64_t stride = leaf->dtype.size;
    for (uint32_t i = leaf->ndim; i-- > 0;) {
        if (leaf->stored_shape[i] > 1 && view->strides[i] != stride)
            return false;
        stride *= (int64_t)leaf->stored_shape[i];
    }
    return leaf->dtype.swapped == e->dtype.swapped;
}

/* Brings a leaf's elements together in the scratch, in stored byte order. */
static enum zb_code serialise(const encoding *e, const zb__chain *leaf, const elements_view *view,
                              zb_error *err) {
    int64_t strides[ZB_MAX_NDIM], stride = leaf->dtype.size;
    for (uint32_t i = leaf->ndim; i-- > 0;) {
        strides[i] = stride;
        stride *= (int64_t)leaf->stored_shape[i];
    }
    zb__box_copy copy = {.ndim = leaf->ndim,
                         .count = leaf->stored_shape,
                         .src_strides = view->strides,
                         .dst_strides = strides,
                         .src_dtype = e->dtype,
                         .dst_dtype = leaf->dtype};
    enum zb_code code = zb__buffer_reserve(&e->scratch->block, (size_t)leaf->decoded_size, err);
    if (!code)
        zb__scatter(&copy, view->data, e->scratch->block.data);
    return code;
}

static bool is_all_fill(const encoding *e, const zb__chain *leaf, const uint8_t *elements) {
    size_t item = leaf->dtype.size;
    uint8_t swapped[16]; /* the largest element whose bytes have an order, a complex number */
    const void *fill = e->fill;
    if (leaf->dtype.swapped != e->dtype.swapped) {
        zb__convert(e->dtype, fill, 0, leaf->dtype, swapped, 0, 1);
        fill = swapped;
    }
    return zb__is_all(elements, leaf->decoded_size / item, fill, item);
}

static enum zb_code encode_leaf(const encoding *e, const zb__chain *leaf, const elements_view *view,
                                uint8_t *out, size_t capacity, size_t *size, zb_error *err) {
    const uint8_t *elements = view->data;
    if (!is_serialised(e, leaf, view)) {
        enum zb_code code = serialise(e, leaf, view, err);
        if (code)
            return code;
        elements = e->scratch->block.data;
    }
    *size = 0;
    if (!e->store_empty && is_all_fill(e, leaf, elements))
        return ZB_OK;
    return zb__codecs_encode(leaf, e->scratch, elements, (size_t)leaf->decoded_size, out, capacity,
                             size, err);
}

/* ---- Shards ------------------------------------------------------------------------------- */

static enum zb_code encode_chunk(const encoding *e, const zb__chain *chain,
                                 const elements_view *view, uint8_t *out, size_t capacity,
                                 size_t *size, zb_error *err);

/* The view of inner chunk i of a shard, whose own chain may permute dimensions once more. */
static elements_view inner_view(const zb__chain *chain, const elements_view *view, uint64_t i) {
    const zb__shard *shard = chain->shard;
    elements_view inner = {.data = view->data};
    for (uint32_t d = chain->ndim; d-- > 0; i /= shard->grid[d]) {
        uint64_t start = i % shard->grid[d] * shard->inner_shape[d];
        inner.data += (int64_t)start * view->strides[d];
    }
    for (uint32_t d = 0; d < chain->ndim; d++)
        inner.strides[d] = view->strides[shard->inner->axis[d]];
    return inner;
}

/* Encodes all inner chunks into out[from..to) and their places into entries. *end gets where they
   end: `from` when none is stored. */
static enum zb_code encode_inner_chunks(const encoding *e, const zb__chain *chain,
                                        const elements_view *view, uint8_t *out, size_t from,
                                        size_t to, uint64_t *entries, size_t *end, zb_error *err) {
    size_t at = from;
    for (uint64_t i = 0; i < chain->shard->count; i++) {
        elements_view inner = inner_view(chain, view, i);
        size_t size;
        enum zb_code code =
            encode_chunk(e, chain->shard->inner, &inner, out + at, to - at, &size, err);
        if (code)
            return code;
        entries[2 * i] = size ? at : ZB__INDEX_EMPTY;
        entries[2 * i + 1] = size ? size : ZB__INDEX_EMPTY;
        at += size;
    }
    *end = at;
    return ZB_OK;
}

/* The shard without the codecs around it. */
static enum zb_code encode_shard(const encoding *e, const zb__chain *chain,
                                 const elements_view *view, uint8_t *out, size_t capacity,
                                 size_t *size, zb_error *err) {
    const zb__shard *shard = chain->shard;
    if (capacity < shard->index_size)
        return zb_fail(err, ZB_EINVAL, "an index of %zu bytes cannot be stored in %zu",
                       shard->index_size, capacity);
    uint64_t *entries = malloc((size_t)shard->index->decoded_size);
    if (!entries)
        return zb_fail(err, ZB_ENOMEM, "no memory for the index of a shard");
    size_t from = shard->index_at_start ? shard->index_size : 0;
    size_t to = shard->index_at_start ? capacity : capacity - shard->index_size, end;
    enum zb_code code = encode_inner_chunks(e, chain, view, out, from, to, entries, &end, err);
    if (!code) {
        *size = end == from ? 0 : end - from + shard->index_size;
        if (*size)
            code = zb__shard_index_encode(shard, e->scratch, entries,
                                          shard->index_at_start ? out : out + end, err);
    }
    free(entries);
    return code;
}

/* A shard with codecs around it. */
static enum zb_code encode_wrapped_shard(const encoding *e, const zb__chain *chain,
                                         const elements_view *view, uint8_t *out, size_t capacity,
                                         size_t *size, zb_error *err) {
    zb__buffer bare = {0};
    size_t bare_size = 0;
    enum zb_code code = reserve_bound(&bare, serialised_bound(chain), err);
    if (!code)
        code = encode_shard(e, chain, view, bare.data, bare.capacity, &bare_size, err);
    *size = 0;
    if (!code && bare_size)
        code = zb__codecs_encode(chain, e->scratch, bare.data, bare_size, out, capacity, size, err);
    zb__buffer_free(&bare);
    return code;
}

/* Calls itself through encode_shard, as deep as the limit shard_depth. */
static enum zb_code encode_chunk(const encoding *e, const zb__chain *chain,
                                 const elements_view *view, uint8_t *out, size_t capacity,
                                 size_t *size, zb_error *err) {
    if (!chain->shard)
        return encode_leaf(e, chain, view, out, capacity, size, err);
    if (chain->codec_count == 0)
        return encode_shard(e, chain, view, out, capacity, size, err);
    return encode_wrapped_shard(e, chain, view, out, capacity, size, err);
}

enum zb_code zb__chunk_encode(const zb__chain *chain, zb__scratch *scratch, const uint8_t *elements,
                              const void *fill, bool store_empty, uint8_t *out, size_t capacity,
                              size_t *size, zb_error *err) {
    encoding e = {
        .scratch = scratch, .dtype = chain->dtype, .fill = fill, .store_empty = store_empty};
    elements_view view = {.data = elements};
    int64_t stride = chain->dtype.size;
    for (uint32_t i = chain->ndim; i-- > 0;) {
        view.strides[i] = stride;
        stride *= (int64_t)chain->stored_shape[i];
    }
    return encode_chunk(&e, chain, &view, out, capacity, size, err);
}
