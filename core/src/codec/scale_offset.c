/* SPDX-License-Identifier: MIT */
/*
 * The codec scale_offset: (x - offset) * scale, in the arithmetic of the type; x / scale + offset
 * back. A result that the type does not hold is an error, and of integers a quotient with a
 * remainder.
 */
#include <math.h>
#include <stdlib.h>

#include "codec/block.h"
#include "codec/codec.h"
#include "codec/configuration.h"
#include "codec/number.h"
#include "types/fill.h"
#include "util/half.h"

typedef struct scaling {
    zb_dtype dtype;
    uint8_t offset[8], scale[8]; /* elements of dtype */
} scaling;

static enum zb_code fail_range(const scaling *codec, const uint8_t *element, enum zb_code code,
                               zb_error *err) {
    return zb_fail(err, code, "the result for %.17g is no %s",
                   zb__number_real(zb__number_load(codec->dtype, element)),
                   zb__number_name(codec->dtype));
}

static int64_t signed_of(zb_dtype dtype, const uint8_t *element) {
    zb__number number = zb__number_load(dtype, element);
    return (int64_t)(number.negative ? 0 - number.magnitude : number.magnitude);
}

/* Both are false where the result leaves the type. Each step is checked by storing it. */
static bool scale_signed(const scaling *codec, bool back, const uint8_t *in, uint8_t *out) {
    int64_t x = signed_of(codec->dtype, in), offset = signed_of(codec->dtype, codec->offset),
            scale = signed_of(codec->dtype, codec->scale), step, result;
    bool good;
    if (back) {
        good = !(scale == -1 && x == INT64_MIN) && x % scale == 0;
        step = good ? x / scale : 0;
        good = good && !__builtin_add_overflow(step, offset, &result);
    } else {
        good = !__builtin_sub_overflow(x, offset, &step) &&
               !__builtin_mul_overflow(step, scale, &result);
    }
    int64_t values[2] = {good ? step : 0, good ? result : 0};
    for (int i = 0; i < 2 && good; i++) {
        uint64_t magnitude = values[i] < 0 ? 0 - (uint64_t)values[i] : (uint64_t)values[i];
        good = zb__number_store(
            codec->dtype, (zb__number){.negative = values[i] < 0, .magnitude = magnitude}, out);
    }
    return good;
}

static bool scale_unsigned(const scaling *codec, bool back, const uint8_t *in, uint8_t *out) {
    uint64_t x = zb__number_load(codec->dtype, in).magnitude, step = 0, result = 0;
    uint64_t offset = zb__number_load(codec->dtype, codec->offset).magnitude;
    uint64_t scale = zb__number_load(codec->dtype, codec->scale).magnitude;
    bool good;
    if (back)
        good = x % scale == 0 && !__builtin_add_overflow(x / scale, offset, &result);
    else
        good = !__builtin_sub_overflow(x, offset, &step) &&
               !__builtin_mul_overflow(step, scale, &result);
    return good && zb__number_store(codec->dtype, (zb__number){.magnitude = result}, out);
}

/* The first element of a block whose result leaves the type, or n. */
static size_t scale_floats(const scaling *codec, bool back, const uint8_t *in, size_t n,
                           uint8_t *out) {
    uint32_t size = codec->dtype.size;
    double x[ZB__BLOCK], results[ZB__BLOCK], offset = zb__load_float(codec->offset, size);
    double scale = zb__load_float(codec->scale, size);
    zb__block_reals(codec->dtype, in, n, x);
    for (size_t i = 0; i < n && back; i++)
        results[i] = x[i] / scale;
    for (size_t i = 0; i < n && !back; i++)
        results[i] = x[i] - offset;
    zb__block_narrow(size, results, n);
    for (size_t i = 0; i < n && back; i++)
        results[i] += offset;
    for (size_t i = 0; i < n && !back; i++)
        results[i] *= scale;
    zb__block_narrow(size, results, n);
    zb__block_cut(codec->dtype, results, n, out);
    return zb__block_overflow(x, results, n);
}

