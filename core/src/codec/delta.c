/* SPDX-License-Identifier: MIT */
/*
 * The codec numcodecs.delta: each element becomes its difference from the one before it, in C
 * order; the first stays. `astype` is the type of the differences. Integers wrap, so that every
 * difference can be undone; a narrower type in which one cannot is refused when encoding. A `dtype`
 * of integers as wide as the array's floats takes these by their bits, as numpy's views do, so that
 * floats come back as they were.
 */
#include <stdlib.h>

#include "codec/block.h"
#include "codec/codec.h"
#include "codec/number.h"

typedef struct delta {
    zb_dtype dtype, stored;
} delta;

/* Wraps differences to the array's type, as numpy does before it makes them wider. */
static void wrap(zb_dtype dtype, uint64_t *bits, size_t n) {
    const unsigned above = 64 - 8 * dtype.size;
    if (dtype.kind == ZB_KIND_INT) {
        for (size_t i = 0; i < n; i++)
            bits[i] = (uint64_t)((int64_t)(bits[i] << above) >> above);
    } else {
        for (size_t i = 0; i < n; i++)
            bits[i] = bits[i] << above >> above;
    }
}

/* Are the differences, which stored[] holds, those of a block? Only their low bits count. */
static bool holds(const delta *codec, const uint8_t *stored, const uint64_t *differences,
                  size_t n) {
    uint64_t all = UINT64_MAX >> (64 - 8 * codec->dtype.size), wrong = 0, got[ZB__BLOCK];
    if (codec->stored.size >= codec->dtype.size)
        return true;
    zb__block_bits(codec->stored, stored, n, got);
    for (size_t i = 0; i < n; i++)
        wrong |= (got[i] ^ differences[i]) & all;
    return wrong == 0;
}

static enum zb_code encode_integers(const delta *codec, const uint8_t *in, uint64_t count,
                                    uint8_t *out, zb_error *err) {
    uint64_t bits[ZB__BLOCK + 1] = {0}, differences[ZB__BLOCK]; /* bits[0]: of the one before */
    for (uint64_t done = 0; done < count; done += ZB__BLOCK) {
        size_t n = zb__block_at(done, count);
        uint8_t *stored = out + done * codec->stored.size;
        zb__block_bits(codec->dtype, in + done * codec->dtype.size, n, bits + 1);
        for (size_t i = 0; i < n; i++)
            differences[i] = bits[i + 1] - bits[i];
        bits[0] = bits[n];
        wrap(codec->dtype, differences, n);
        zb__block_store_bits(codec->stored.size, differences, n, stored);
        if (!holds(codec, stored, differences, n))
            return zb_fail(err, ZB_EINVAL, "a difference does not fit the type of astype");
    }
    return ZB_OK;
}

static void decode_integers(const delta *codec, const uint8_t *in, uint64_t count, uint8_t *out) {
    uint64_t sum = 0, bits[ZB__BLOCK];
    for (uint64_t done = 0; done < count; done += ZB__BLOCK) {
        size_t n = zb__block_at(done, count);
        zb__block_bits(codec->stored, in + done * codec->stored.size, n, bits);
        for (size_t i = 0; i < n; i++)
            bits[i] = sum += bits[i];
        zb__block_store_bits(codec->dtype.size, bits, n, out + done * codec->dtype.size);
    }
}

/* Sums and differences are rounded to the array's type one by one, as numpy does it. */
static void encode_floats(const delta *codec, const uint8_t *in, uint64_t count, uint8_t *out) {
    double reals[ZB__BLOCK + 1] = {0}, differences[ZB__BLOCK]; /* reals[0]: the one before */
    for (uint64_t done = 0; done < count; done += ZB__BLOCK) {
        size_t n = zb__block_at(done, count);
        zb__block_reals(codec->dtype, in + done * codec->dtype.size, n, reals + 1);
        for (size_t i = 0; i < n; i++)
            differences[i] = reals[i + 1] - reals[i];
        zb__block_narrow(codec->dtype.size, differences, n);
        if (done == 0)
            differences[0] = reals[1]; /* as it is: also the sign of a zero */
        reals[0] = reals[n];
        zb__block_cut(codec->stored, differences, n, out + done * codec->stored.size);
    }
}

/* Adds up to `sum`, which comes with all but the first element of an array. */
static double add_up(uint32_t size, double sum, bool is_first, double *reals, size_t n) {
    if (is_first && n > 0)
        sum = reals[0];
    for (size_t i = is_first; i < n; i++)
        reals[i] = sum = zb__real_narrow(size, sum + reals[i]);
    return sum;
}

static void decode_floats(const delta *codec, const uint8_t *in, uint64_t count, uint8_t *out) {
    double sum = 0, reals[ZB__BLOCK];
    uint32_t size = codec->dtype.size;
    for (uint64_t done = 0; done < count; done += ZB__BLOCK) {
        size_t n = zb__block_at(done, count);
        zb__block_reals(codec->stored, in + done * codec->stored.size, n, reals);
        zb__block_narrow(size, reals, n);
        sum = add_up(size, sum, done == 0, reals, n);
        zb__block_cut(codec->dtype, reals, n, out + done * size);
    }
}

static enum zb_code delta_encode(const void *state, const uint8_t *in, uint64_t count, uint8_t *out,
                                 zb_error *err) {
    const delta *codec = state;
    if (codec->dtype.kind != ZB_KIND_FLOAT)
        return encode_integers(codec, in, count, out, err);
    encode_floats(codec, in, count, out);
    return ZB_OK;
}

static enum zb_code delta_decode(const void *state, const uint8_t *in, uint64_t count, uint8_t *out,
                                 zb_error *err) {
    const delta *codec = state;
    (void)err;
    if (codec->dtype.kind == ZB_KIND_FLOAT)
        decode_floats(codec, in, count, out);
    else
        decode_integers(codec, in, count, out);
    return ZB_OK;
}

static void delta_represent(const void *state, zb__representation *representation) {
    representation->dtype = ((const delta *)state)->stored;
}

/* The type that is computed with: the array's, or the integers that its floats are bits of. */
static enum zb_code take_type(const zb_json *configuration, delta *codec, zb_error *err) {
    zb_dtype said = codec->dtype;
    enum zb_code code = zb__numpy_type(configuration, "dtype", &said, err);
    if (code)
        return code;
    bool are_bits = codec->dtype.kind == ZB_KIND_FLOAT && said.size == codec->dtype.size &&
                    (said.kind == ZB_KIND_INT || said.kind == ZB_KIND_UINT);
    if (!are_bits)
        return zb__numpy_type_check(configuration, "dtype", codec->dtype, err);
    codec->dtype = codec->stored = said;
    return ZB_OK;
}

static enum zb_code delta_parse(const zb_json *configuration, const zb__binding *binding,
                                void **state, zb_error *err) {
    delta *codec = zb__codec_new_state(sizeof *codec, state, err);
    if (!codec)
        return ZB_ENOMEM;
    codec->dtype = codec->stored = binding->dtype;
    if (!zb__is_number(binding->dtype) || binding->dtype.kind == ZB_KIND_BOOL)
        return zb_fail(err, ZB_EFORMAT, "it takes integers and floats alone");
    enum zb_code code = take_type(configuration, codec, err);
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
    const delta *one = a, *other = b;
    return zb_dtype_equal(one->dtype, other->dtype) && zb_dtype_equal(one->stored, other->stored);
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
