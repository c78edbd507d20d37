/* SPDX-License-Identifier: MIT */
/* Consequences of the specification of a test's array: its document, and the places of elements. */
#ifndef ZB_TEST_ARRAYS_SPEC_H
#define ZB_TEST_ARRAYS_SPEC_H

#include "support/arrays.h"

uint64_t arrays_product(const uint64_t *shape, uint32_t ndim);

/* Counts index up in C order; false after the last. */
bool arrays_next_index(uint64_t *index, const uint64_t *shape, uint32_t ndim);

/* The number of the element at index, in C order. */
uint64_t arrays_place(const uint64_t *index, const uint64_t *shape, uint32_t ndim);

/* The number of the transpose of this level's pipeline: 0 or 1, or -1 for none. */
int arrays_transpose_of(const arrays_spec *s, uint32_t level);

/* The text of zarr.json. malloc'ed. */
char *arrays_document(const arrays_sample *a);

#endif
