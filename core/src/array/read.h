/* SPDX-License-Identifier: MIT */
#ifndef ZB_ARRAY_READ_H
#define ZB_ARRAY_READ_H

#include "array/plan.h"

/* A checked, non-empty box of one array, in the array's coordinates. */
typedef struct zb__box {
    const zb_node *node;
    zb__piece *piece;
} zb__box;

/* Reads all boxes. Boxes of one call may touch the same chunks. is_fresh: past the caches, which
   could serve elements of an older version where versions cannot be told apart for sure. */
enum zb_code zb__plan_run(const zb__box *boxes, size_t count, bool is_fresh, zb_error *err);

/* As zb_array_read, for a writer that holds the locks of what it reads: past the caches, and
   without asking whether the array is still the same. */
enum zb_code zb__array_read_fresh(const zb_read *reads, size_t count, zb_error *err);

#endif
