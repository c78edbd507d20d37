/* SPDX-License-Identifier: MIT */
#ifndef ZB_ARRAY_READ_H
#define ZB_ARRAY_READ_H

#include "array/plan.h"

/* A checked, non-empty box of one array, in the array's coordinates. */
typedef struct zb__box {
    const zb_node *node;
    zb__piece *piece;
} zb__box;

/* Reads all boxes. Boxes of one call may touch the same chunks. */
enum zb_code zb__plan_run(const zb__box *boxes, size_t count, zb_error *err);

#endif
