/* SPDX-License-Identifier: MIT */
/*
 * The formats of small floats are one rule with five parameters: bits of exponent and mantissa,
 * bias, and which codes are no numbers. Values rise with their codes, so that the nearest code of a
 * number is found by search in the table of values; bfloat16, whose table would be long, is the
 * upper half of a float instead.
 */
#include "kernel/small.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/bytes.h"

/* Which codes are no numbers. */
enum specials {
    IEEE,     /* the highest exponent: infinity, NaNs */
    ONE_NAN,  /* the code of -0 */
    LAST_NAN, /* the last code; no sign either */
    NO_OTHER  /* all codes are numbers */
};

typedef struct format_row {
    const char *name;
    unsigned bits, exponent, mantissa; /* bits of the code, and of its parts */
    int bias;
    enum specials specials;
    bool is_integer, is_signed;
} format_row;

#define INTEGER(name, bits, is_signed) {name, bits, 0, 0, 0, NO_OTHER, true, is_signed}
#define FLOAT(name, bits, exponent, mantissa, bias, specials)                                      \
    {name, bits, exponent, mantissa, bias, specials, false, (specials) != LAST_NAN}

static const format_row formats[ZB_FORMATS] = {
    [ZB_FORMAT_INT2] = INTEGER("int2", 2, true),
    [ZB_FORMAT_INT4] = INTEGER("int4", 4, true),
    [ZB_FORMAT_UINT2] = INTEGER("uint2", 2, false),
    [ZB_FORMAT_UINT4] = INTEGER("uint4", 4, false),
    [ZB_FORMAT_FLOAT4_E2M1FN] = FLOAT("float4_e2m1fn", 4, 2, 1, 1, NO_OTHER),
    [ZB_FORMAT_FLOAT6_E2M3FN] = FLOAT("float6_e2m3fn", 6, 2, 3, 1, NO_OTHER),
    [ZB_FORMAT_FLOAT6_E3M2FN] = FLOAT("float6_e3m2fn", 6, 3, 2, 3, NO_OTHER),
    [ZB_FORMAT_FLOAT8_E3M4] = FLOAT("float8_e3m4", 8, 3, 4, 3, IEEE),
    [ZB_FORMAT_FLOAT8_E4M3] = FLOAT("float8_e4m3", 8, 4, 3, 7, IEEE),
    [ZB_FORMAT_FLOAT8_E4M3B11FNUZ] = FLOAT("float8_e4m3b11fnuz", 8, 4, 3, 11, ONE_NAN),
    [ZB_FORMAT_FLOAT8_E4M3FNUZ] = FLOAT("float8_e4m3fnuz", 8, 4, 3, 8, ONE_NAN),
    [ZB_FORMAT_FLOAT8_E5M2] = FLOAT("float8_e5m2", 8, 5, 2, 15, IEEE),
    [ZB_FORMAT_FLOAT8_E5M2FNUZ] = FLOAT("float8_e5m2fnuz", 8, 5, 2, 16, ONE_NAN),
    [ZB_FORMAT_FLOAT8_E8M0FNU] = FLOAT("float8_e8m0fnu", 8, 8, 0, 127, LAST_NAN),
    [ZB_FORMAT_BFLOAT16] = FLOAT("bfloat16", 16, 8, 7, 127, IEEE),
};

const char *zb__format_name(enum zb_format format) {
    return formats[format].name;
}

uint32_t zb__format_bytes(enum zb_format format) {
    return format == ZB_FORMAT_BFLOAT16 ? 2 : 1;
}

uint32_t zb__format_mask(enum zb_format format) {
    return (1u << formats[format].bits) - 1;
}

bool zb__format_is_integer(enum zb_format format, int *low, int *high) {
    const format_row *f = &formats[format];
    const int range = 1 << f->bits;
    *low = f->is_signed ? -range / 2 : 0;
    *high = *low + range - 1;
    return f->is_integer;
}

static uint32_t sign_of(const format_row *f) {
    return f->is_signed ? 1u << (f->bits - 1) : 0;
}

bool zb__format_infinity(enum zb_format format, uint32_t *code) {
    const format_row *f = &formats[format];
    *code = ((1u << f->exponent) - 1) << f->mantissa;
    return f->specials == IEEE;
}

bool zb__format_nan(enum zb_format format, uint32_t *code) {
    const format_row *f = &formats[format];
    zb__format_infinity(format, code);
    if (f->specials == IEEE)
        *code |= 1u << (f->mantissa - 1);
    else
        *code = f->specials == ONE_NAN ? sign_of(f) : zb__format_mask(format);
    return f->specials != NO_OTHER;
}

uint32_t zb__format_largest(enum zb_format format) {
    const format_row *f = &formats[format];
    uint32_t code;
    if (zb__format_infinity(format, &code))
        return code - 1;
    return (f->is_signed ? sign_of(f) - 1 : zb__format_mask(format)) - (f->specials == LAST_NAN);
}

/* ---- Codes to numbers ---- */

static double integer_value(const format_row *f, uint32_t code) {
    return code & sign_of(f) ? (double)code - (double)(1u << f->bits) : (double)code;
}

