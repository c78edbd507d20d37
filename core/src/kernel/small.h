/* SPDX-License-Identifier: MIT */
/* Numbers of few bits: their codes as doubles, which hold all of their values, and back. */
#ifndef ZB_KERNEL_SMALL_H
#define ZB_KERNEL_SMALL_H

#include "zarrbridge/dtype.h"

/* A format as documents name it; NULL for ZB_FORMAT_NONE. */
const char *zb__format_name(enum zb_format format);

/* Bytes of a code: 2 for bfloat16, else 1. */
uint32_t zb__format_bytes(enum zb_format format);

/* The bits of a code that count. */
uint32_t zb__format_mask(enum zb_format format);

/* Is it an integer format: then *low and *high are its bounds. */
bool zb__format_is_integer(enum zb_format format, int *low, int *high);

/* Codes without a value of their own. False where the format has none. */
bool zb__format_nan(enum zb_format format, uint32_t *code);
bool zb__format_infinity(enum zb_format format, uint32_t *code); /* the positive one */

/* The code of the largest number. */
uint32_t zb__format_largest(enum zb_format format);

/* Exact; bits that do not count are not looked at. */
double zb__small_to_double(enum zb_format format, uint32_t code);

/* Towards an integer as all conversions (zb_array_read): cut off, clamped, NaN as 0. Towards a
   float to the nearest, ties to even; what is too large becomes infinity, in formats without one
   NaN, and in those without NaN, too, the largest number; there NaN is 0. */
uint32_t zb__small_from_double(enum zb_format format, double value);

/* Conversions of n codes in host order, side by side. */
void zb__small_widen(enum zb_format format, const void *codes, double *out, size_t n);
void zb__small_narrow(enum zb_format format, const double *values, void *out, size_t n);

#endif