static size_t scale_integers(const scaling *codec, bool back, const uint8_t *in, size_t n,
                             uint8_t *out) {
    uint32_t size = codec->dtype.size;
    bool is_signed = codec->dtype.kind == ZB_KIND_INT, good = true;
    size_t i = 0;
    for (; i < n && good; i += good) {
        const uint8_t *from = in + i * size;
        good = is_signed ? scale_signed(codec, back, from, out + i * size)
                         : scale_unsigned(codec, back, from, out + i * size);
    }
    return i;
}

static enum zb_code scale_all(const scaling *codec, bool back, const uint8_t *in, uint64_t count,
                              uint8_t *out, zb_error *err) {
    uint32_t size = codec->dtype.size;
    for (uint64_t done = 0; done < count; done += ZB__BLOCK) {
        size_t n = zb__block_at(done, count);
        const uint8_t *from = in + done * size;
        size_t good = codec->dtype.kind == ZB_KIND_FLOAT
                          ? scale_floats(codec, back, from, n, out + done * size)
                          : scale_integers(codec, back, from, n, out + done * size);
        if (good < n)
            return fail_range(codec, from + good * size, back ? ZB_EFORMAT : ZB_EINVAL, err);
    }
    return ZB_OK;
}

static enum zb_code scaling_encode(const void *state, const uint8_t *in, uint64_t count,
                                   uint8_t *out, zb_error *err) {
    return scale_all(state, false, in, count, out, err);
}

static enum zb_code scaling_decode(const void *state, const uint8_t *in, uint64_t count,
                                   uint8_t *out, zb_error *err) {
    return scale_all(state, true, in, count, out, err);
}

static enum zb_code read_scalar(const scaling *codec, const zb__binding *binding,
                                const zb_json *configuration, const char *name, uint8_t *out,
                                zb_error *err) {
    const zb_json *value = zb_json_get(configuration, name);
    zb__fill_form layout;
    if (!value)
        return ZB_OK;
    if (binding->is_index)
        return zb_fail(err, ZB_EUNSUPPORTED, "it has no place here");
    enum zb_code code = zb__fill_parse(value, codec->dtype, NULL, out, &layout, err);
    return code ? zb_error_prefix(err, code, "%s", name) : ZB_OK;
}

static enum zb_code scaling_parse(const zb_json *configuration, const zb__binding *binding,
                                  void **state, zb_error *err) {
    scaling *codec = zb__codec_new_state(sizeof *codec, state, err);
    if (!codec)
        return ZB_ENOMEM;
    codec->dtype = binding->dtype;
    if (!zb__is_number(binding->dtype) || binding->dtype.kind == ZB_KIND_BOOL)
        return zb_fail(err, ZB_EFORMAT, "it takes integers and floats alone");
    zb__number_store(codec->dtype, (zb__number){.magnitude = 1}, codec->scale);
    enum zb_code code = read_scalar(codec, binding, configuration, "offset", codec->offset, err);
    if (!code)
        code = read_scalar(codec, binding, configuration, "scale", codec->scale, err);
    if (!code && zb__number_real(zb__number_load(codec->dtype, codec->scale)) == 0)
        code = zb_fail(err, ZB_EFORMAT, "scale is 0, which cannot be undone");
    return code;
}

static bool scaling_same(const void *a, const void *b) {
    const scaling *x = a, *y = b;
    return memcmp(x->offset, y->offset, 8) == 0 && memcmp(x->scale, y->scale, 8) == 0;
}

static const char *const members[] = {"offset", "scale", NULL};

const zb__codec_ops zb__codec_scale_offset = {
    .name = "scale_offset",
    .kind = ZB__ARRAY_TO_ARRAY,
    .members = members,
    .parse = scaling_parse,
    .free = free,
    .same = scaling_same,
    .array = {.encode = scaling_encode, .decode = scaling_decode, .cost = 2000},
};
