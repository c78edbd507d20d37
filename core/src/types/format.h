/* SPDX-License-Identifier: MIT */
/*
 * Formats of numbers of few bits: their codes as doubles, which hold all of their values, and back.
 *
 * Integers are two's complement, or have no sign. Floats have a sign, if any, an exponent and a
 * mantissa; those without a mantissa are powers of two, of which the lowest code is one, too.
 * Magnitudes rise with their codes; above `largest` are infinity and NaNs.
 */
#ifndef ZB_TYPES_FORMAT_H
#define ZB_TYPES_FORMAT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/dtype.h"

/* The values of all bytes as codes, which the first who asks computes. */
typedef struct zb__format_values {
    _Atomic bool known;
    _Atomic double of[256];
} zb__format_values;

typedef struct zb__format {
    bool is_integer, is_signed;
    uint8_t bits, mantissa; /* of a code, up to 8, and of its mantissa */
    int16_t bias;           /* of the exponent */
    uint16_t largest;       /* the code of the largest number */
    uint16_t infinity;      /* of the positive one; 0: there is none */
    uint16_t nan;           /* the canonical one; may be the code of -0; 0: there is none */
    zb__format_values *values;
} zb__format;

/* That of the enum; NULL for ZB_FORMAT_NONE. bfloat16 has 16 bits. */
const zb__format *zb__format_at(enum zb_format format);

/* Bytes of a code: 2 for bfloat16, else 1. */
static inline uint32_t zb__format_bytes(const zb__format *format) {
    return format->bits > 8 ? 2 : 1;
}

/* The bits of a code that count. */
static inline uint32_t zb__format_mask(const zb__format *format) {
    return (1u << format->bits) - 1;
}

/* Exact; bits that do not count are not looked at. */
double zb__format_to_double(const zb__format *format, uint32_t code);

/* Towards an integer as all conversions (zb_array_read): cut off, clamped, NaN as 0. Towards a
   float to the nearest, ties to even; what is too large becomes infinity, in formats without one
   NaN, and in those without NaN, too, the largest number; there NaN is 0. */
uint32_t zb__format_from_double(const zb__format *format, double value);

/* Conversions of n codes in host order, side by side. */
void zb__format_widen(const zb__format *format, const void *codes, double *out, size_t n);
void zb__format_narrow(const zb__format *format, const double *values, void *out, size_t n);

#endif
