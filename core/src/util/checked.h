/* SPDX-License-Identifier: MIT */
/* Arithmetic on sizes that come from outside: true when the result fits, false on overflow. */
#ifndef ZB_UTIL_CHECKED_H
#define ZB_UTIL_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool zb__add_u64(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}

static inline bool zb__mul_u64(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}

/* The product of count factors times `unit`. */
static inline bool zb__product_u64(const uint64_t *factors, uint32_t count, uint64_t unit,
                                   uint64_t *out) {
    uint64_t product = unit;
    for (uint32_t i = 0; i < count; i++) {
        if (!zb__mul_u64(product, factors[i], &product))
            return false;
    }
    *out = product;
    return true;
}

/* Sums and products of bounds: a result that does not fit becomes UINT64_MAX, which bounds
   nothing. */
static inline uint64_t zb__bound_sum(uint64_t a, uint64_t b) {
    uint64_t result;
    return zb__add_u64(a, b, &result) ? result : UINT64_MAX;
}

static inline uint64_t zb__bound_product(uint64_t a, uint64_t b) {
    uint64_t result;
    return zb__mul_u64(a, b, &result) ? result : UINT64_MAX;
}

#endif
