/* SPDX-License-Identifier: MIT */
/* See block.h. */
#include "codec/block.h"

#include <math.h>
#include <string.h>

#include "codec/number.h"
#include "types/scatter.h"
#include "util/bytes.h"
#include "util/half.h"

static const zb_dtype real64 = {.kind = ZB_KIND_FLOAT, .size = 8};

/* The kernel takes any byte but 0 for true, where codecs compute with the byte. */
static bool is_byte_of_bool(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_BOOL;
}

void zb__block_reals(zb_dtype dtype, const void *elements, size_t n, double *out) {
    if (is_byte_of_bool(dtype))
        dtype.kind = ZB_KIND_UINT;
    zb__convert(dtype, elements, dtype.size, real64, out, real64.size, n);
}

void zb__block_narrow(uint32_t size, double *reals, size_t n) {
    if (size == 4) {
        for (size_t i = 0; i < n; i++)
            reals[i] = (double)(float)reals[i];
    } else if (size == 2) {
        for (size_t i = 0; i < n; i++)
            reals[i] = (double)zb__half_to_float(zb__half_from_double(reals[i]));
    }
}

/* From 2^52 on doubles have no fraction: adding 2^52 rounds it away, in the mode of the processor,
   which is to nearest. */
void zb__block_round(double *reals, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double real = reals[i], size = fabs(real);
        double rounded = copysign((size + 0x1p52) - 0x1p52, real);
        reals[i] = size < 0x1p52 ? rounded : real;
    }
}

/* Adding one to an exponent of only ones, as infinities and NaNs have it, carries to the top. */
static bool all_finite(const double *reals, size_t n) {
    const uint64_t exponent = UINT64_C(0x7ff) << 52, one = UINT64_C(1) << 52;
    uint64_t carried = 0, bits;
    for (size_t i = 0; i < n; i++) {
        memcpy(&bits, &reals[i], sizeof bits);
        carried |= (bits & exponent) + one;
    }
    return !(carried >> 63);
}

size_t zb__block_overflow(const double *origins, const double *reals, size_t n) {
    size_t i = all_finite(reals, n) ? n : 0;
    while (i < n && (isfinite(reals[i]) || !isfinite(origins[i])))
        i++;
    return i;
}

/* Are all of them in the range of an integer type? Its ends are powers of two, so exact in double.
   Fractions next to an end, which only cutting off brings into the range, count as outside. */
static bool all_fit(zb_dtype dtype, const double *reals, size_t n) {
    const bool is_signed = dtype.kind == ZB_KIND_INT;
    const double above = ldexp(1, (int)(8 * dtype.size) - is_signed), low = is_signed ? -above : 0;
    int bad = 0;
    for (size_t i = 0; i < n; i++)
        bad |= !(reals[i] >= low) | !(reals[i] < above);
    return !bad;
}

size_t zb__block_cut(zb_dtype dtype, const double *reals, size_t n, void *elements) {
    uint8_t *out = elements;
    if (dtype.kind == ZB_KIND_FLOAT || (!is_byte_of_bool(dtype) && all_fit(dtype, reals, n))) {
        zb__convert(real64, reals, real64.size, dtype, out, dtype.size, n);
        return n;
    }
    size_t i = 0;
    while (i < n && zb__number_cut(dtype, (zb__number){.is_float = true, .real = reals[i]},
                                   out + i * dtype.size))
        i++;
    return i;
}

void zb__block_clamp(zb_dtype dtype, const double *reals, size_t n, void *elements) {
    uint8_t *out = elements;
    if (!is_byte_of_bool(dtype)) {
        zb__convert(real64, reals, real64.size, dtype, out, dtype.size, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        zb__number_clamp(dtype, (zb__number){.is_float = true, .real = reals[i]}, out + i);
}

void zb__block_bits(zb_dtype dtype, const void *elements, size_t n, uint64_t *out) {
    if (is_byte_of_bool(dtype))
        dtype.kind = ZB_KIND_UINT;
    const zb_dtype wide = {.kind = dtype.kind, .size = 8};
    zb__convert(dtype, elements, dtype.size, wide, out, wide.size, n);
}

void zb__block_store_bits(uint32_t size, const uint64_t *bits, size_t n, void *elements) {
    uint8_t *out = elements;
    /* A loop for each size. */
    if (size == 1) {
        for (size_t i = 0; i < n; i++)
            zb__store_element(bits[i], 1, out + i);
    } else if (size == 2) {
        for (size_t i = 0; i < n; i++)
            zb__store_element(bits[i], 2, out + 2 * i);
    } else if (size == 4) {
        for (size_t i = 0; i < n; i++)
            zb__store_element(bits[i], 4, out + 4 * i);
    } else {
        memcpy(out, bits, 8 * n);
    }
}
