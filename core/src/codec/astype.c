/* SPDX-License-Identifier: MIT */
/*
 * The codec numcodecs.astype: elements are stored as numbers of another type. numpy wraps what the
 * other type does not hold, which we refuse to write; what is decoded is brought to the nearest
 * value of the array's type. The same type keeps the bits.
 */
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/configuration.h"
#include "codec/number.h"
#include "util/json_excerpt.h"

typedef struct astype {
    zb_dtype dtype, stored;
} astype;

static bool keeps_bits(const astype *codec) {
    return zb_dtype_equal(codec->dtype, codec->stored);
}

static enum zb_code astype_encode(const void *state, const uint8_t *in, uint64_t count,
                                  uint8_t *out, zb_error *err) {
    const astype *codec = state;
    if (keeps_bits(codec)) {
        memcpy(out, in, count * codec->dtype.size);
        return ZB_OK;
    }
    for (uint64_t i = 0; i < count; i++, in += codec->dtype.size, out += codec->stored.size) {
        zb__number number = zb__number_load(codec->dtype, in);
        if (!zb__number_cut(codec->stored, number, out))
            return zb_fail(err, ZB_EINVAL, "%.17g does not fit %s", zb__number_real(number),
                           zb__number_name(codec->stored));
    }
    return ZB_OK;
}

static enum zb_code astype_decode(const void *state, const uint8_t *in, uint64_t count,
                                  uint8_t *out, zb_error *err) {
    const astype *codec = state;
    (void)err;
    if (keeps_bits(codec)) {
        memcpy(out, in, count * codec->dtype.size);
        return ZB_OK;
    }
    for (uint64_t i = 0; i < count; i++, in += codec->stored.size, out += codec->dtype.size)
        zb__number_clamp(codec->dtype, zb__number_load(codec->stored, in), out);
    return ZB_OK;
}

static void astype_represent(const void *state, zb__representation *representation) {
    representation->dtype = ((const astype *)state)->stored;
}

static enum zb_code astype_parse(const zb_json *configuration, const zb__binding *binding,
                                 void **state, zb_error *err) {
    astype *codec = zb__codec_new_state(sizeof *codec, state, err);
    if (!codec)
        return ZB_ENOMEM;
    codec->dtype = codec->stored = binding->dtype;
    if (!zb__is_number(binding->dtype))
        return zb_fail(err, ZB_EFORMAT, "it takes real numbers alone");
    if (!zb__configuration_given(configuration, "encode_dtype"))
        return zb_fail(err, ZB_EFORMAT, "encode_dtype is missing");
    enum zb_code code = zb__numpy_type_check(configuration, "decode_dtype", codec->dtype, err);
    return code ? code : zb__numpy_type(configuration, "encode_dtype", &codec->stored, err);
}

static bool astype_same(const void *a, const void *b) {
    return zb_dtype_equal(((const astype *)a)->stored, ((const astype *)b)->stored);
}

static const char *const members[] = {"encode_dtype", "decode_dtype", NULL};

const zb__codec_ops zb__codec_numcodecs_astype = {
    .name = "numcodecs.astype",
    .kind = ZB__ARRAY_TO_ARRAY,
    .members = members,
    .parse = astype_parse,
    .free = free,
    .same = astype_same,
    .array = {.represent = astype_represent,
              .encode = astype_encode,
              .decode = astype_decode,
              .keeps_fill = true,
              .cost = 1500},
};
