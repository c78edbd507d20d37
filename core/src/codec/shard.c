/* SPDX-License-Identifier: MIT */
/*
 * sharding_indexed: its configuration. The index of a shard is itself a small Zarr chunk: a uint64
 * array of shape grid + [2], encoded by a chain whose size must be fixed, so that it can be found
 * at the start or end of the object (shard_index.c).
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
    size_t choice = 0;
    enum zb_code code =
        zb__configuration_choice(configuration, "index_location", choices, &choice, err);
    shard->index_at_start = choice == 1;
    return code;
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
    const uint64_t number = sizeof(uint64_t); /* two for each inner chunk: offset and length */
    uint64_t limit = zb_limits_get()->index_bytes, size;
    uint64_t shape[ZB_MAX_NDIM];
    if (chain->ndim >= ZB_MAX_NDIM)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "arrays of %u dimensions cannot be sharded (at most %u)", chain->ndim,
                       ZB_MAX_NDIM - 1);
    memcpy(shape, shard->grid, chain->ndim * sizeof *shape);
    shape[chain->ndim] = 2;
    if (!zb__product_u64(shape, chain->ndim + 1, number, &size) || size > limit)
        return zb_fail(err, ZB_ELIMIT,
                       "the index of a shard is larger than the limit index_bytes (%" PRIu64 ")",
                       limit);
    shard->count = size / (2 * number);
    const zb_json *codecs = zb_json_get(configuration, "index_codecs");
    if (!codecs)
        return zb_fail(err, ZB_EFORMAT, "index_codecs is missing");
    enum zb_code code =
        zb__chain_bind_index(codecs, chain->ndim + 1, shape, depth, &shard->index, err);
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
