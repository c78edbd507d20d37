/* SPDX-License-Identifier: MIT */
/* The encoder of the tests' arrays: chunks to bytes, by the specification of their array. */
#ifndef ZB_TEST_ARRAYS_ENCODE_H
#define ZB_TEST_ARRAYS_ENCODE_H

#include "support/arrays.h"

/* malloc'ed bytes */
typedef struct arrays_bytes {
    unsigned char *data;
    size_t size;
} arrays_bytes;

/* A C-order block twice: `plain` has fill values beyond the array's edge, `real` garbage. */
typedef struct arrays_block {
    uint64_t shape[ARRAYS_NDIM];
    unsigned char *plain, *real;
} arrays_block;

arrays_block arrays_new_block(const arrays_sample *a, const uint64_t *shape);
void arrays_free_block(arrays_block *b);

/* The array's fill value. */
void arrays_fill(const arrays_sample *a, unsigned char *out);
bool arrays_is_fill(const arrays_sample *a, const arrays_block *b);

/* The object of a block that is a chunk of this level of sharding. */
arrays_bytes arrays_encode(const arrays_sample *a, const arrays_block *b, uint32_t level,
                           check_random *random);

#endif
