/* SPDX-License-Identifier: MIT */
/*
 * IEEE 754 binary16 in integer arithmetic.
 *
 * Compilers and processors differ in their support (_Float16, F16C, AVX512-FP16), and a double
 * narrowed through float would be rounded twice. These routines give the same bits everywhere and
 * do not depend on the flush-to-zero mode, which a program built with -ffast-math switches on.
 */
#ifndef ZB_UTIL_HALF_H
#define ZB_UTIL_HALF_H

#include <stdint.h>
#include <string.h>

/* Exact: every binary16 value is a binary32 value. NaNs keep sign and payload. Written without
   branches, so that a loop of it can be vectorised. */
static inline float zb__half_to_float(uint16_t half) {
    uint32_t magnitude = half & 0x7fffu;
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    /* Normal numbers: shift the fields into place and change the exponent's bias from 15 to 127.
       Infinity and NaN need the bias once more to reach binary32's highest exponent. */
    uint32_t bits = (magnitude << 13) + (112u << 23);
    bits += magnitude >= 0x7c00u ? 112u << 23 : 0;
    /* Subnormals: an integer count of 2^-24, which is a normal binary32. */
    float small = (float)(int32_t)magnitude * 0x1p-24f;
    uint32_t small_bits;
    memcpy(&small_bits, &small, sizeof small);
    bits = (magnitude < 0x0400u ? small_bits : bits) | sign;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounds to nearest, ties to even; 65520 and more become infinity. NaNs become quiet and keep their
   sign and the top of their payload. */
static inline uint16_t zb__half_from_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)((bits >> 48) & 0x8000u);
    bits &= INT64_MAX;
    uint64_t half;
    if (bits >= UINT64_C(0x40effe0000000000)) { /* 65520: halfway between 65504 and 2^16 */
        half = bits > UINT64_C(0x7ff0000000000000) ? 0x7e00u | ((bits >> 42) & 0x01ffu) : 0x7c00u;
    } else if (bits < UINT64_C(0x3f10000000000000)) { /* 2^-14: the smallest normal */
        /* At 2^28 doubles are 2^-24 apart, the spacing of half's subnormals: the addition
           rounds, and leaves the count of 2^-24 in the low bits. */
        double shifted;
        memcpy(&shifted, &bits, sizeof shifted);
        shifted += 0x1p28;
        memcpy(&half, &shifted, sizeof half);
        half &= 0x07ffu;
    } else {
        /* Change the bias from 1023 to 15, add half a unit less one plus the bit that decides ties;
           a carry runs into the exponent, as it should. */
        bits -= UINT64_C(1008) << 52;
        half = (bits + UINT64_C(0x1ffffffffff) + ((bits >> 42) & 1)) >> 42;
    }
    return (uint16_t)(half | sign);
}

/* A float of 2, 4 or 8 bytes in the host's order. The value is exact, as every narrower float is a
   double. A NaN stays a NaN, but may lose its bits. */
static inline double zb__load_float(const void *element, uint32_t size) {
    uint16_t half;
    float narrow;
    double wide;
    if (size == 2) {
        memcpy(&half, element, sizeof half);
        return (double)zb__half_to_float(half);
    }
    if (size == 4) {
        memcpy(&narrow, element, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, element, sizeof wide);
    return wide;
}

#endif
