/* SPDX-License-Identifier: MIT */
/*
 * The sharding_indexed codec. The index of a shard is itself a small Zarr chunk: a uint64 array of
 * shape grid + [2], encoded by a pipeline whose size must be fixed, so that it can be found at the
 * start or end of the object (shard_index.c).
 *
 * The state knows the shape of inner chunks; all that depends on the shape of the shard is in its
 * form.
 */
#include "codec/shard_index.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "codec/configuration.h"
#include "codec/encode.h"
#include "util/checked.h"
#include "util/json_excerpt.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"
#include "zarrbridge/limits.h"

typedef struct sharding {
    uint32_t ndim;
    uint64_t inner_shape[ZB_MAX_NDIM]; /* in stored dimensions */
    bool index_at_start;
    bool is_draft;       /* the draft of March 2023, which knew no index_codecs */
    zb__pipeline *index; /* of the index */
    zb__pipeline *inner; /* of an inner chunk */
} sharding;

static void shard_free(void *state) {
    sharding *s = state;
    if (!s)
        return;
    zb__pipeline_free(s->index);
    zb__pipeline_free(s->inner);
    free(s);
}

/* ---- The configuration -------------------------------------------------------------------- */

static enum zb_code parse_inner_shape(sharding *s, const zb_json *configuration, zb_error *err) {
    const zb_json *value = zb_json_get(configuration, "chunk_shape");
    char excerpt[ZB__BRIEF_SIZE];
    if (zb_json_kind_of(value) != ZB_JSON_ARRAY || zb_json_count(value) != s->ndim)
        return zb_fail(err, ZB_EFORMAT, "chunk_shape is %s, expected a list of %u integers",
                       zb__json_excerpt(value, excerpt), s->ndim);
    uint32_t i = 0;
    for (const zb_json *item = zb_json_first(value); item; item = zb_json_next(item), i++) {
        uint64_t *inner = &s->inner_shape[i];
        if (!zb_json_uint64(item, inner) || *inner == 0)
            return zb_fail(err, ZB_EFORMAT, "chunk_shape[%u] is %s, expected an integer above 0", i,
                           zb__json_excerpt(item, excerpt));
    }
    return ZB_OK;
}

static enum zb_code parse_location(sharding *s, const zb_json *configuration, zb_error *err) {
    static const char *const choices[] = {"end", "start", NULL};
    size_t choice = 0;
    enum zb_code code =
        zb__configuration_choice(configuration, "index_location", choices, &choice, err);
    s->index_at_start = choice == 1;
    return code;
}

static enum zb_code check_index(const zb__pipeline *index, zb_error *err) {
    const char *varies =
        index->serializer.ops->serializer.is_elements ? NULL : index->serializer.ops->name;
    for (size_t i = 0; i < index->codec_count && !varies; i++) {
        if (index->codecs[i].ops->bytes.fixed_overhead < 0)
            varies = index->codecs[i].ops->name;
    }
    if (!varies)
        return ZB_OK;
    return zb_fail(err, ZB_EFORMAT,
                   "index_codecs: the size of an index must be fixed, which it is not with \"%s\"",
                   varies);
}

static enum zb_code bind_index(sharding *s, const zb_json *configuration, uint32_t depth,
                               zb_error *err) {
    if (s->ndim >= ZB_MAX_NDIM)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "arrays of %u dimensions cannot be sharded (at most %u)", s->ndim,
                       ZB_MAX_NDIM - 1);
    const zb_json *codecs = zb_json_get(configuration, "index_codecs");
    zb_json *implied = NULL;
    if (!codecs) { /* what zarr-python takes then */
        static const char text[] = "[{\"name\":\"bytes\",\"configuration\":{\"endian\":"
                                   "\"little\"}},{\"name\":\"crc32c\"}]";
        enum zb_code parsed = zb_json_parse(text, sizeof text - 1, &implied, err);
        if (parsed)
            return parsed;
        codecs = implied;
        s->is_draft = !zb_json_get(configuration, "index_location");
    }
    const zb__binding binding = {.ndim = s->ndim + 1,
                                 .dtype = {.kind = ZB_KIND_UINT, .size = 8},
                                 .depth = depth,
                                 .is_index = true};
    enum zb_code code = zb__pipeline_bind_index(codecs, &binding, &s->index, err);
    zb_json_free(implied);
    return code ? zb_error_prefix(err, code, "index_codecs") : check_index(s->index, err);
}

