/* SPDX-License-Identifier: MIT */
#ifndef ZB_CHECK_OBJECT_H
#define ZB_CHECK_OBJECT_H

#include <stdbool.h>

#include "util/scratch.h"
#include "zarrbridge/check.h"
#include "zarrbridge/node.h"

/* Called for each error of an object; any result but ZB_OK stops the check. */
typedef struct zb__object_check {
    void *context;
    enum zb_code (*found)(void *context, enum zb_finding_kind kind, const zb_error *what);
    uint64_t inner_chunks, bytes; /* counted */
    bool is_there;                /* set: there is an object */
} zb__object_check;

/* Decodes all inner chunks of the chunk or shard at this place. ZB_OK when the check got through.
   Any thread. */
enum zb_code zb__object_check_run(zb__object_check *check, const zb_node *array,
                                  const uint64_t *index, zb__scratch *scratch, zb_error *err);

/* Does the error of reading an object tell of the way to it, and nothing of the object? So do those
   of the network (a server is busy or denies access, or the object keeps changing), and rights that
   the program does not have. */
bool zb__object_is_out_of_reach(const zb_hierarchy *hierarchy, const zb_error *err);

#endif
