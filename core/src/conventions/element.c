/* SPDX-License-Identifier: MIT */
/*
 * Single numbers as elements of a type, and back. Nothing is clamped: a nodata value that came out
 * as another number would hide elements which have that number.
 */
#include <math.h>
#include <string.h>

#include "base/half.h"
#include "zarrbridge/conventions.h"

static bool is_integer(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_INT || dtype.kind == ZB_KIND_UINT;
}

/* Stores the low bytes of an integer in host byte order. */
static void store_bits(uint64_t bits, uint32_t size, void *out) {
    const uint8_t u8 = (uint8_t)bits;
    const uint16_t u16 = (uint16_t)bits;
    const uint32_t u32 = (uint32_t)bits;
    memcpy(out,
           size == 1   ? (const void *)&u8
           : size == 2 ? (const void *)&u16
           : size == 4 ? (const void *)&u32
                       : (const void *)&bits,
           size);
}

static uint64_t load_bits(const void *element, uint32_t size) {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (size) {
    case 1:
        memcpy(&u8, element, sizeof u8);
        return u8;
    case 2:
        memcpy(&u16, element, sizeof u16);
        return u16;
    case 4:
        memcpy(&u32, element, sizeof u32);
        return u32;
    default:
        memcpy(&u64, element, sizeof u64);
        return u64;
    }
}

static bool store_float(double value, uint32_t size, void *element) {
    if (size == 8) {
        memcpy(element, &value, sizeof value);
        return true;
    }
    const float single = size == 4 ? (float)value : 0;
    const uint16_t half = size == 2 ? zb__half_from_double(value) : 0;
    const double kept = size == 4 ? (double)single : (double)zb__half_to_float(half);
    if (isinf(kept) && !isinf(value))
        return false;
    memcpy(element, size == 4 ? (const void *)&single : &half, size);
    return true;
}

/* Powers of two are exact doubles, so that the ends of the 64-bit types compare right as well. */
bool zb_element_from_double(double value, zb_dtype dtype, void *element) {
    if (dtype.kind == ZB_KIND_FLOAT)
        return store_float(value, dtype.size, element);
    const double end = ldexp(1, (int)(8 * dtype.size) - (dtype.kind == ZB_KIND_INT));
    const double lowest = dtype.kind == ZB_KIND_INT ? -end : 0;
    if (!is_integer(dtype) || !(value >= lowest && value < end) || value != floor(value))
        return false;
    const uint64_t bits = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    store_bits(bits, dtype.size, element);
    return true;
}

bool zb_element_from_int64(int64_t value, zb_dtype dtype, void *element) {
    if (!is_integer(dtype))
        return zb_element_from_double((double)value, dtype, element);
    if (value >= 0)
        return zb_element_from_uint64((uint64_t)value, dtype, element);
    const uint64_t largest = UINT64_MAX >> (65 - 8 * dtype.size); /* the lowest is one further */
    if (dtype.kind == ZB_KIND_UINT || ~(uint64_t)value > largest)
        return false;
    store_bits((uint64_t)value, dtype.size, element);
    return true;
}

bool zb_element_from_uint64(uint64_t value, zb_dtype dtype, void *element) {
    if (!is_integer(dtype))
        return zb_element_from_double((double)value, dtype, element);
    if (value > UINT64_MAX >> (64 - 8 * dtype.size + (dtype.kind == ZB_KIND_INT)))
        return false;
    store_bits(value, dtype.size, element);
    return true;
}

double zb_element_to_double(const void *element, zb_dtype dtype) {
    double wide = 0;
    float narrow;
    if (dtype.kind == ZB_KIND_UINT)
        return (double)load_bits(element, dtype.size);
    if (dtype.kind == ZB_KIND_INT) {
        const unsigned unused = 64 - 8 * dtype.size;
        return (double)((int64_t)(load_bits(element, dtype.size) << unused) >> unused);
    }
    if (dtype.kind != ZB_KIND_FLOAT)
        return 0;
    if (dtype.size == 2)
        return (double)zb__half_to_float((uint16_t)load_bits(element, 2));
    if (dtype.size == 4) {
        memcpy(&narrow, element, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, element, sizeof wide);
    return wide;
}