static enum zb_code shard_parse(const zb_json *configuration, const zb__binding *binding,
                                void **state, zb_error *err) {
    uint64_t limit = zb_limits_get()->shard_depth;
    if (binding->depth >= limit)
        return zb_fail(err, ZB_ELIMIT,
                       "shards are nested deeper than the limit shard_depth (%" PRIu64 ") allows",
                       limit);
    sharding *s = zb__codec_new_state(sizeof *s, state, err);
    if (!s)
        return ZB_ENOMEM;
    s->ndim = binding->ndim;
    enum zb_code code = parse_inner_shape(s, configuration, err);
    if (!code)
        code = parse_location(s, configuration, err);
    if (!code)
        code = bind_index(s, configuration, binding->depth + 1, err);
    if (code)
        return code;
    const zb_json *codecs = zb_json_get(configuration, "codecs");
    if (!codecs && !s->is_draft)
        return zb_fail(err, ZB_EFORMAT, "codecs is missing");
    if (codecs && zb_json_kind_of(codecs) != ZB_JSON_ARRAY)
        return zb_fail(err, ZB_EFORMAT, "codecs is no list");
    zb__binding inner = *binding; /* with the filters in front of the shard */
    inner.depth++;
    inner.is_draft = s->is_draft;
    return zb__pipeline_bind(codecs, &inner, &s->inner, err);
}

static bool shard_same(const void *a, const void *b) {
    const sharding *x = a, *y = b;
    return x->index_at_start == y->index_at_start && x->ndim == y->ndim &&
           memcmp(x->inner_shape, y->inner_shape, x->ndim * sizeof *x->inner_shape) == 0 &&
           zb__pipeline_same(x->index, y->index) && zb__pipeline_same(x->inner, y->inner);
}

/* ---- Forms -------------------------------------------------------------------------------- */

/* Version 1.0 of the codec wants divisors; in the proposed 1.1 the shard cuts its inner chunks. */
static enum zb_code divide(const sharding *s, zb__chunk_layout *layout, zb_error *err) {
    zb__shard *shard = layout->shard;
    for (uint32_t i = 0; i < s->ndim; i++) {
        uint64_t outer = layout->stored_shape[i], inner = s->inner_shape[i];
        shard->outer_shape[i] = outer;
        shard->is_clipped = shard->is_clipped || inner > outer;
        shard->inner_shape[i] = inner < outer ? inner : outer;
        shard->grid[i] = outer / shard->inner_shape[i];
        if (outer % shard->inner_shape[i] == 0)
            continue;
        shard->grid[i]++;
        if (shard->cut_count == ZB__CUT_MAX)
            return zb_fail(err, ZB_EUNSUPPORTED,
                           "chunk_shape divides the shard along too few dimensions; at most %d may "
                           "have a remainder",
                           ZB__CUT_MAX);
        shard->cut[shard->cut_count++] = i;
    }
    if (shard->cut_count > 0)
        shard->ends = calloc((size_t)1 << shard->cut_count, sizeof *shard->ends);
    return shard->cut_count == 0 || shard->ends
               ? ZB_OK
               : zb_fail(err, ZB_ENOMEM, "no memory for the layout of a shard");
}

enum zb_code zb__cut_inner(const zb__shard *shard, uint64_t inner, const zb__chunk_layout **out,
                           zb_error *err) {
    const zb__pipeline *pipeline = shard->inner->pipeline;
    uint64_t shape[ZB_MAX_NDIM], at[ZB_MAX_NDIM];
    size_t set = 0;
    memcpy(shape, shard->inner_shape, sizeof shape);
    for (uint32_t d = pipeline->ndim; d-- > 0; inner /= shard->grid[d])
        at[d] = inner % shard->grid[d];
    for (uint32_t i = 0; i < shard->cut_count; i++) {
        uint32_t d = shard->cut[i];
        if (at[d] + 1 < shard->grid[d])
            continue;
        set |= (size_t)1 << i;
        shape[d] = shard->outer_shape[d] % shard->inner_shape[d];
    }
    *out = set ? atomic_load(&shard->ends[set]) : shard->inner;
    if (*out)
        return ZB_OK;
    const zb__chunk_layout *there = NULL;
    enum zb_code code = zb__pipeline_layout(pipeline, shape, out, err);
    if (!code && !atomic_compare_exchange_strong(&shard->ends[set], &there, *out)) {
        zb__chunk_layout_release(*out);
        *out = there;
    }
    return code;
}

