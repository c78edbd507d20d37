/* SPDX-License-Identifier: MIT */
/*
 * Values rise with their codes, so that the nearest code of a number is found by search in the
 * table of values; bfloat16, whose table would be long, is the upper half of a float instead.
 */
#include "types/format.h"

#include <math.h>
#include <string.h>

#include "util/bytes.h"

#define VALUES                                                                                     \
    &(zb__format_values) {                                                                         \
        .known = false                                                                             \
    }
#define INTEGER(is_signed, bits) {true, is_signed, bits, 0, 0, 0, 0, 0, VALUES}
/* exponent bias, mantissa, largest, infinity, NaN */
#define FLOAT(bits, bias, mantissa, largest, infinity, nan)                                        \
    {false, true, bits, mantissa, bias, largest, infinity, nan, VALUES}

static const zb__format formats[ZB_FORMATS] = {
    [ZB_FORMAT_INT2] = INTEGER(true, 2),
    [ZB_FORMAT_INT4] = INTEGER(true, 4),
    [ZB_FORMAT_UINT2] = INTEGER(false, 2),
    [ZB_FORMAT_UINT4] = INTEGER(false, 4),
    [ZB_FORMAT_FLOAT4_E2M1FN] = FLOAT(4, 1, 1, 0x7, 0, 0),
    [ZB_FORMAT_FLOAT6_E2M3FN] = FLOAT(6, 1, 3, 0x1f, 0, 0),
    [ZB_FORMAT_FLOAT6_E3M2FN] = FLOAT(6, 3, 2, 0x1f, 0, 0),
    [ZB_FORMAT_FLOAT8_E3M4] = FLOAT(8, 3, 4, 0x6f, 0x70, 0x78),
    [ZB_FORMAT_FLOAT8_E4M3] = FLOAT(8, 7, 3, 0x77, 0x78, 0x7c),
    [ZB_FORMAT_FLOAT8_E4M3B11FNUZ] = FLOAT(8, 11, 3, 0x7f, 0, 0x80),
    [ZB_FORMAT_FLOAT8_E4M3FNUZ] = FLOAT(8, 8, 3, 0x7f, 0, 0x80),
    [ZB_FORMAT_FLOAT8_E5M2] = FLOAT(8, 15, 2, 0x7b, 0x7c, 0x7e),
    [ZB_FORMAT_FLOAT8_E5M2FNUZ] = FLOAT(8, 16, 2, 0x7f, 0, 0x80),
    [ZB_FORMAT_FLOAT8_E8M0FNU] = {false, false, 8, 0, 127, 0xfe, 0, 0xff, VALUES},
    [ZB_FORMAT_BFLOAT16] = {false, true, 16, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, NULL},
};

const zb__format *zb__format_at(enum zb_format format) {
    return format > ZB_FORMAT_NONE && format < ZB_FORMATS ? &formats[format] : NULL;
}

static uint32_t sign_of(const zb__format *f) {
    return f->is_signed ? 1u << (f->bits - 1) : 0;
}

/* ---- Codes to numbers ---- */

