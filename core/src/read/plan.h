/* SPDX-License-Identifier: MIT */
/*
 * From boxes to tasks. The way of the data through a read:
 *
 *     zb_read[]     --split by the grid-->            stored chunks (one per object, with pieces)
 *     stored chunk  --expand (expand.c)-->            leaves (one per chunk to decode, by offset)
 * leaves --merge neighbours (ranged_read.c)--> tasks (one ranged read, decode and scatter)
 *
 * at_once.h and flow.h are the two ways to go there. A plan is executed in waves of a bounded
 * number of stored chunks, so that its memory and its open files do not grow with the request.
 */
#ifndef ZB_READ_PLAN_H
#define ZB_READ_PLAN_H

#include "read/piece.h"
#include "read/progress.h"
#include "zarrbridge/node.h"

/* A checked, non-empty box of one array, in the array's coordinates. */
typedef struct zb__box {
    const zb_node *node;
    zb__piece *piece;
} zb__box;

/* Reads all boxes. Boxes of one call may touch the same chunks. is_fresh: past the caches, which
   could serve elements of an older version where versions cannot be told apart for sure. progress:
   with the elements of all boxes as its total, or NULL. */
enum zb_code zb__plan_run(const zb__box *boxes, size_t count, bool is_fresh, zb__progress *progress,
                          zb_error *err);

#endif
