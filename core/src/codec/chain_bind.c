/* SPDX-License-Identifier: MIT */
/*
 * Binding a codec list to the shape and type of a chunk. The list is checked and folded once, when
 * an array is opened: transposes into a permutation of dimensions, `bytes` into the byte order of
 * the element type, sharding into a zb__shard; what remains at run time are the bytes→bytes codecs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/json_brief.h"
#include "codec/chain.h"
#include "codec/configuration.h"
#include "codec/shard.h"
#include "codec/extension.h"

#define HOST_IS_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* A chain in the making. */
typedef struct binding {
    zb__chain *chain;
    uint32_t depth;   /* shards around */
    bool is_index;    /* of a shard's index, which index_bytes bounds instead of chunk_bytes */
    bool serialised;  /* the array→bytes codec has been seen */
    const char *what; /* the codec in hand, for messages: "codecs[2]" */
} binding;

/* ---- transpose ---------------------------------------------------------------------------- */

/* Reads `order`: a permutation, or "C" or "F", which older writers used for the identity and the
   reversal. */
static enum zb_code parse_order(const zb_json *configuration, uint32_t ndim, uint32_t *order,
                                zb_error *err) {
    const zb_json *value = zb_json_get(configuration, "order");
    const char *text = zb_json_string(value);
    bool right = text && (strcmp(text, "C") == 0 || strcmp(text, "F") == 0);
    if (right) {
        for (uint32_t i = 0; i < ndim; i++)
            order[i] = *text == 'C' ? i : ndim - 1 - i;
    } else if (zb_json_kind_of(value) == ZB_JSON_ARRAY && zb_json_count(value) == ndim) {
        uint64_t seen = 0, d;
        uint32_t i = 0;
        right = true;
        for (const zb_json *item = zb_json_first(value); item; item = zb_json_next(item)) {
            right = right && zb_json_uint64(item, &d) && d < ndim && !(seen >> d & 1);
            if (!right)
                break;
            seen |= (uint64_t)1 << d;
            order[i++] = (uint32_t)d;
        }
    }
    char brief[ZB__BRIEF_SIZE];
    return right ? ZB_OK
                 : zb_fail(err, ZB_EFORMAT, "order is %s, expected a permutation of %u dimensions",
                           zb__json_brief(value, brief), ndim);
}

/* Dimension i after the codec is dimension order[i] before it. */
static enum zb_code bind_transpose(zb__chain *chain, const zb_json *configuration, zb_error *err) {
    uint32_t order[ZB_MAX_NDIM];
    enum zb_code code = parse_order(configuration, chain->ndim, order, err);
    if (code)
        return code;
    uint32_t axis[ZB_MAX_NDIM];
    uint64_t shape[ZB_MAX_NDIM];
    memcpy(axis, chain->axis, sizeof axis);
    memcpy(shape, chain->stored_shape, sizeof shape);
    for (uint32_t i = 0; i < chain->ndim; i++) {
        chain->axis[i] = axis[order[i]];
        chain->stored_shape[i] = shape[order[i]];
    }
    return ZB_OK;
}

/* ---- bytes -------------------------------------------------------------------------------- */

/* Does the element consist of numbers whose bytes have an order? */
static bool has_byte_order(zb_dtype dtype) {
    return dtype.kind != ZB_KIND_RAW && dtype.kind != ZB_KIND_BOOL && dtype.size > 1;
}

/* A missing `endian` is read as little, as all readers do that do not refuse it: no writer ever
   meant big by leaving it out. On one-byte elements it says nothing. */
static enum zb_code bind_bytes(zb__chain *chain, const zb_json *configuration, zb_error *err) {
    static const char *const choices[] = {"little", "big", NULL};
    size_t big = 0;
    enum zb_code code = zb__configuration_choice(configuration, "endian", choices, &big, err);
    chain->dtype.swapped = has_byte_order(chain->dtype) && big != HOST_IS_BIG;
    return code;
}

/* ---- The list ----------------------------------------------------------------------------- */

static const char *const transpose_members[] = {"order", NULL};
static const char *const bytes_members[] = {"endian", NULL};

static enum zb_code bind_array_to_bytes(binding *b, const zb__extension *codec, zb_error *err) {
    bool is_shard = strcmp(codec->name, "sharding_indexed") == 0;
    if (b->serialised)
        return zb_fail(err, ZB_EFORMAT, "%s: \"%s\" is a second array-to-bytes codec", b->what,
                       codec->name);
    b->serialised = true;
    enum zb_code code =
        zb__extension_check(codec, b->what, is_shard ? zb__shard_members : bytes_members, err);
    if (code)
        return code;
    code = is_shard ? zb__shard_bind(b->chain, codec->configuration, b->depth, err)
                    : bind_bytes(b->chain, codec->configuration, err);
    return code ? zb_error_prefix(err, code, "%s: %s", b->what, codec->name) : ZB_OK;
}

static enum zb_code bind_array_to_array(binding *b, const zb__extension *codec, zb_error *err) {
    if (b->serialised)
        return zb_fail(err, ZB_EFORMAT, "%s: \"%s\" must come before the array-to-bytes codec",
                       b->what, codec->name);
    enum zb_code code = zb__extension_check(codec, b->what, transpose_members, err);
    if (code)
        return code;
    code = bind_transpose(b->chain, codec->configuration, err);
    return code ? zb_error_prefix(err, code, "%s: %s", b->what, codec->name) : ZB_OK;
}

