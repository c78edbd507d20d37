/* SPDX-License-Identifier: MIT */
/*
 * The codec cast_value: elements as numbers of another type. For each element, in this order: the
 * map of scalars, the exact value, the rounded value with the rule for what is out of range. What
 * none of them settles is an error. Decoding does the same with the types exchanged.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/block.h"
#include "codec/codec.h"
#include "codec/configuration.h"
#include "codec/number.h"
#include "types/dtype.h"
#include "types/fill.h"
#include "types/kinds.h"
#include "util/bytes.h"
#include "util/json_excerpt.h"

enum rounding { NEAREST_EVEN, TOWARDS_ZERO, TOWARDS_POSITIVE, TOWARDS_NEGATIVE, NEAREST_AWAY };
enum range { RANGE_ERROR, RANGE_CLAMP, RANGE_WRAP };

#define MOST_PAIRS 256 /* each element is compared with each pair of the map */

typedef struct pair {
    uint8_t from[8], to[8]; /* elements */
} pair;

typedef struct cast {
    zb_dtype from, to;
    pair *pairs;
    size_t pair_count;
} cast;

typedef struct cast_value {
    enum rounding rounding;
    enum range range;
    cast encode, decode;
} cast_value;

static bool is_small_float(zb_dtype dtype) {
    return zb__is_small(dtype) && !zb__format_of(dtype)->is_integer;
}

static void cast_value_free(void *state) {
    cast_value *codec = state;
    if (!codec)
        return;
    free(codec->encode.pairs);
    free(codec->decode.pairs);
    free(codec);
}

/* ---- One element -------------------------------------------------------------------------- */

/* Equal numbers; any NaN is equal to any other. */
static bool is_key(zb_dtype dtype, const uint8_t *key, const uint8_t *element) {
    if (memcmp(key, element, dtype.size) == 0)
        return true;
    zb__number a = zb__number_load(dtype, key), b = zb__number_load(dtype, element);
    return a.is_float && (a.real == b.real || (isnan(a.real) && isnan(b.real)));
}

static double round_to_integer(double real, enum rounding rounding) {
    switch (rounding) {
    case TOWARDS_ZERO:
        return trunc(real);
    case TOWARDS_POSITIVE:
        return ceil(real);
    case TOWARDS_NEGATIVE:
        return floor(real);
    case NEAREST_AWAY:
        return round(real);
    case NEAREST_EVEN:
        break;
    }
    return rint(real);
}

/* The low bits of an integer of any size. */
static void wrap(zb_dtype to, zb__number number, uint8_t *out) {
    if (number.is_float && !zb__number_integer(fmod(number.real, 0x1p64), &number))
        return; /* it has no fraction */
    const zb__format *format = zb__format_of(to);
    uint64_t bits = number.negative ? 0 - number.magnitude : number.magnitude;
    if (format) /* its sign fills the code's other bits */
        bits = zb__format_from_double(format, zb__format_to_double(format, (uint32_t)bits));
    zb__store_element(bits, to.size, out);
}

static bool to_integer(const cast_value *codec, zb_dtype to, zb__number number, uint8_t *out) {
    if (number.is_float && !isfinite(number.real))
        return false;
    if (number.is_float)
        number.real = round_to_integer(number.real, codec->rounding);
    if (zb__number_store(to, number, out))
        return true;
    if (codec->range == RANGE_CLAMP)
        zb__number_clamp(to, number, out);
    if (codec->range == RANGE_WRAP)
        wrap(to, number, out);
    return codec->range != RANGE_ERROR;
}

/* Negative, 0 or positive as the float is less than, equal to or greater than the number. */
static int compare(double real, zb__number number) {
    zb__number whole;
    if (number.is_float)
        return (real > number.real) - (real < number.real);
    if (fabs(real) >= 0x1p64) /* rounding may have given 2^64 */
        return real > 0 ? 1 : -1;
    if (!zb__number_integer(real, &whole)) /* a float above 2^24 or 2^53 has no fraction */
        return 0;
    if (whole.negative != number.negative)
        return whole.negative ? -1 : 1;
    int order = (whole.magnitude > number.magnitude) - (whole.magnitude < number.magnitude);
    return number.negative ? -order : order;
}

/* The double next to a number, on its side of what no double is: rounding once more goes the right
   way. */
static double beside(zb__number number) {
    const double real = zb__number_real(number);
    const int order = number.is_float ? 0 : compare(real, number);
    return order ? nextafter(real, order < 0 ? INFINITY : -INFINITY) : real;
}

