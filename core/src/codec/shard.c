/* SPDX-License-Identifier: MIT */
/*
 * sharding_indexed: its configuration, and the index of a shard.
 *
 * The index is itself a small Zarr chunk: a uint64 array of shape grid + [2], encoded by a chain
 * whose size must be fixed, so that it can be found at the start or end of the object. Its byte
 * order and transposes are undone here; the rest of the library sees plain (offset, length) pairs.
 */
#include "codec/shard.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/json_brief.h"
#include "codec/configuration.h"

const char *const zb__shard_members[] = {"chunk_shape", "codecs", "index_codecs", "index_location",
                                         NULL};

/* ---- Configuration ------------------------------------------------------------------------ */

static enum zb_code parse_inner_shape(zb__chain *chain, const zb_json *configuration,
                                      zb_error *err) {
    zb__shard *shard = chain->shard;
    const zb_json *value = zb_json_get(configuration, "chunk_shape");
    char brief[ZB__BRIEF_SIZE];
    if (zb_json_kind_of(value) != ZB_JSON_ARRAY || zb_json_count(value) != chain->ndim)
        return zb_fail(err, ZB_EFORMAT, "chunk_shape is %s, expected a list of %u integers",
                       zb__json_brief(value, brief), chain->ndim);
    uint32_t i = 0;
    for (const zb_json *item = zb_json_first(value); item; item = zb_json_next(item), i++) {
        uint64_t outer = chain->stored_shape[i];
        uint64_t *inner = &shard->inner_shape[i];
        if (!zb_json_uint64(item, inner) || *inner == 0 || outer % *inner)
            return zb_fail(err, ZB_EFORMAT,
                           "chunk_shape[%u] is %s, expected a divisor of the shard's %" PRIu64, i,
                           zb__json_brief(item, brief), outer);
        shard->grid[i] = outer / *inner;
    }
    return ZB_OK;
}

static enum zb_code parse_location(zb__shard *shard, const zb_json *configuration, zb_error *err) {
    static const char *const choices[] = {"end", "start", NULL};
    const char *text = zb_json_string(zb_json_get(configuration, "index_location"));
    shard->index_at_start = text && strcmp(text, "start") == 0;
    return zb__configuration_choice(configuration, "index_location", choices, err);
}

/* The encoded size of the index, or an error when its codecs do not fix it. */
static enum zb_code measure_index(zb__shard *shard, zb_error *err) {
    const zb__chain *index = shard->index;
    uint64_t size = index->decoded_size;
    if (index->shard)
        return zb_fail(err, ZB_EFORMAT,
                       "index_codecs: the size of an index must be fixed, which it is not with "
                       "\"sharding_indexed\"");
    for (size_t i = 0; i < index->codec_count; i++) {
        int overhead = index->codecs[i].ops->fixed_overhead;
        if (overhead < 0)
            return zb_fail(err, ZB_EFORMAT,
                           "index_codecs: the size of an index must be fixed, which it is not "
                           "with \"%s\"",
                           index->codecs[i].ops->name);
        size += (uint64_t)overhead; /* a few bytes each on top of at most index_bytes */
    }
    uint64_t limit = zb_limits_get()->index_bytes;
    if (size > limit || size > SIZE_MAX)
        return zb_fail(err, ZB_ELIMIT,
                       "the index has %" PRIu64 " bytes, more than the limit index_bytes (%" PRIu64
                       ")",
                       size, limit);
    shard->index_size = (size_t)size;
    return ZB_OK;
}

static enum zb_code bind_index(zb__chain *chain, const zb_json *configuration, uint32_t depth,
                               zb_error *err) {
    zb__shard *shard = chain->shard;
    const zb_dtype entry = {.kind = ZB_KIND_UINT, .size = 8};
    uint64_t limit = zb_limits_get()->index_bytes, size;
    uint64_t shape[ZB_MAX_NDIM];
    if (chain->ndim >= ZB_MAX_NDIM)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "arrays of %u dimensions cannot be sharded (at most %u)", chain->ndim,
                       ZB_MAX_NDIM - 1);
    memcpy(shape, shard->grid, chain->ndim * sizeof *shape);
    shape[chain->ndim] = 2;
    if (!zb__product_u64(shape, chain->ndim + 1, entry.size, &size) || size > limit)
        return zb_fail(err, ZB_ELIMIT,
                       "the index of a shard is larger than the limit index_bytes (%" PRIu64 ")",
                       limit);
    shard->count = size / (2 * entry.size);
    const zb_json *codecs = zb_json_get(configuration, "index_codecs");
    if (!codecs)
        return zb_fail(err, ZB_EFORMAT, "index_codecs is missing");
    enum zb_code code =
        zb__chain_bind(codecs, entry, chain->ndim + 1, shape, depth, &shard->index, err);
    return code ? zb_error_prefix(err, code, "index_codecs") : measure_index(shard, err);
}