static double float_value(const format_row *f, enum zb_format format, uint32_t code) {
    const uint32_t sign = code & sign_of(f), magnitude = code & ~sign_of(f);
    const uint32_t mantissa = magnitude & ((1u << f->mantissa) - 1);
    const int exponent = (int)(magnitude >> f->mantissa);
    const bool is_subnormal = exponent == 0 && f->specials != LAST_NAN;
    uint32_t nan, infinity;
    double value = ldexp((double)(mantissa + (is_subnormal ? 0 : 1u << f->mantissa)),
                         (is_subnormal ? 1 : exponent) - f->bias - (int)f->mantissa);
    if (zb__format_infinity(format, &infinity) && magnitude >= infinity)
        value = magnitude == infinity ? INFINITY : NAN;
    else if (f->specials != IEEE && zb__format_nan(format, &nan) && code == nan)
        return NAN;
    return sign ? -value : value;
}

static double bfloat16_value(uint32_t code) {
    const uint32_t bits = code << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double values[ZB_FORMATS][256]; /* of codes of one byte */
static pthread_once_t values_once = PTHREAD_ONCE_INIT;

static void fill_values(void) {
    for (int format = ZB_FORMAT_INT2; format < ZB_FORMAT_BFLOAT16; format++) {
        const format_row *f = &formats[format];
        for (uint32_t byte = 0; byte < 256; byte++) {
            const uint32_t code = byte & zb__format_mask((enum zb_format)format);
            values[format][byte] = f->is_integer ? integer_value(f, code)
                                                 : float_value(f, (enum zb_format)format, code);
        }
    }
}

static const double *values_of(enum zb_format format) {
    pthread_once(&values_once, fill_values);
    return values[format];
}

double zb__small_to_double(enum zb_format format, uint32_t code) {
    return format == ZB_FORMAT_BFLOAT16 ? bfloat16_value(code & 0xffff)
                                        : values_of(format)[code & 0xff];
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

static uint32_t integer_code(const format_row *f, enum zb_format format, double value) {
    int low, high;
    (void)f;
    zb__format_is_integer(format, &low, &high);
    value = value == value ? value : 0;
    value = value < low ? low : value > high ? high : value;
    return (uint32_t)(int)value & 0xff; /* the sign in the upper bits, too: they compress well */
}

/* The number above the last one if the format went on, for the rounding there. */
static double beyond(const double *of, uint32_t last, const format_row *f) {
    return f->mantissa ? 2 * of[last] - of[last - 1] : 2 * of[last];
}

/* The code nearest to a magnitude; last + 1 for what is nearest to a number beyond. `up`: ties go
   there, and not to the even code. */
static uint32_t nearest(const double *of, uint32_t last, double end, double magnitude, bool up) {
    uint32_t low = 0, high = last + 1; /* of[low] <= magnitude < of[high], but at the ends */
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (of[middle] <= magnitude)
            low = middle;
        else
            high = middle;
    }
    const double above = low == last ? end : of[low + 1];
    const double half = of[low] / 2 + above / 2; /* exact */
    return low + (magnitude > half || (magnitude == half && (up || (low & 1))));
}

static uint32_t float_code(const format_row *f, enum zb_format format, double value) {
    const double *of = values_of(format);
    const uint32_t last = zb__format_largest(format);
    uint32_t nan, infinity;
    const bool has_nan = zb__format_nan(format, &nan);
    const bool has_infinity = zb__format_infinity(format, &infinity);
    if (value != value)
        return has_nan ? nan : 0;
    if (f->specials == LAST_NAN && !(value > 0))
        return nan;
    const uint32_t sign = signbit(value) ? sign_of(f) : 0;
    /* The mantissa of a power of two alone is 1, which is odd. */
    const bool up = f->mantissa == 0;
    uint32_t code = nearest(of, last, beyond(of, last, f), fabs(value), up);
    if (code > last)
        code = has_infinity ? infinity : has_nan ? nan : last;
    if (f->specials == ONE_NAN && (code == 0 || code == nan))
        return code; /* no -0 */
    return code | sign;
}

uint32_t zb__small_from_double(enum zb_format format, double value) {
    const format_row *f = &formats[format];
    if (format == ZB_FORMAT_BFLOAT16)
        return bfloat16_code(value);
    return f->is_integer ? integer_code(f, format, value) : float_code(f, format, value);
}

/* ---- Runs ---- */

void zb__small_widen(enum zb_format format, const void *codes, double *out, size_t n) {
    const uint8_t *in = codes;
    if (format == ZB_FORMAT_BFLOAT16) {
        for (size_t i = 0; i < n; i++)
            out[i] = bfloat16_value((uint32_t)zb__load_element(in + 2 * i, 2));
        return;
    }
    const double *of = values_of(format);
    for (size_t i = 0; i < n; i++)
        out[i] = of[in[i]];
}

void zb__small_narrow(enum zb_format format, const double *from, void *out, size_t n) {
    const uint32_t size = zb__format_bytes(format);
    uint8_t *code = out;
    for (size_t i = 0; i < n; i++)
        zb__store_element(zb__small_from_double(format, from[i]), size, code + i * size);
}