/* To a float of few bits; some formats lack infinity, NaN, a sign or zero. */
static bool to_small_float(const cast_value *codec, zb_dtype to, zb__number number, uint8_t *out) {
    const zb__format *format = zb__format_of(to);
    const double real = beside(number);
    uint32_t code = zb__format_from_double(format, real);
    const double stored = zb__format_to_double(format, code);
    const double most = zb__format_to_double(format, format->largest);
    const bool fits = isfinite(real) ? isfinite(stored) && (stored < most || real <= most) &&
                                           (stored > -most || real >= -most)
                                     : stored == real || (isnan(stored) && isnan(real));
    if (!fits && (codec->range != RANGE_CLAMP || !isfinite(real)))
        return false;
    if (fits && codec->rounding != NEAREST_EVEN && isfinite(real) && stored != real)
        return false;
    if (!fits &&
        !isinf(stored)) { /* the end of the range; that of a format without sign is code 0 */
        code = format->largest;
        if (real <= 0)
            code =
                zb__format_to_double(format, 0) > 0 ? 0 : code | (zb__format_mask(format) / 2 + 1);
    }
    zb__store_element(code, to.size, out);
    return true;
}

/* The next float of that width above or below. */
static double next_to(uint32_t size, double real, bool above) {
    if (size == 4)
        return (double)nextafterf((float)real, above ? INFINITY : -INFINITY);
    if (size == 8)
        return nextafter(real, above ? INFINITY : -INFINITY);
    uint8_t element[2]; /* halves are numbered in their order, each sign from zero on */
    zb__real_store(2, real, element);
    uint64_t bits = zb__load_element(element, 2);
    if ((bits & 0x7fff) == 0)
        bits = above ? 1 : 0x8001;
    else
        bits += above == !(bits & 0x8000) ? 1 : UINT64_MAX;
    zb__store_element(bits, 2, element);
    return zb__number_load((zb_dtype){.kind = ZB_KIND_FLOAT, .size = 2}, element).real;
}

static bool to_float(const cast_value *codec, uint32_t size, zb__number number, uint8_t *out) {
    double exact = zb__number_real(number), real = zb__real_narrow(size, exact);
    if (isinf(real) && !isinf(exact) && codec->range == RANGE_ERROR)
        return false;
    if (isfinite(real)) {
        int order = compare(real, number);
        bool negative = number.is_float ? number.real < 0 : number.negative;
        if ((codec->rounding == TOWARDS_POSITIVE && order < 0) ||
            (codec->rounding == TOWARDS_ZERO && negative && order < 0))
            real = next_to(size, real, true);
        if ((codec->rounding == TOWARDS_NEGATIVE && order > 0) ||
            (codec->rounding == TOWARDS_ZERO && !negative && order > 0))
            real = next_to(size, real, false);
    }
    zb__real_store(size, real, out);
    return true;
}

static bool cast_one(const cast_value *codec, const cast *c, const uint8_t *in, uint8_t *out) {
    for (size_t i = 0; i < c->pair_count; i++) {
        if (is_key(c->from, c->pairs[i].from, in)) {
            memcpy(out, c->pairs[i].to, c->to.size);
            return true;
        }
    }
    zb__number number = zb__number_load(c->from, in);
    if (c->to.kind == ZB_KIND_FLOAT)
        return to_float(codec, c->to.size, number, out);
    return is_small_float(c->to) ? to_small_float(codec, c->to, number, out)
                                 : to_integer(codec, c->to, number, out);
}

/* Casts without a map that round to nearest, of numbers that are exact as doubles or become
   doubles. */
static bool takes_blocks(const cast_value *codec, const cast *c) {
    const bool is_double = c->from.kind == ZB_KIND_FLOAT || c->from.size < 8;
    return c->pair_count == 0 && !zb__is_small(c->to) && codec->rounding == NEAREST_EVEN &&
           (is_double || c->to.kind == ZB_KIND_FLOAT);
}

/* False, with anything in `out`, for a block with a number that needs a rule. */
static bool cast_block(const cast *c, const uint8_t *in, size_t n, uint8_t *out) {
    double reals[ZB__BLOCK], origins[ZB__BLOCK];
    zb__block_reals(c->from, in, n, reals);
    if (c->to.kind != ZB_KIND_FLOAT) {
        zb__block_round(reals, n);
        return zb__block_cut(c->to, reals, n, out) == n;
    }
    memcpy(origins, reals, n * sizeof *reals);
    zb__block_narrow(c->to.size, reals, n);
    return zb__block_overflow(origins, reals, n) == n && zb__block_cut(c->to, reals, n, out) == n;
}