enum zb_code zb__shard_bind(zb__chain *chain, const zb_json *configuration, uint32_t depth,
                            zb_error *err) {
    uint64_t limit = zb_limits_get()->shard_depth;
    if (depth >= limit)
        return zb_fail(err, ZB_ELIMIT,
                       "shards are nested deeper than the limit shard_depth (%" PRIu64 ") allows",
                       limit);
    zb__shard *shard = chain->shard = calloc(1, sizeof *shard);
    if (!shard)
        return zb_fail(err, ZB_ENOMEM, "no memory for a shard's codecs");
    enum zb_code code = parse_inner_shape(chain, configuration, err);
    if (!code)
        code = parse_location(shard, configuration, err);
    if (!code)
        code = bind_index(chain, configuration, depth + 1, err);
    if (code)
        return code;
    const zb_json *codecs = zb_json_get(configuration, "codecs");
    if (!codecs)
        return zb_fail(err, ZB_EFORMAT, "codecs is missing");
    return zb__chain_bind(codecs, chain->dtype, chain->ndim, shard->inner_shape, depth + 1,
                          &shard->inner, err);
}

/* ---- Index -------------------------------------------------------------------------------- */

static void swap_entries(uint64_t *entries, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        entries[i] = __builtin_bswap64(entries[i]);
}

static bool is_permuted(const zb__chain *index) {
    for (uint32_t i = 0; i < index->ndim; i++) {
        if (index->axis[i] != i)
            return true;
    }
    return false;
}

/* Brings the stored order of the entries into C order of the index's dimensions. */
static void unpermute(const zb__chain *index, const uint64_t *stored, uint64_t *entries) {
    uint64_t stride[ZB_MAX_NDIM], shape[ZB_MAX_NDIM], at[ZB_MAX_NDIM] = {0};
    uint64_t total = 1, from = 0;
    for (uint32_t i = index->ndim; i-- > 0;) {
        uint32_t d = index->axis[i];
        stride[d] = total;
        shape[d] = index->stored_shape[i];
        total *= shape[d];
    }
    for (uint64_t to = 0; to < total; to++) {
        entries[to] = stored[from];
        for (uint32_t d = index->ndim; d-- > 0;) {
            from += stride[d];
            if (++at[d] < shape[d])
                break;
            from -= stride[d] * shape[d];
            at[d] = 0;
        }
    }
}

/* An entry is either there or missing; one half alone means damage. */
static enum zb_code check_entries(const uint64_t *entries, uint64_t count, zb_error *err) {
    for (uint64_t i = 0; i < count; i++) {
        uint64_t offset = entries[2 * i], length = entries[2 * i + 1];
        if ((offset == ZB__INDEX_EMPTY) != (length == ZB__INDEX_EMPTY))
            return zb_fail(err, ZB_EFORMAT,
                           "entry %" PRIu64 " of the index is half empty: offset %" PRIu64
                           ", length %" PRIu64,
                           i, offset, length);
    }
    return ZB_OK;
}

enum zb_code zb__shard_index_decode(const zb__shard *shard, zb__scratch *scratch,
                                    const uint8_t *encoded, uint64_t *entries, zb_error *err) {
    const zb__chain *index = shard->index;
    size_t size = (size_t)index->decoded_size; /* at most index_bytes, see measure_index */
    bool permuted = is_permuted(index);
    uint64_t *stored = entries;
    if (permuted) {
        enum zb_code code = zb__buffer_reserve(&scratch->block, size, err);
        if (code)
            return code;
        stored = (uint64_t *)(void *)scratch->block.data;
    }
    zb__sink sink = {.data = (uint8_t *)stored, .capacity = size, .exact = true, .hi = size};
    enum zb_code code = zb__chain_decode(index, scratch, encoded, shard->index_size, &sink, err);
    if (code)
        return zb_error_prefix(err, code, "index");
    if (index->dtype.swapped)
        swap_entries(stored, 2 * shard->count);
    if (permuted)
        unpermute(index, stored, entries);
    return check_entries(entries, shard->count, err);
}