static enum zb_code prepare_index(const sharding *s, zb__shard *shard, zb_error *err) {
    const uint64_t number = sizeof(uint64_t); /* two for each inner chunk: offset and length */
    uint64_t limit = zb_limits_get()->index_bytes, size;
    uint64_t shape[ZB_MAX_NDIM]; /* one more than the array has */
    memcpy(shape, shard->grid, s->ndim * sizeof *shape);
    shape[s->ndim] = 2;
    if (!zb__product_u64(shape, s->ndim + 1, number, &size) || size > limit)
        return zb_fail(err, ZB_ELIMIT,
                       "the index of a shard is larger than the limit index_bytes (%" PRIu64 ")",
                       limit);
    shard->count = size / (2 * number);
    shard->index_at_start = s->index_at_start;
    shard->is_draft = s->is_draft;
    enum zb_code code = zb__pipeline_layout(s->index, shape, &shard->index, err);
    if (code)
        return zb_error_prefix(err, code, "index_codecs");
    size = shard->index->encoded_bound; /* exact: its codecs are fixed */
    if (size > limit || size > SIZE_MAX)
        return zb_fail(err, ZB_ELIMIT,
                       "the index has %" PRIu64 " bytes, more than the limit index_bytes (%" PRIu64
                       ")",
                       size, limit);
    shard->index_size = (size_t)size;
    return ZB_OK;
}

static enum zb_code shard_prepare(const void *state, zb__chunk_layout *layout, zb_error *err) {
    const sharding *s = state;
    zb__shard *shard = layout->shard = calloc(1, sizeof *shard);
    if (!shard)
        return zb_fail(err, ZB_ENOMEM, "no memory for the layout of a shard");
    enum zb_code code = divide(s, layout, err);
    if (!code)
        code = prepare_index(s, shard, err);
    return code ? code : zb__pipeline_layout(s->inner, shard->inner_shape, &shard->inner, err);
}

static uint64_t shard_decode_bound(const zb__chunk_layout *layout) {
    const zb__shard *shard = layout->shard;
    uint64_t inner = shard->inner->encoded_bound;
    uint64_t full = zb__bound_sum(zb__bound_product(inner, shard->count), shard->index_size);
    uint64_t bound = zb__bound_sum(zb__bound_product(full, 2),
                                   ZB__CODEC_SLACK); /* there may be gaps between the chunks */
    uint64_t limit = zb_limits_get()->shard_bytes;
    return bound < limit ? bound : limit;
}

static uint64_t shard_encode_bound(const zb__chunk_layout *layout) {
    const zb__shard *shard = layout->shard;
    uint64_t inner = zb__chunk_encode_bound(shard->inner);
    return zb__bound_sum(zb__bound_product(inner, shard->count), shard->index_size);
}

/* ---- Encoding ----------------------------------------------------------------------------- */

/* The view of inner chunk i, whose own pipeline may permute dimensions once more. */
static zb__elements_view inner_view(const zb__chunk_layout *layout, const zb__elements_view *view,
                                    uint64_t i) {
    const zb__shard *shard = layout->shard;
    uint32_t ndim = layout->pipeline->ndim;
    zb__elements_view inner = {.data = view->data};
    for (uint32_t d = ndim; d-- > 0; i /= shard->grid[d]) {
        uint64_t start = i % shard->grid[d] * shard->inner_shape[d];
        inner.data += (int64_t)start * view->strides[d];
    }
    for (uint32_t d = 0; d < ndim; d++)
        inner.strides[d] = view->strides[shard->inner->pipeline->axis[d]];
    return inner;
}