static enum zb_code bind_bytes_to_bytes(binding *b, const zb__extension *codec,
                                        const zb__codec_ops *ops, zb_error *err) {
    if (!b->serialised)
        return zb_fail(err, ZB_EFORMAT, "%s: \"%s\" must come after the array-to-bytes codec",
                       b->what, codec->name);
    enum zb_code code = zb__extension_check(codec, b->what, ops->members, err);
    if (code)
        return code;
    zb__codec *bound = &b->chain->codecs[b->chain->codec_count++];
    bound->ops = ops;
    code = ops->parse(bound, codec->configuration, b->chain->dtype.size, err);
    if (code)
        return zb_error_prefix(err, code, "%s: %s", b->what, codec->name);
    b->chain->cost += ops->cost;
    return ZB_OK;
}

static enum zb_code bind_codec(binding *b, const zb_json *item, zb_error *err) {
    zb__extension codec;
    enum zb_code code = zb__extension_parse(item, b->what, &codec, err);
    if (code)
        return code;
    if (strcmp(codec.name, "transpose") == 0)
        return bind_array_to_array(b, &codec, err);
    /* `endian` is what `bytes` was called before the specification was final. */
    if (strcmp(codec.name, "bytes") == 0 || strcmp(codec.name, "endian") == 0 ||
        strcmp(codec.name, "sharding_indexed") == 0)
        return bind_array_to_bytes(b, &codec, err);
    const zb__codec_ops *ops = zb__codec_find(codec.name);
    if (ops)
        return bind_bytes_to_bytes(b, &codec, ops, err);
    char brief[ZB__BRIEF_SIZE];
    return zb_fail(err, ZB_EUNSUPPORTED, "%s: codec %s is not supported", b->what,
                   zb__name_brief(codec.name, brief));
}

/* The codecs that work on arrays do not change the number of elements, so the size can be known,
   and refused, before the list is read. */
static enum zb_code measure(zb__chain *chain, zb_error *err) {
    if (!zb__product_u64(chain->stored_shape, chain->ndim, chain->dtype.size, &chain->decoded_size))
        return zb_fail(
            err, ZB_ELIMIT,
            "chunk_shape: a chunk has 2^64 bytes or more, more than the limit chunk_bytes "
            "(%" PRIu64 ")",
            zb_limits_get()->chunk_bytes);
    return ZB_OK;
}

static enum zb_code check_chain(const binding *b, zb_error *err) {
    uint64_t limit = zb_limits_get()->chunk_bytes;
    if (!b->serialised)
        return zb_fail(err, ZB_EFORMAT,
                       "codecs: there is no array-to-bytes codec such as \"bytes\"");
    if (!b->chain->shard && !b->is_index &&
        (b->chain->decoded_size > limit || b->chain->decoded_size > SIZE_MAX))
        return zb_fail(err, ZB_ELIMIT,
                       "chunk_shape: a chunk has %" PRIu64
                       " bytes, more than the limit chunk_bytes (%" PRIu64 ")",
                       b->chain->decoded_size, limit);
    return ZB_OK;
}

static enum zb_code bind_list(binding *b, const zb_json *codecs, zb_error *err) {
    char brief[ZB__BRIEF_SIZE], what[32];
    size_t count = zb_json_kind_of(codecs) == ZB_JSON_ARRAY ? zb_json_count(codecs) : 0;
    uint64_t limit = zb_limits_get()->codecs;
    if (count == 0)
        return zb_fail(err, ZB_EFORMAT, "codecs is %s, expected a list with at least one codec",
                       zb__json_brief(codecs, brief));
    if (count > limit)
        return zb_fail(err, ZB_ELIMIT,
                       "codecs: %zu codecs are more than the limit codecs (%" PRIu64 ")", count,
                       limit);
    b->chain->codecs = calloc(count, sizeof *b->chain->codecs);
    if (!b->chain->codecs)
        return zb_fail(err, ZB_ENOMEM, "no memory for a chain of %zu codecs", count);
    enum zb_code code = measure(b->chain, err);
    size_t i = 0;
    for (const zb_json *item = zb_json_first(codecs); item && !code; item = zb_json_next(item)) {
        snprintf(what, sizeof what, "codecs[%zu]", i++);
        b->what = what;
        code = bind_codec(b, item, err);
    }
    return code ? code : check_chain(b, err);
}

static enum zb_code bind(binding b, const zb_json *codecs, zb_dtype dtype, uint32_t ndim,
                         const uint64_t *shape, zb__chain **out, zb_error *err) {
    b.chain = calloc(1, sizeof *b.chain);
    if (!b.chain)
        return zb_fail(err, ZB_ENOMEM, "no memory for a codec chain");
    b.chain->ndim = ndim;
    b.chain->dtype = dtype;
    for (uint32_t d = 0; d < ndim; d++) {
        b.chain->axis[d] = d;
        b.chain->stored_shape[d] = shape[d];
    }
    enum zb_code code = bind_list(&b, codecs, err);
    if (code) {
        zb__chain_free(b.chain);
        return code;
    }
    *out = b.chain;
    return ZB_OK;
}

enum zb_code zb__chain_bind(const zb_json *codecs, zb_dtype dtype, uint32_t ndim,
                            const uint64_t *shape, uint32_t depth, zb__chain **out, zb_error *err) {
    return bind((binding){.depth = depth}, codecs, dtype, ndim, shape, out, err);
}

enum zb_code zb__chain_bind_index(const zb_json *codecs, uint32_t ndim, const uint64_t *shape,
                                  uint32_t depth, zb__chain **out, zb_error *err) {
    const zb_dtype entry = {.kind = ZB_KIND_UINT, .size = 8};
    return bind((binding){.depth = depth, .is_index = true}, codecs, entry, ndim, shape, out, err);
}
