/* SPDX-License-Identifier: MIT */
/*
 * The codec numcodecs.quantize: floats rounded to a power of two that keeps `digits` decimal
 * places, stored as `astype`. Decoding changes the type back.
 */
#include <math.h>
#include <stdlib.h>

#include "codec/block.h"
#include "codec/codec.h"
#include "codec/configuration.h"
#include "codec/number.h"
#include "types/scatter.h"
#include "util/json_excerpt.h"

#define MOST_DIGITS 300 /* either way: the scale is a double */

typedef struct quantize {
    zb_dtype dtype, stored;
    double scale; /* a power of two */
} quantize;

static enum zb_code quantize_encode(const void *state, const uint8_t *in, uint64_t count,
                                    uint8_t *out, zb_error *err) {
    const quantize *codec = state;
    uint32_t width = codec->dtype.size;
    double scale = zb__real_narrow(width, codec->scale), reals[ZB__BLOCK];
    (void)err;
    for (uint64_t done = 0; done < count; done += ZB__BLOCK) {
        size_t n = zb__block_at(done, count);
        zb__block_reals(codec->dtype, in + done * width, n, reals);
        for (size_t i = 0; i < n; i++)
            reals[i] *= scale;
        zb__block_narrow(width, reals, n);
        zb__block_round(reals, n);
        for (size_t i = 0; i < n; i++)
            reals[i] /= scale;
        zb__block_narrow(width, reals, n);
        zb__block_cut(codec->stored, reals, n, out + done * codec->stored.size);
    }
    return ZB_OK;
}

static enum zb_code quantize_decode(const void *state, const uint8_t *in, uint64_t count,
                                    uint8_t *out, zb_error *err) {
    const quantize *codec = state;
    (void)err;
    zb__convert(codec->stored, in, codec->stored.size, codec->dtype, out, codec->dtype.size,
                (size_t)count);
    return ZB_OK;
}

static void quantize_represent(const void *state, zb__representation *representation) {
    representation->dtype = ((const quantize *)state)->stored;
}

/* As numcodecs: the decimal exponent away from zero, then the bits for it. */
static double scale_of(int digits) {
    double exponent = log10(pow(10.0, -digits));
    exponent = exponent < 0 ? floor(exponent) : ceil(exponent);
    return exp2(ceil(log2(pow(10.0, -exponent))));
}

static enum zb_code quantize_parse(const zb_json *configuration, const zb__binding *binding,
                                   void **state, zb_error *err) {
    quantize *codec = zb__codec_new_state(sizeof *codec, state, err);
    if (!codec)
        return ZB_ENOMEM;
    codec->dtype = codec->stored = binding->dtype;
    int digits = 0;
    if (binding->dtype.kind != ZB_KIND_FLOAT)
        return zb_fail(err, ZB_EFORMAT, "it takes floats alone");
    if (!zb_json_get(configuration, "digits"))
        return zb_fail(err, ZB_EFORMAT, "digits is missing");
    enum zb_code code =
        zb__configuration_integer(configuration, "digits", -MOST_DIGITS, MOST_DIGITS, &digits, err);
    codec->scale = scale_of(digits);
    if (!code)
        code = zb__numpy_type_check(configuration, "dtype", codec->dtype, err);
    if (!code)
        code = zb__numpy_type(configuration, "astype", &codec->stored, err);
    if (!code && codec->stored.kind != ZB_KIND_FLOAT)
        code = zb_fail(err, ZB_EFORMAT, "astype is no float");
    return code;
}

static bool quantize_same(const void *a, const void *b) {
    return zb_dtype_equal(((const quantize *)a)->stored, ((const quantize *)b)->stored);
}

static const char *const members[] = {"digits", "dtype", "astype", NULL};

const zb__codec_ops zb__codec_numcodecs_quantize = {
    .name = "numcodecs.quantize",
    .kind = ZB__ARRAY_TO_ARRAY,
    .members = members,
    .parse = quantize_parse,
    .free = free,
    .same = quantize_same,
    .array = {.represent = quantize_represent,
              .encode = quantize_encode,
              .decode = quantize_decode,
              .keeps_fill = true,
              .cost = 500},
};
