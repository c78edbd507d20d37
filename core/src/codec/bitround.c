/* SPDX-License-Identifier: MIT */
/*
 * The codecs bitround and numcodecs.bitround: floats keep `keepbits` bits of the fraction, integers
 * as many from their highest set bit on, rounded to nearest, ties to even. Decoding changes
 * nothing. Where there are no more bits than that, nothing is rounded. NaNs stay as they are.
 */
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/configuration.h"
#include "util/bytes.h"
#include "util/json_excerpt.h"

typedef struct bitround {
    int keep;
    zb_dtype dtype; /* of a component */
    unsigned components;
} bitround;

/* Drops the low bits. A carry may run into the bits above, which makes the next exponent. */
static uint64_t round_bits(uint64_t bits, int drop) {
    uint64_t half = (UINT64_C(1) << (drop - 1)) - 1;
    return (bits + half + (bits >> drop & 1)) >> drop << drop;
}

static uint64_t round_float(uint64_t bits, uint32_t size, int keep) {
    int fraction = size == 2 ? 10 : size == 4 ? 23 : 52;
    uint64_t infinity = ((UINT64_C(1) << (8 * size - 1)) - 1) >> fraction << fraction;
    bool is_nan = (bits & ((UINT64_C(1) << (8 * size - 1)) - 1)) > infinity;
    return keep >= fraction || is_nan ? bits : round_bits(bits, fraction - keep);
}

/* The sign stays; a magnitude that rounding would carry out of the type is cut off instead. */
static uint64_t round_integer(uint64_t bits, zb_dtype dtype, int keep) {
    uint64_t all = UINT64_MAX >> (64 - 8 * dtype.size), sign = all - all / 2;
    bool negative = dtype.kind == ZB_KIND_INT && bits & sign;
    uint64_t size = negative ? (0 - bits) & all : bits;
    uint64_t most = dtype.kind == ZB_KIND_INT ? all / 2 + negative : all;
    int length = size ? 64 - __builtin_clzll(size) : 0, drop = length - keep;
    if (drop <= 0)
        return bits;
    uint64_t rounded = round_bits(size, drop);
    if (rounded > most || rounded < size >> drop << drop)
        rounded = size >> drop << drop;
    return negative ? 0 - rounded : rounded;
}

/* Called with constant sizes, so that there is a loop for each. */
static inline void round_floats(const uint8_t *in, uint64_t count, uint32_t size, int keep,
                                uint8_t *out) {
    for (uint64_t i = 0; i < count; i++)
        zb__store_element(round_float(zb__load_element(in + i * size, size), size, keep), size,
                          out + i * size);
}

static void round_integers(const uint8_t *in, uint64_t count, zb_dtype dtype, int keep,
                           uint8_t *out) {
    uint32_t size = dtype.size;
    for (uint64_t i = 0; i < count; i++)
        zb__store_element(round_integer(zb__load_element(in + i * size, size), dtype, keep), size,
                          out + i * size);
}

static enum zb_code bitround_encode(const void *state, const uint8_t *in, uint64_t count,
                                    uint8_t *out, zb_error *err) {
    const bitround *codec = state;
    count *= codec->components;
    (void)err;
    if (codec->dtype.kind != ZB_KIND_FLOAT)
        round_integers(in, count, codec->dtype, codec->keep, out);
    else if (codec->dtype.size == 2)
        round_floats(in, count, 2, codec->keep, out);
    else if (codec->dtype.size == 4)
        round_floats(in, count, 4, codec->keep, out);
    else
        round_floats(in, count, 8, codec->keep, out);
    return ZB_OK;
}

static enum zb_code bitround_decode(const void *state, const uint8_t *in, uint64_t count,
                                    uint8_t *out, zb_error *err) {
    const bitround *codec = state;
    (void)err;
    memcpy(out, in, (size_t)count * codec->components * codec->dtype.size);
    return ZB_OK;
}

static enum zb_code bitround_parse(const zb_json *configuration, const zb__binding *binding,
                                   void **state, zb_error *err) {
    bitround *codec = zb__codec_new_state(sizeof *codec, state, err);
    char excerpt[ZB__BRIEF_SIZE];
    if (!codec)
        return ZB_ENOMEM;
    codec->dtype = binding->dtype;
    codec->components = 1;
    if (binding->dtype.kind == ZB_KIND_COMPLEX) {
        codec->dtype = (zb_dtype){.kind = ZB_KIND_FLOAT, .size = binding->dtype.size / 2};
        codec->components = 2;
    }
    enum zb_kind kind = codec->dtype.kind;
    if (kind != ZB_KIND_FLOAT && kind != ZB_KIND_INT && kind != ZB_KIND_UINT)
        return zb_fail(err, ZB_EFORMAT, "it rounds integers and floats alone");
    codec->keep = -1;
    enum zb_code code =
        zb__configuration_integer(configuration, "keepbits", 0, 64, &codec->keep, err);
    if (!code && codec->keep < 0)
        code = zb_fail(err, ZB_EFORMAT, "keepbits is %s, expected an integer from 0 to 64",
                       zb__json_excerpt(NULL, excerpt));
    return code;
}

static const char *const members[] = {"keepbits", NULL};

const zb__codec_ops zb__codec_bitround = {
    .name = "bitround",
    .old_name = "numcodecs.bitround",
    .kind = ZB__ARRAY_TO_ARRAY,
    .members = members,
    .parse = bitround_parse,
    .free = free,
    .array = {.encode = bitround_encode, .decode = bitround_decode, .cost = 100},
};
