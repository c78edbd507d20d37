/* SPDX-License-Identifier: MIT */
/*
 * Elements of variable length: what zb__scatter is for numbers. An element is a zb_slice, or a
 * struct with some, that points at bytes elsewhere; a copy of it points at bytes of its own, which
 * a zb_values holds.
 */
#ifndef ZB_TYPES_VALUES_H
#define ZB_TYPES_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "types/scatter.h"
#include "zarrbridge/values.h"

/* Bytes of memory that it holds. One thread at a time. */
size_t zb__values_bytes(zb_values *values);

/* Copies the elements of a box, and into `values` the bytes that they point at: for each box they
   come to lie side by side. Both types are equal. ZB_ENOMEM. Any thread. */
enum zb_code zb__values_copy(zb_values *values, const zb__box_copy *copy, const void *src,
                             void *dst, zb_error *err);

/* Sets all elements of the box to one, whose bytes are copied once. */
enum zb_code zb__values_fill(zb_values *values, const zb__box_copy *copy, const void *element,
                             void *dst, zb_error *err);

/* The bytes that the elements of a box point at, together. ZB_EINVAL for text that is not UTF-8,
   for slices longer than memory, and for null_terminated_bytes that have more characters than the
   fixed_length_utf32 of dst_dtype holds, with the place of the first in the box. dst_strides are
   not used. */
enum zb_code zb__values_measure(const zb__box_copy *copy, const void *src, uint64_t *bytes,
                                zb_error *err);

/* The bytes that one element points at. */
uint64_t zb__values_bytes_of(zb_dtype dtype, const void *element);

/* True if two elements are equal, by the bytes that they point at. */
bool zb__values_equal(zb_dtype dtype, const void *a, const void *b);

#endif
