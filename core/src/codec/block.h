/* SPDX-License-Identifier: MIT */
/*
 * Blocks of elements, for codecs that compute with many of them: what number.h is for one. Loops
 * over a block have one type each, so that the compiler vectorises them. Elements lie anywhere, in
 * host byte order; a block has at most ZB__BLOCK elements.
 */
#ifndef ZB_CODEC_BLOCK_H
#define ZB_CODEC_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/dtype.h"

#define ZB__BLOCK 512 /* its doubles fit the first-level cache several times */

/* The elements of the block that begins at element `done` of `count`. */
static inline size_t zb__block_at(uint64_t done, uint64_t count) {
    return count - done < ZB__BLOCK ? (size_t)(count - done) : ZB__BLOCK;
}

/* The nearest doubles of numbers. */
void zb__block_reals(zb_dtype dtype, const void *elements, size_t n, double *out);

/* Makes them the nearest floats of that width, as zb__real_narrow. */
void zb__block_narrow(uint32_t size, double *reals, size_t n);

/* The nearest integers, ties to even; the sign of a zero stays. */
void zb__block_round(double *reals, size_t n);

/* The first that is not finite though its origin is, or n. */
size_t zb__block_overflow(const double *origins, const double *reals, size_t n);

/* Stores them as zb__number_cut; returns n, or the place of the first that does not fit, behind
   which nothing is stored. */
size_t zb__block_cut(zb_dtype dtype, const double *reals, size_t n, void *elements);

/* Stores them as zb__number_clamp. */
void zb__block_clamp(zb_dtype dtype, const double *reals, size_t n, void *elements);

/* The bits of integers, extended to 64 by their own sign. */
void zb__block_bits(zb_dtype dtype, const void *elements, size_t n, uint64_t *out);

/* Stores the low `size` bytes of each. */
void zb__block_store_bits(uint32_t size, const uint64_t *bits, size_t n, void *elements);

#endif