static enum zb_code shard_measure(const zb__encoding *e, const zb__chunk_layout *layout,
                                  const zb__elements_view *view, uint64_t *size, zb_error *err) {
    const zb__shard *shard = layout->shard;
    enum zb_code code = ZB_OK;
    *size = layout->pipeline->is_variable ? shard->index_size : shard_encode_bound(layout);
    for (uint64_t i = 0; i < shard->count && layout->pipeline->is_variable && !code; i++) {
        zb__elements_view inner = inner_view(layout, view, i);
        uint64_t one = 0;
        code = zb__view_measure(e, shard->inner, &inner, &one, err);
        *size = zb__bound_sum(*size, one);
    }
    return code;
}

/* Encodes all inner chunks into out[from..to) and their places into entries. *end gets where they
   end: `from` when none is stored. */
static enum zb_code encode_inner_chunks(const zb__encoding *e, const zb__chunk_layout *layout,
                                        const zb__elements_view *view, uint8_t *out, size_t from,
                                        size_t to, uint64_t *entries, size_t *end, zb_error *err) {
    size_t at = from;
    for (uint64_t i = 0; i < layout->shard->count; i++) {
        zb__elements_view inner = inner_view(layout, view, i);
        size_t size;
        enum zb_code code =
            zb__view_encode(e, layout->shard->inner, &inner, out + at, to - at, &size, err);
        if (code)
            return code;
        entries[2 * i] = size ? at : ZB__INDEX_EMPTY;
        entries[2 * i + 1] = size ? size : ZB__INDEX_EMPTY;
        at += size;
    }
    *end = at;
    return ZB_OK;
}

/* Encodes a shard into out[0..capacity). */
static enum zb_code encode_shard(const zb__encoding *e, const zb__chunk_layout *layout,
                                 const zb__elements_view *view, uint8_t *out, size_t capacity,
                                 size_t *size, zb_error *err) {
    const zb__shard *shard = layout->shard;
    if (capacity < shard->index_size)
        return zb_fail(err, ZB_EINVAL, "an index of %zu bytes cannot be stored in %zu",
                       shard->index_size, capacity);
    uint64_t *entries = malloc((size_t)shard->index->decoded_size);
    if (!entries)
        return zb_fail(err, ZB_ENOMEM, "no memory for the index of a shard");
    size_t from = shard->index_at_start ? shard->index_size : 0;
    size_t to = shard->index_at_start ? capacity : capacity - shard->index_size, end;
    enum zb_code code = encode_inner_chunks(e, layout, view, out, from, to, entries, &end, err);
    if (!code) {
        *size = end == from ? 0 : end - from + shard->index_size;
        if (*size)
            code = zb__shard_index_encode(shard, e->scratch, entries,
                                          shard->index_at_start ? out : out + end, err);
    }
    free(entries);
    return code;
}

static enum zb_code shard_encode(const zb__encoding *e, const zb__chunk_layout *layout,
                                 const zb__elements_view *view, zb__serialised *out,
                                 zb_error *err) {
    uint8_t *target = out->target;
    size_t capacity = out->capacity;
    if (!target) { /* codecs follow, which use the scratch as the inner chunks do */
        uint64_t bound;
        enum zb_code code = shard_measure(e, layout, view, &bound, err);
        if (!code && bound > SIZE_MAX)
            code = zb_fail(err, ZB_ELIMIT, "a chunk is too large to be encoded");
        if (!code)
            code = zb__buffer_reserve(&out->own, (size_t)bound, err);
        if (code)
            return code;
        target = out->own.data;
        capacity = out->own.capacity;
    }
    out->data = target;
    return encode_shard(e, layout, view, target, capacity, &out->size, err);
}

static const char *const members[] = {"chunk_shape", "codecs", "index_codecs", "index_location",
                                      NULL};

static const char *const defaults[] = {NULL, NULL,
                                       "[{\"name\":\"bytes\",\"configuration\":{\"endian\":"
                                       "\"little\"}},{\"name\":\"crc32c\"}]",
                                       "\"end\""};

const zb__codec_ops zb__codec_sharding_indexed = {
    .name = "sharding_indexed",
    .kind = ZB__ARRAY_TO_BYTES,
    .members = members,
    .defaults = defaults,
    .parse = shard_parse,
    .free = shard_free,
    .same = shard_same,
    .serializer = {.passes_filters = true,
                   .prepare = shard_prepare,
                   .decode_bound = shard_decode_bound,
                   .encode_bound = shard_encode_bound,
                   .measure = shard_measure,
                   .encode = shard_encode},
};
