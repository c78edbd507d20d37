/* SPDX-License-Identifier: MIT */
#include "codec/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "codec/configuration.h"
#include "types/dtype.h"
#include "types/kinds.h"
#include "util/bytes.h"
#include "util/half.h"
#include "util/json_excerpt.h"

bool zb__is_number(zb_dtype dtype) {
    return dtype.kind <= ZB_KIND_FLOAT;
}

bool zb__is_small(zb_dtype dtype) {
    const zb__format *format = zb__format_of(dtype);
    return format && dtype.size == zb__format_bytes(format);
}

const char *zb__number_name(zb_dtype dtype) {
    const char *name = zb__dtype_own_name(dtype);
    return name ? name : "bytes";
}

zb__number zb__number_load(zb_dtype dtype, const void *element) {
    if (dtype.kind == ZB_KIND_FLOAT)
        return (zb__number){.is_float = true, .real = zb__load_float(element, dtype.size)};
    uint64_t bits = zb__load_element(element, dtype.size);
    if (zb__is_small(dtype))
        return (zb__number){.is_float = true,
                            .real = zb__format_to_double(zb__format_of(dtype), (uint32_t)bits)};
    uint64_t sign = UINT64_C(1) << (8 * dtype.size - 1);
    if (dtype.kind == ZB_KIND_INT && bits & sign) {
        bits |= ~(sign | (sign - 1)); /* to 64 bits */
        return (zb__number){.negative = true, .magnitude = 0 - bits};
    }
    return (zb__number){.magnitude = bits};
}

double zb__number_real(zb__number number) {
    if (number.is_float)
        return number.real;
    return number.negative ? -(double)number.magnitude : (double)number.magnitude;
}

void zb__real_store(uint32_t size, double real, void *element) {
    float narrow = (float)real;
    if (size == 2)
        zb__store_element(zb__half_from_double(real), 2, element);
    else
        memcpy(element, size == 4 ? (const void *)&narrow : (const void *)&real, size);
}

bool zb__number_integer(double real, zb__number *out) {
    double size = fabs(real);
    if (!(size < 0x1p64) || trunc(size) != size)
        return false;
    *out = (zb__number){.negative = real < 0, .magnitude = (uint64_t)size};
    return true;
}

/* The largest magnitude that an integer type has with this sign. */
static uint64_t most(zb_dtype dtype, bool negative) {
    uint64_t all = UINT64_MAX >> (64 - 8 * dtype.size);
    if (dtype.kind == ZB_KIND_BOOL)
        return negative ? 0 : 1;
    if (dtype.kind == ZB_KIND_UINT)
        return negative ? 0 : all;
    return all / 2 + negative;
}

static void store_bits(zb_dtype dtype, bool negative, uint64_t magnitude, void *element) {
    zb__store_element(negative ? 0 - magnitude : magnitude, dtype.size, element);
}

/* Stores the nearest number of a type whose numbers are floats here; returns the one stored. */
static double store_nearest(zb_dtype dtype, double real, void *element) {
    const zb__format *format = zb__format_of(dtype);
    if (!zb__is_small(dtype)) {
        zb__real_store(dtype.size, real, element);
        return zb__real_narrow(dtype.size, real);
    }
    const uint32_t code = zb__format_from_double(format, real);
    zb__store_element(code, dtype.size, element);
    return zb__format_to_double(format, code);
}

static bool store_real(zb_dtype dtype, zb__number number, void *element) {
    const double real = zb__number_real(number);
    uint8_t stored[8];
    zb__number back;
    const double nearest = store_nearest(dtype, real, stored);
    bool same = nearest == real || (isnan(nearest) && isnan(real));
    if (same && !number.is_float) /* the double is not the integer itself */
        same = zb__number_integer(nearest, &back) && back.magnitude == number.magnitude;
    if (same)
        memcpy(element, stored, dtype.size);
    return same;
}

bool zb__number_store(zb_dtype dtype, zb__number number, void *element) {
    if (dtype.kind == ZB_KIND_FLOAT || zb__is_small(dtype))
        return store_real(dtype, number, element);
    if (number.is_float && !zb__number_integer(number.real, &number))
        return false;
    if (number.magnitude > most(dtype, number.negative))
        return false;
    store_bits(dtype, number.negative, number.magnitude, element);
    return true;
}

bool zb__number_cut(zb_dtype dtype, zb__number number, void *element) {
    if (dtype.kind == ZB_KIND_FLOAT) {
        zb__real_store(dtype.size, zb__number_real(number), element);
        return true;
    }
    if (number.is_float)
        number.real = trunc(number.real);
    return zb__number_store(dtype, number, element);
}

void zb__number_clamp(zb_dtype dtype, zb__number number, void *element) {
    if (zb__is_small(dtype)) {
        store_nearest(dtype, zb__number_real(number), element);
        return;
    }
    if (zb__number_cut(dtype, number, element))
        return;
    bool negative = number.is_float ? number.real < 0 : number.negative;
    bool is_nan = number.is_float && isnan(number.real);
    store_bits(dtype, negative, is_nan ? 0 : most(dtype, negative), element);
}

/* ---- Names of numpy ----------------------------------------------------------------------- */

/* By numpy's name, or by letter and size behind the sign of the byte order. False for a type that
   is not known, and for complex ones. */
static bool find(const char *text, zb_dtype *out) {
    bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    const char *code = text + (*text && strchr("<>|=", *text));
    const zb__type_name *type;
    uint64_t count;
    const char *rest = "";
    const zb__kind *kind = zb__kind_named(text, &type);
    if (!kind)
        kind = zb__kind_coded(code, &type, &count, &rest);
    if (!kind || !type || type->size == 0 || *rest)
        return false;
    *out = zb__type_of(kind, type);
    out->swapped = out->size > 1 && (*text == '<' || *text == '>') && (*text == '>') != host_is_big;
    return zb__is_number(*out);
}

enum zb_code zb__numpy_type(const zb_json *configuration, const char *name, zb_dtype *out,
                            zb_error *err) {
    const zb_json *value = zb__configuration_given(configuration, name);
    const char *text = zb_json_string(value);
    char excerpt[ZB__BRIEF_SIZE];
    if (!value)
        return ZB_OK;
    if (text && find(text, out) && !out->swapped)
        return ZB_OK;
    return zb_fail(err, text ? ZB_EUNSUPPORTED : ZB_EFORMAT,
                   "%s is %s, expected a number of numpy in this machine's byte order", name,
                   zb__json_excerpt(value, excerpt));
}

enum zb_code zb__numpy_type_check(const zb_json *configuration, const char *name, zb_dtype expected,
                                  zb_error *err) {
    zb_dtype said = expected;
    char excerpt[ZB__BRIEF_SIZE];
    enum zb_code code = zb__numpy_type(configuration, name, &said, err);
    bool are_integers = (said.kind == ZB_KIND_INT || said.kind == ZB_KIND_UINT) &&
                        (expected.kind == ZB_KIND_INT || expected.kind == ZB_KIND_UINT);
    if (code || (said.size == expected.size && (said.kind == expected.kind || are_integers)))
        return code;
    return zb_fail(err, ZB_EUNSUPPORTED, "%s is %s, expected the type of its input, %s", name,
                   zb__json_excerpt(zb_json_get(configuration, name), excerpt),
                   zb__number_name(expected));
}
