/* SPDX-License-Identifier: MIT */
/*
 * Single numbers as elements of a type, and back. Nothing is clamped: a nodata value that came out
 * as another number would hide elements which have that number.
 */
#include <math.h>
#include <string.h>

#include "types/kinds.h"
#include "util/bytes.h"
#include "util/half.h"
#include "zarrbridge/conventions.h"

static bool is_integer(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_INT || dtype.kind == ZB_KIND_UINT;
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
    zb__store_element(bits, dtype.size, element);
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
    zb__store_element((uint64_t)value, dtype.size, element);
    return true;
}

bool zb_element_from_uint64(uint64_t value, zb_dtype dtype, void *element) {
    if (!is_integer(dtype))
        return zb_element_from_double((double)value, dtype, element);
    if (value > UINT64_MAX >> (64 - 8 * dtype.size + (dtype.kind == ZB_KIND_INT)))
        return false;
    zb__store_element(value, dtype.size, element);
    return true;
}

double zb_element_to_double(const void *element, zb_dtype dtype) {
    if (dtype.kind == ZB_KIND_UINT)
        return (double)zb__load_element(element, dtype.size);
    if (dtype.kind == ZB_KIND_INT) {
        const unsigned unused = 64 - 8 * dtype.size;
        return (double)((int64_t)(zb__load_element(element, dtype.size) << unused) >> unused);
    }
    return dtype.kind == ZB_KIND_FLOAT ? zb__load_float(element, dtype.size) : 0;
}

/* ---- Types that hosts of plugins lack ----------------------------------------------------- */

zb_dtype zb_dtype_shown(zb_dtype stored) {
    const zb__kind *kind = zb__kind_of(stored);
    return kind->shown ? kind->shown(stored) : stored;
}
