/* SPDX-License-Identifier: MIT */
/* Conversion between the numbers that processors have: bools, integers, floats, complex ones, and
   counts of time. */
#ifndef ZB_TYPES_CONVERT_H
#define ZB_TYPES_CONVERT_H

#include "types/move.h"

/* As the member `convert` of a kind. */
bool zb__numbers_convert(zb_dtype from, zb_dtype to, zb__move *move);

/* The move where that holds, or for two bools. */
zb__move zb__numbers_move(zb_dtype from, zb_dtype to);

/* Are they a count of time and its int64, whose bytes mean the same? */
bool zb__numbers_same(zb_dtype a, zb_dtype b);

/* Converts n elements, for which zb__numbers_convert holds; of equal types, too. */
void zb__numbers_run(zb_dtype from, const void *src, int64_t src_stride, zb_dtype to, void *dst,
                     int64_t dst_stride, size_t n);

#endif