static double bfloat16_value(uint32_t code) {
    const uint32_t bits = code << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double integer_value(const zb__format *f, uint32_t code) {
    return code & sign_of(f) ? (double)code - (double)(1u << f->bits) : (double)code;
}

static double float_value(const zb__format *f, uint32_t code) {
    const uint32_t sign = code & sign_of(f), magnitude = code & ~sign_of(f);
    const uint32_t mantissa = magnitude & ((1u << f->mantissa) - 1);
    const int exponent = (int)(magnitude >> f->mantissa);
    const bool is_subnormal = exponent == 0 && f->mantissa > 0;
    double value = ldexp((double)(mantissa + (is_subnormal ? 0 : 1u << f->mantissa)),
                         (is_subnormal ? 1 : exponent) - f->bias - (int)f->mantissa);
    if ((f->nan && code == f->nan) || (magnitude > f->largest && magnitude != f->infinity))
        return NAN;
    if (magnitude > f->largest)
        value = INFINITY;
    return sign ? -value : value;
}

/* Those who come at the same time store the same. */
static const _Atomic double *values_of(const zb__format *f) {
    zb__format_values *values = f->values;
    if (!atomic_load_explicit(&values->known, memory_order_acquire)) {
        for (uint32_t byte = 0; byte < 256; byte++) {
            const uint32_t code = byte & zb__format_mask(f);
            atomic_store_explicit(&values->of[byte],
                                  f->is_integer ? integer_value(f, code) : float_value(f, code),
                                  memory_order_relaxed);
        }
        atomic_store_explicit(&values->known, true, memory_order_release);
    }
    return values->of;
}

static double value_at(const _Atomic double *of, uint32_t code) {
    return atomic_load_explicit(&of[code], memory_order_relaxed);
}

double zb__format_to_double(const zb__format *f, uint32_t code) {
    return f->bits > 8 ? bfloat16_value(code & 0xffff) : value_at(values_of(f), code & 0xff);
}

/* ---- Numbers to codes ---- */

/* The first rounding, to float, keeps in the lowest bit whether anything was cut off, so that the
   second one is right. */
static uint32_t bfloat16_code(double value) {
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    if (value != value)
        return (bits >> 31 << 15) | 0x7fc0;
    if ((double)narrow != value) {
        bits -= fabs((double)narrow) > fabs(value);
        bits |= 1;
    }
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static uint32_t integer_code(const zb__format *f, double value) {
    const int high = (1 << (f->bits - f->is_signed)) - 1, low = f->is_signed ? -high - 1 : 0;
    value = value == value ? value : 0;
    value = value < low ? low : value > high ? high : value;
    return (uint32_t)(int)value & 0xff; /* the sign in the upper bits, too: they compress well */
}

/* The number above the last one if the format went on, for the rounding there. */
static double beyond(const _Atomic double *of, const zb__format *f) {
    const double last = value_at(of, f->largest);
    return f->mantissa ? 2 * last - value_at(of, f->largest - 1u) : 2 * last;
}

/* The code nearest to a magnitude; largest + 1 for what is nearest to a number beyond. Ties go to
   the even code; where there is no mantissa up, since that of a power of two alone is 1, which is
   odd. */
static uint32_t nearest(const _Atomic double *of, const zb__format *f, double magnitude) {
    uint32_t low = 0, high = f->largest + 1u; /* of[low] <= magnitude < of[high], but at the ends */
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (value_at(of, middle) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    const double above = low == f->largest ? beyond(of, f) : value_at(of, low + 1);
    const double half = value_at(of, low) / 2 + above / 2; /* exact */
    const bool up = f->mantissa == 0 || (low & 1);
    return low + (magnitude > half || (magnitude == half && up));
}

static uint32_t float_code(const zb__format *f, double value) {
    const uint32_t sign = signbit(value) ? sign_of(f) : 0;
    if (value != value || (!f->is_signed && !(value > 0)))
        return f->nan;
    uint32_t code = nearest(values_of(f), f, fabs(value));
    if (code > f->largest)
        code = f->infinity ? f->infinity : f->nan ? f->nan : f->largest;
    const bool lacks_minus_zero = f->nan == sign_of(f);
    return lacks_minus_zero && (code == 0 || code == f->nan) ? code : code | sign;
}

uint32_t zb__format_from_double(const zb__format *f, double value) {
    if (f->bits > 8)
        return bfloat16_code(value);
    return f->is_integer ? integer_code(f, value) : float_code(f, value);
}

/* ---- Runs ---- */

void zb__format_widen(const zb__format *f, const void *codes, double *out, size_t n) {
    const uint8_t *in = codes;
    if (f->bits > 8) {
        for (size_t i = 0; i < n; i++)
            out[i] = bfloat16_value((uint32_t)zb__load_element(in + 2 * i, 2));
        return;
    }
    const _Atomic double *of = values_of(f);
    for (size_t i = 0; i < n; i++)
        out[i] = value_at(of, in[i]);
}

void zb__format_narrow(const zb__format *f, const double *from, void *out, size_t n) {
    const uint32_t size = zb__format_bytes(f);
    uint8_t *code = out;
    for (size_t i = 0; i < n; i++)
        zb__store_element(zb__format_from_double(f, from[i]), size, code + i * size);
}
