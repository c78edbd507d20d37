/* SPDX-License-Identifier: MIT */
/*
 * Conversion as the header states it, one element at a time and with no eye on speed: numbers are
 * held as __int128 or long double, both of which hold every value of the types exactly.
 */
#ifndef ZB_TEST_KERNEL_REFERENCE_H
#define ZB_TEST_KERNEL_REFERENCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "zarrbridge/zarrbridge.h"

static const zb_dtype all_numbers[] = {
    {ZB_KIND_BOOL, 1, false, NULL},  {ZB_KIND_INT, 1, false, NULL},
    {ZB_KIND_INT, 2, false, NULL},   {ZB_KIND_INT, 4, false, NULL},
    {ZB_KIND_INT, 8, false, NULL},   {ZB_KIND_UINT, 1, false, NULL},
    {ZB_KIND_UINT, 2, false, NULL},  {ZB_KIND_UINT, 4, false, NULL},
    {ZB_KIND_UINT, 8, false, NULL},  {ZB_KIND_FLOAT, 2, false, NULL},
    {ZB_KIND_FLOAT, 4, false, NULL}, {ZB_KIND_FLOAT, 8, false, NULL},
};
#define NUMBER_COUNT (sizeof all_numbers / sizeof all_numbers[0])

typedef struct number {
    bool is_float;
    __int128 integer;
    long double real;
} number;

/* A small generator (xorshift64*), so that a seed gives the same test everywhere. */
static uint64_t random_state;

static inline uint64_t random_u64(void) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * UINT64_C(0x2545f4914f6cdd1d);
}

/* 0 to n - 1. */
static inline uint64_t random_below(uint64_t n) {
    return (random_u64() >> 16) % n;
}

static inline void reverse(unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size / 2; i++) {
        unsigned char t = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = t;
    }
}

static inline long double half_value(uint16_t half) {
    int exponent = half >> 10 & 31, mantissa = half & 1023;
    long double value = exponent == 0    ? ldexpl(mantissa, -24)
                        : exponent == 31 ? (mantissa != 0 ? (long double)NAN : HUGE_VALL)
                                         : ldexpl(1024 + mantissa, exponent - 25);
    return half & 0x8000 ? -value : value;
}

static inline uint16_t half_bits(long double value) {
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    value = fabsl(value);
    if (isnan(value))
        return sign | 0x7e00;
    if (isinf(value))
        return sign | 0x7c00;
    int exponent = value < 0x1p-14L ? -14 : ilogbl(value);
    /* In units of the last place; rintl takes the even neighbour of a tie. */
    long double units = rintl(ldexpl(value, 10 - exponent));
    if (units == 2048) {
        units = 1024;
        exponent++;
    }
    if (exponent > 15)
        return sign | 0x7c00;
    unsigned bits =
        units < 1024 ? (unsigned)units : (unsigned)(exponent + 15) << 10 | ((unsigned)units - 1024);
    return (uint16_t)(sign | bits);
}

/* dtype must be a real number. */
static inline number load_number(zb_dtype dtype, const void *src) {
    unsigned char bytes[8];
    memcpy(bytes, src, dtype.size);
    if (dtype.swapped)
        reverse(bytes, dtype.size);
    number value = {.is_float = dtype.kind == ZB_KIND_FLOAT};
    uint64_t word = 0;
    memcpy(&word, bytes, dtype.size); /* the tests run on little-endian machines */
    if (dtype.kind == ZB_KIND_BOOL) {
        value.integer = word != 0;
    } else if (dtype.kind == ZB_KIND_UINT) {
        value.integer = word;
    } else if (dtype.kind == ZB_KIND_INT) {
        __int128 range = (__int128)1 << (8 * dtype.size);
        value.integer = word >= (unsigned __int128)range / 2 ? word - range : (__int128)word;
    } else if (dtype.size == 2) {
        value.real = half_value((uint16_t)word);
    } else if (dtype.size == 4) {
        float v;
        memcpy(&v, bytes, sizeof v);
        value.real = v;
    } else {
        double v;
        memcpy(&v, bytes, sizeof v);
        value.real = v;
    }
    return value;
}

static inline void store_integer(zb_dtype dtype, number value, unsigned char *bytes) {
    __int128 range = (__int128)1 << (8 * dtype.size);
    __int128 low = dtype.kind == ZB_KIND_INT ? -range / 2 : 0;
    __int128 high = low + range - 1, integer = value.integer;
    if (value.is_float) {
        long double cut = isnan(value.real) ? 0 : truncl(value.real);
        integer = cut >= (long double)high ? high : cut <= (long double)low ? low : (__int128)cut;
    }
    integer = integer < low ? low : integer > high ? high : integer;
    uint64_t word = (uint64_t)integer;
    memcpy(bytes, &word, dtype.size);
}

static inline void store_number(zb_dtype dtype, number value, void *dst) {
    unsigned char bytes[8];
    long double real = value.is_float ? value.real : (long double)value.integer;
    if (dtype.kind == ZB_KIND_BOOL) {
        bytes[0] = real != 0;
    } else if (dtype.kind != ZB_KIND_FLOAT) {
        store_integer(dtype, value, bytes);
    } else if (dtype.size == 2) {
        uint16_t v = half_bits(real);
        memcpy(bytes, &v, sizeof v);
    } else if (dtype.size == 4) {
        float v = (float)real;
        memcpy(bytes, &v, sizeof v);
    } else {
        double v = (double)real;
        memcpy(bytes, &v, sizeof v);
    }
    if (dtype.swapped)
        reverse(bytes, dtype.size);
    memcpy(dst, bytes, dtype.size);
}

/* One element of any pair of types that converts. */
static inline void convert_element(zb_dtype from, const void *src, zb_dtype to, void *dst) {
    if (from.kind == to.kind && from.size == to.size && from.kind != ZB_KIND_BOOL) {
        unsigned char *bytes = dst;
        memcpy(bytes, src, from.size);
        if (from.swapped == to.swapped || from.kind == ZB_KIND_RAW)
            return;
        size_t component = from.kind == ZB_KIND_COMPLEX ? from.size / 2 : from.size;
        for (size_t i = 0; i < from.size; i += component)
            reverse(bytes + i, component);
        return;
    }
    uint32_t parts = from.kind == ZB_KIND_COMPLEX ? 2 : 1;
    from.size /= parts;
    to.size /= parts;
    if (parts == 2)
        from.kind = to.kind = ZB_KIND_FLOAT;
    for (uint32_t i = 0; i < parts; i++)
        store_number(to, load_number(from, (const char *)src + i * from.size),
                     (char *)dst + i * to.size);
}

#endif
