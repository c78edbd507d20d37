/* SPDX-License-Identifier: MIT */
/*
 * The codec numcodecs.delta: each element becomes its difference from the one before it, in C
 * order; the first stays. `astype` is the type of the differences. Integers wrap, so that every
 * difference can be undone; a narrower type in which one cannot is refused when encoding.
 */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/half.h"
#include "codec/codec.h"
#include "codec/number.h"
#include "codec/numpy_type.h"

typedef struct delta {
    zb_dtype dtype, stored;
} delta;

/* The bits of an element in the width of the array's, extended by its own sign. */
static uint64_t widen(zb_dtype dtype, const uint8_t *element) {
    zb__number number = zb__number_load(dtype, element);
    return number.negative ? 0 - number.magnitude : number.magnitude;
}

static enum zb_code encode_integers(const delta *codec, const uint8_t *in, uint64_t count,
                                    uint8_t *out, zb_error *err) {
    uint32_t size = codec->dtype.size, stored = codec->stored.size;
    uint64_t all = UINT64_MAX >> (64 - 8 * size), last = 0;
    for (uint64_t i = 0; i < count; i++, in += size, out += stored) {
        uint64_t bits = zb__load_element(in, size), difference = bits - last;
        zb__store_element(difference, stored, out);
        if ((widen(codec->stored, out) & all) != (difference & all))
            return zb_fail(err, ZB_EINVAL, "a difference does not fit the type of astype");
        last = bits;
    }
    return ZB_OK;
}

static void decode_integers(const delta *codec, const uint8_t *in, uint64_t count, uint8_t *out) {
    uint32_t size = codec->dtype.size, stored = codec->stored.size;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++, in += stored, out += size) {
        sum += widen(codec->stored, in);
        zb__store_element(sum, size, out);
    }
}

/* Sums and differences are rounded to the array's type one by one, as numpy does it. */
static enum zb_code delta_encode(const void *state, const uint8_t *in, uint64_t count, uint8_t *out,
                                 zb_error *err) {
    const delta *codec = state;
    uint32_t size = codec->dtype.size;
    double last = 0;
    if (codec->dtype.kind != ZB_KIND_FLOAT)
        return encode_integers(codec, in, count, out, err);
    for (uint64_t i = 0; i < count; i++, in += size, out += codec->stored.size) {
        double real = zb__load_float(in, size);
        zb__real_store(codec->stored.size, i ? zb__real_narrow(size, real - last) : real, out);
        last = real;
    }
    return ZB_OK;
}

static enum zb_code delta_decode(const void *state, const uint8_t *in, uint64_t count, uint8_t *out,
                                 zb_error *err) {
    const delta *codec = state;
    uint32_t size = codec->dtype.size;
    double sum = 0;
    (void)err;
    if (codec->dtype.kind != ZB_KIND_FLOAT) {
        decode_integers(codec, in, count, out);
        return ZB_OK;
    }
    for (uint64_t i = 0; i < count; i++, in += codec->stored.size, out += size) {
        double real = zb__real_narrow(size, zb__load_float(in, codec->stored.size));
        sum = i ? zb__real_narrow(size, sum + real) : real;
        zb__real_store(size, sum, out);
    }
    return ZB_OK;
}

static void delta_represent(const void *state, zb__representation *representation) {
    representation->dtype = ((const delta *)state)->stored;
}

static enum zb_code delta_parse(const zb_json *configuration, const zb__binding *binding,
                                void **state, zb_error *err) {
    delta *codec = zb__codec_new_state(sizeof *codec, state, err);
    if (!codec)
        return ZB_ENOMEM;
    codec->dtype = codec->stored = binding->dtype;
    if (!zb__is_number(binding->dtype) || binding->dtype.kind == ZB_KIND_BOOL)
        return zb_fail(err, ZB_EFORMAT, "it takes integers and floats alone");
    enum zb_code code = zb__numpy_type_check(configuration, "dtype", codec->dtype, err);
    if (!code)
        code = zb__numpy_type(configuration, "astype", &codec->stored, err);
    bool is_float = codec->dtype.kind == ZB_KIND_FLOAT;
    if (!code &&
        (codec->stored.kind == ZB_KIND_BOOL || is_float != (codec->stored.kind == ZB_KIND_FLOAT)))
        code = zb_fail(err, ZB_EUNSUPPORTED,
                       "differences of integers as floats, or the other way round, are not "
                       "supported");
    return code;
}

static bool delta_same(const void *a, const void *b) {
    return zb_dtype_equal(((const delta *)a)->stored, ((const delta *)b)->stored);
}

static const char *const members[] = {"dtype", "astype", NULL};

const zb__codec_ops zb__codec_numcodecs_delta = {
    .name = "numcodecs.delta",
    .kind = ZB__ARRAY_TO_ARRAY,
    .members = members,
    .parse = delta_parse,
    .free = free,
    .same = delta_same,
    .array = {.represent = delta_represent,
              .encode = delta_encode,
              .decode = delta_decode,
              .is_positional = true,
              .keeps_fill = true,
              .cost = 800},
};
