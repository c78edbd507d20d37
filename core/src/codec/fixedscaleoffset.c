/* SPDX-License-Identifier: MIT */
/*
 * The codec numcodecs.fixedscaleoffset: (x - offset) * scale, rounded to the nearest integer (ties
 * to even), as a number of `astype`. Floats compute in their own type and integers as doubles, as
 * numpy does it. Numbers that astype does not hold are refused, where numpy wraps them.
 */
#include <math.h>
#include <stdlib.h>

#include "codec/block.h"
#include "codec/codec.h"
#include "codec/number.h"
#include "util/json_excerpt.h"

typedef struct scaling {
    zb_dtype dtype, stored;
    double offset, scale;
} scaling;

/* The width in which numpy computes with elements of a type and a number of Python. */
static uint32_t width_of(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_FLOAT ? dtype.size : 8;
}

/* (x - offset) * scale, each step rounded to the type that computes. */
static void scale_block(const scaling *codec, double *reals, size_t n) {
    uint32_t width = width_of(codec->dtype);
    double offset = zb__real_narrow(width, codec->offset);
    double scale = zb__real_narrow(width, codec->scale);
    for (size_t i = 0; i < n; i++)
        reals[i] -= offset;
    zb__block_narrow(width, reals, n);
    for (size_t i = 0; i < n; i++)
        reals[i] *= scale;
    zb__block_narrow(width, reals, n);
    zb__block_round(reals, n);
}

static enum zb_code scaling_encode(const void *state, const uint8_t *in, uint64_t count,
                                   uint8_t *out, zb_error *err) {
    const scaling *codec = state;
    double reals[ZB__BLOCK];
    for (uint64_t done = 0; done < count; done += ZB__BLOCK) {
        size_t n = zb__block_at(done, count);
        zb__block_reals(codec->dtype, in + done * codec->dtype.size, n, reals);
        scale_block(codec, reals, n);
        size_t good = zb__block_cut(codec->stored, reals, n, out + done * codec->stored.size);
        if (good < n)
            return zb_fail(err, ZB_EINVAL, "%.17g does not fit %s", reals[good],
                           zb__number_name(codec->stored));
    }
    return ZB_OK;
}

static enum zb_code scaling_decode(const void *state, const uint8_t *in, uint64_t count,
                                   uint8_t *out, zb_error *err) {
    const scaling *codec = state;
    uint32_t width = width_of(codec->stored);
    double offset = zb__real_narrow(width, codec->offset);
    double scale = zb__real_narrow(width, codec->scale), reals[ZB__BLOCK];
    (void)err;
    for (uint64_t done = 0; done < count; done += ZB__BLOCK) {
        size_t n = zb__block_at(done, count);
        zb__block_reals(codec->stored, in + done * codec->stored.size, n, reals);
        for (size_t i = 0; i < n; i++)
            reals[i] /= scale;
        zb__block_narrow(width, reals, n);
        for (size_t i = 0; i < n; i++)
            reals[i] += offset;
        zb__block_narrow(width, reals, n);
        zb__block_clamp(codec->dtype, reals, n, out + done * codec->dtype.size);
    }
    return ZB_OK;
}

static void scaling_represent(const void *state, zb__representation *representation) {
    representation->dtype = ((const scaling *)state)->stored;
}

static enum zb_code read_number(const zb_json *configuration, const char *name, double *out,
                                zb_error *err) {
    const zb_json *value = zb_json_get(configuration, name);
    char excerpt[ZB__BRIEF_SIZE];
    if (zb_json_double(value, out) && isfinite(*out))
        return ZB_OK;
    return zb_fail(err, ZB_EFORMAT, "%s is %s, expected a number", name,
                   zb__json_excerpt(value, excerpt));
}

static enum zb_code scaling_parse(const zb_json *configuration, const zb__binding *binding,
                                  void **state, zb_error *err) {
    scaling *codec = zb__codec_new_state(sizeof *codec, state, err);
    if (!codec)
        return ZB_ENOMEM;
    codec->dtype = codec->stored = binding->dtype;
    if (!zb__is_number(binding->dtype) || binding->dtype.kind == ZB_KIND_BOOL)
        return zb_fail(err, ZB_EFORMAT, "it takes integers and floats alone");
    enum zb_code code = read_number(configuration, "offset", &codec->offset, err);
    if (!code)
        code = read_number(configuration, "scale", &codec->scale, err);
    if (!code && codec->scale == 0)
        code = zb_fail(err, ZB_EFORMAT, "scale is 0");
    if (!code)
        code = zb__numpy_type_check(configuration, "dtype", codec->dtype, err);
    return code ? code : zb__numpy_type(configuration, "astype", &codec->stored, err);
}

static bool scaling_same(const void *a, const void *b) {
    const scaling *x = a, *y = b;
    return zb_dtype_equal(x->stored, y->stored) && x->offset == y->offset && x->scale == y->scale;
}

static const char *const members[] = {"scale", "offset", "dtype", "astype", NULL};

const zb__codec_ops zb__codec_numcodecs_fixedscaleoffset = {
    .name = "numcodecs.fixedscaleoffset",
    .kind = ZB__ARRAY_TO_ARRAY,
    .members = members,
    .parse = scaling_parse,
    .free = free,
    .same = scaling_same,
    .array = {.represent = scaling_represent,
              .encode = scaling_encode,
              .decode = scaling_decode,
              .keeps_fill = true,
              .cost = 3000},
};