static enum zb_code cast_each(const cast_value *codec, const cast *c, const uint8_t *in, size_t n,
                              uint8_t *out, enum zb_code code, zb_error *err) {
    for (size_t i = 0; i < n; i++, in += c->from.size, out += c->to.size) {
        if (!cast_one(codec, c, in, out))
            return zb_fail(err, code, "%.17g cannot be cast to %s",
                           zb__number_real(zb__number_load(c->from, in)), zb__number_name(c->to));
    }
    return ZB_OK;
}

static enum zb_code cast_all(const cast_value *codec, const cast *c, const uint8_t *in,
                             uint64_t count, uint8_t *out, enum zb_code code, zb_error *err) {
    const bool blocks = takes_blocks(codec, c);
    enum zb_code result = ZB_OK;
    for (uint64_t done = 0; done < count && !result; done += ZB__BLOCK) {
        const size_t n = zb__block_at(done, count);
        const uint8_t *from = in + done * c->from.size;
        uint8_t *to = out + done * c->to.size;
        if (!blocks || !cast_block(c, from, n, to))
            result = cast_each(codec, c, from, n, to, code, err);
    }
    return result;
}

static enum zb_code cast_value_encode(const void *state, const uint8_t *in, uint64_t count,
                                      uint8_t *out, zb_error *err) {
    const cast_value *codec = state;
    return cast_all(codec, &codec->encode, in, count, out, ZB_EINVAL, err);
}

static enum zb_code cast_value_decode(const void *state, const uint8_t *in, uint64_t count,
                                      uint8_t *out, zb_error *err) {
    const cast_value *codec = state;
    return cast_all(codec, &codec->decode, in, count, out, ZB_EFORMAT, err);
}

static void cast_value_represent(const void *state, zb__representation *representation) {
    representation->dtype = ((const cast_value *)state)->encode.to;
}

/* ---- The configuration -------------------------------------------------------------------- */

static enum zb_code parse_pair(const zb_json *item, const cast *c, pair *out, zb_error *err) {
    zb__fill_form layout;
    char excerpt[ZB__BRIEF_SIZE];
    if (zb_json_kind_of(item) != ZB_JSON_ARRAY || zb_json_count(item) != 2)
        return zb_fail(err, ZB_EFORMAT, "scalar_map has %s, expected a list of two values",
                       zb__json_excerpt(item, excerpt));
    const zb_json *from = zb_json_first(item);
    enum zb_code code = zb__fill_parse(from, c->from, NULL, out->from, &layout, err);
    if (!code)
        code = zb__fill_parse(zb_json_next(from), c->to, NULL, out->to, &layout, err);
    return code ? zb_error_prefix(err, code, "scalar_map") : ZB_OK;
}

static enum zb_code parse_pairs(const zb_json *list, cast *c, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    size_t count = zb_json_count(list);
    if (!list)
        return ZB_OK;
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY)
        return zb_fail(err, ZB_EFORMAT, "scalar_map has %s, expected a list of pairs",
                       zb__json_excerpt(list, excerpt));
    if (count > MOST_PAIRS)
        return zb_fail(err, ZB_ELIMIT, "scalar_map has %zu pairs, at most %d are taken", count,
                       MOST_PAIRS);
    c->pairs = calloc(count + 1, sizeof *c->pairs);
    if (!c->pairs)
        return zb_fail(err, ZB_ENOMEM, "no memory for a codec");
    enum zb_code code = ZB_OK;
    for (const zb_json *item = zb_json_first(list); item && !code; item = zb_json_next(item))
        code = parse_pair(item, c, &c->pairs[c->pair_count++], err);
    return code;
}

static enum zb_code parse_map(cast_value *codec, const zb_json *configuration, zb_error *err) {
    const zb_json *map = zb_json_get(configuration, "scalar_map");
    char excerpt[ZB__BRIEF_SIZE];
    if (!map)
        return ZB_OK;
    if (zb_json_kind_of(map) != ZB_JSON_OBJECT)
        return zb_fail(err, ZB_EFORMAT, "scalar_map is %s, expected an object",
                       zb__json_excerpt(map, excerpt));
    enum zb_code code = parse_pairs(zb_json_get(map, "encode"), &codec->encode, err);
    return code ? code : parse_pairs(zb_json_get(map, "decode"), &codec->decode, err);
}

