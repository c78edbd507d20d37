/* SPDX-License-Identifier: MIT */
/* Blosc's filters, which bring like bytes, or like bits, of elements together; and their
   inverses. */
#ifndef ZB_CODEC_BLOSC_SHUFFLE_H
#define ZB_CODEC_BLOSC_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

/* The instructions to use. Callers ask for the best; tests ask for each. */
enum zb__simd { ZB__SIMD_NONE, ZB__SIMD_SSE2, ZB__SIMD_AVX2 };

/* The best instructions that this processor has. */
enum zb__simd zb__simd_best(void);

/* Byte planes (byte 0 of all elements, then byte 1, ...) become elements of typesize bytes. The
   size % typesize bytes behind the last whole element are copied. Buffers do not overlap. */
void zb__unshuffle(enum zb__simd simd, size_t typesize, const uint8_t *in, size_t size,
                   uint8_t *out);

/* The same with bit planes (bit 0 of byte 0 of all elements, bit 1, ...), eight elements to a byte.
   Where the number of whole elements is not a multiple of 8, blosc leaves the block as it is. */
void zb__bitunshuffle(enum zb__simd simd, size_t typesize, const uint8_t *in, size_t size,
                      uint8_t *out);

/* The filters: elements become planes. */
void zb__shuffle(enum zb__simd simd, size_t typesize, const uint8_t *in, size_t size, uint8_t *out);
void zb__bitshuffle(enum zb__simd simd, size_t typesize, const uint8_t *in, size_t size,
                    uint8_t *out);

#endif
