/* SPDX-License-Identifier: MIT */
/*
 * The codec reshape: other extents for the same elements in the same order. Each extent behind it
 * is a number, the product of some extents in front of it, or, once, what is left (-1).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "util/checked.h"
#include "util/json_excerpt.h"

typedef struct extent {
    uint64_t size;       /* 0: the product of dimensions [first, end), or what is left */
    uint32_t first, end; /* none when equal */
} extent;

typedef struct reshape {
    uint32_t ndim_before, ndim, size; /* size: of an element */
    extent extents[ZB_MAX_NDIM];
} reshape;

/* A list of dimensions, which goes on where those before it have ended or later. A gap within one
   would leave out elements in between, which the sizes could not make up for. */
static bool parse_dimensions(const zb_json *item, uint32_t ndim, uint32_t *next, extent *out) {
    uint64_t dimension;
    out->first = out->end = *next;
    for (const zb_json *d = zb_json_first(item); d; d = zb_json_next(d)) {
        bool is_first = d == zb_json_first(item);
        if (!zb_json_uint64(d, &dimension) || dimension >= ndim || dimension < *next)
            return false;
        if (is_first)
            out->first = out->end = (uint32_t)dimension;
        if (dimension != out->end)
            return false;
        *next = out->end = (uint32_t)dimension + 1;
    }
    if (out->first == out->end)
        out->size = 1;
    return true;
}

static enum zb_code reshape_parse(const zb_json *configuration, const zb__binding *binding,
                                  void **state, zb_error *err) {
    reshape *codec = zb__codec_new_state(sizeof *codec, state, err);
    if (!codec)
        return ZB_ENOMEM;
    const zb_json *shape = zb_json_get(configuration, "shape");
    char excerpt[ZB__BRIEF_SIZE];
    if (zb_dtype_is_variable(binding->dtype))
        return zb_fail(err, ZB_EUNSUPPORTED, "elements of variable length are not supported");
    if (zb_json_kind_of(shape) != ZB_JSON_ARRAY || zb_json_count(shape) > ZB_MAX_NDIM)
        return zb_fail(err, ZB_EFORMAT, "shape is %s, expected a list of at most %d extents",
                       zb__json_excerpt(shape, excerpt), ZB_MAX_NDIM);
    codec->ndim_before = binding->ndim;
    codec->size = binding->dtype.size;
    uint32_t next = 0, left = 0;
    for (const zb_json *item = zb_json_first(shape); item; item = zb_json_next(item)) {
        extent *e = &codec->extents[codec->ndim++];
        int64_t number = 0;
        bool is_list = zb_json_kind_of(item) == ZB_JSON_ARRAY;
        bool good = is_list ? parse_dimensions(item, binding->ndim, &next, e)
                            : zb_json_int64(item, &number) && (number > 0 || number == -1);
        if (number > 0)
            e->size = (uint64_t)number;
        left += number == -1;
        if (!good || left > 1)
            return zb_fail(err, ZB_EFORMAT,
                           "shape has %s, expected a positive number, a list of ascending "
                           "dimensions, or once -1",
                           zb__json_excerpt(item, excerpt));
    }
    return ZB_OK;
}

static void reshape_represent(const void *state, zb__representation *representation) {
    representation->ndim = ((const reshape *)state)->ndim;
}

/* The elements before a place: the products of both sides must agree where a list begins. */
static bool is_aligned(const reshape *codec, const uint64_t *shape, const uint64_t *out,
                       uint32_t i) {
    uint64_t before, after;
    const extent *e = &codec->extents[i];
    return e->first == e->end || (zb__product_u64(shape, e->first, 1, &before) &&
                                  zb__product_u64(out, i, 1, &after) && before == after);
}

static enum zb_code reshape_shape(const void *state, const uint64_t *shape, uint64_t *out,
                                  zb_error *err) {
    const reshape *codec = state;
    uint64_t all = 0, known = 1;
    uint32_t left = UINT32_MAX;
    bool good = zb__product_u64(shape, codec->ndim_before, 1, &all);
    for (uint32_t i = 0; i < codec->ndim && good; i++) {
        const extent *e = &codec->extents[i];
        out[i] = e->size;
        if (e->first != e->end)
            good = zb__product_u64(shape + e->first, e->end - e->first, 1, &out[i]);
        else if (e->size == 0)
            left = i;
        if (good && i != left)
            good = zb__mul_u64(known, out[i], &known);
    }
    if (good && left != UINT32_MAX) {
        good = all % known == 0;
        out[left] = good ? all / known : 0;
        known = all;
    }
    good = good && known == all;
    for (uint32_t i = 0; i < codec->ndim && good; i++)
        good = is_aligned(codec, shape, out, i);
    return good ? ZB_OK
                : zb_fail(err, ZB_EFORMAT, "the elements of a chunk do not fit the new shape");
}

static enum zb_code copy(const void *state, const uint8_t *in, uint64_t count, uint8_t *out,
                         zb_error *err) {
    (void)err;
    memcpy(out, in, (size_t)count * ((const reshape *)state)->size);
    return ZB_OK;
}

static bool reshape_same(const void *a, const void *b) {
    return memcmp(a, b, sizeof(reshape)) == 0;
}

static const char *const members[] = {"shape", NULL};

const zb__codec_ops zb__codec_reshape = {
    .name = "reshape",
    .kind = ZB__ARRAY_TO_ARRAY,
    .members = members,
    .parse = reshape_parse,
    .free = free,
    .same = reshape_same,
    .array = {.represent = reshape_represent,
              .shape = reshape_shape,
              .encode = copy,
              .decode = copy,
              .is_positional = true,
              .cost = 50},
};