static enum zb_code parse_rules(cast_value *codec, const zb_json *configuration, zb_error *err) {
    static const char *const roundings[] = {"nearest-even",     "towards-zero", "towards-positive",
                                            "towards-negative", "nearest-away", NULL};
    static const char *const ranges[] = {"clamp", "wrap", NULL};
    size_t rounding = NEAREST_EVEN, range = 0;
    enum zb_code code =
        zb__configuration_choice(configuration, "rounding", roundings, &rounding, err);
    if (!code && zb__configuration_given(configuration, "out_of_range")) {
        code = zb__configuration_choice(configuration, "out_of_range", ranges, &range, err);
        codec->range = range ? RANGE_WRAP : RANGE_CLAMP;
    }
    codec->rounding = (enum rounding)rounding;
    const bool is_float = codec->encode.to.kind == ZB_KIND_FLOAT;
    const bool is_small = is_small_float(codec->encode.to);
    if (!code && codec->range == RANGE_WRAP && (is_float || is_small))
        code = zb_fail(err, ZB_EFORMAT, "out_of_range is \"wrap\", which is for integers alone");
    if (!code && codec->rounding == NEAREST_AWAY && is_float)
        code = zb_fail(err, ZB_EUNSUPPORTED,
                       "rounding to floats by \"nearest-away\" is not supported");
    if (!code && codec->rounding != NEAREST_EVEN && is_small)
        code =
            zb_fail(err, ZB_EUNSUPPORTED, "rounding to %s is supported by \"nearest-even\" alone",
                    zb__number_name(codec->encode.to));
    return code;
}

static bool is_cast(zb_dtype dtype) {
    return zb__is_small(dtype) || (zb__is_number(dtype) && dtype.kind != ZB_KIND_BOOL);
}

/* Details of numbers are static; those of other types go with this memory. */
static enum zb_code parse_type(const zb_json *value, zb_dtype *out, zb_error *err) {
    zb__arena memory = {0};
    char name[ZB_DTYPE_NAME_SIZE];
    enum zb_code code = zb__dtype_parse(value, &memory, out, err);
    if (!code && !is_cast(*out) && out->kind > ZB_KIND_COMPLEX)
        code = zb_fail(err, ZB_EUNSUPPORTED, "a codec to elements of type %s is not supported",
                       zb_dtype_name(*out, name));
    zb__arena_free(&memory);
    return code;
}

static enum zb_code cast_value_parse(const zb_json *configuration, const zb__binding *binding,
                                     void **state, zb_error *err) {
    cast_value *codec = zb__codec_new_state(sizeof *codec, state, err);
    if (!codec)
        return ZB_ENOMEM;
    const zb_json *type = zb_json_get(configuration, "data_type");
    zb_dtype from = binding->dtype, to;
    if (!type)
        return zb_fail(err, ZB_EFORMAT, "data_type is missing");
    if (binding->is_index)
        return zb_fail(err, ZB_EUNSUPPORTED, "it has no place here");
    enum zb_code code = parse_type(type, &to, err);
    if (code)
        return code;
    if (!is_cast(from) || !is_cast(to))
        return zb_fail(err, ZB_EFORMAT, "it casts integers and floats alone");
    codec->encode = (cast){.from = from, .to = to};
    codec->decode = (cast){.from = to, .to = from};
    code = parse_rules(codec, configuration, err);
    return code ? code : parse_map(codec, configuration, err);
}

static bool cast_value_same(const void *a, const void *b) {
    const cast_value *x = a, *y = b;
    return zb_dtype_equal(x->encode.to, y->encode.to) && x->rounding == y->rounding &&
           x->range == y->range && x->decode.pair_count == y->decode.pair_count &&
           (x->decode.pair_count == 0 ||
            memcmp(x->decode.pairs, y->decode.pairs,
                   x->decode.pair_count * sizeof *x->decode.pairs) == 0);
}

static const char *const members[] = {"data_type", "rounding", "out_of_range", "scalar_map", NULL};

const zb__codec_ops zb__codec_cast_value = {
    .name = "cast_value",
    .kind = ZB__ARRAY_TO_ARRAY,
    .members = members,
    .parse = cast_value_parse,
    .free = cast_value_free,
    .same = cast_value_same,
    .array = {.represent = cast_value_represent,
              .encode = cast_value_encode,
              .decode = cast_value_decode,
              .cost = 3000},
};
