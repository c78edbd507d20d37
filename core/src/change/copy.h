/* SPDX-License-Identifier: MIT */
/* Copying nodes of version 3. */
#ifndef ZB_CHANGE_COPY_H
#define ZB_CHANGE_COPY_H

#include <stdbool.h>

#include "util/names.h"
#include "zarrbridge/hierarchy.h"

/* What a copy brings to its place, where one of the nodes is of version 2, or changes otherwise. */
typedef struct zb__older {
    bool always;      /* set by the caller: the copy changes nodes of version 3, too */
    zb__names nodes;  /* all of them, or none where all are of version 3 */
    zb__names others; /* keys of objects that belong to no node */
} zb__older;

/* zb_node_copy for hierarchies that have no node of version 2. Where one of the nodes is, nothing
   is copied, and *older has what is to be copied; the caller frees its lists in any case. older:
   NULL where the caller knows that there is none. The nodes are listed under the lock of the
   target, once. */
enum zb_code zb__copy_as_it_is(zb_hierarchy *from, const char *from_path, zb_hierarchy *to,
                               const char *to_path, zb__older *older, zb_error *err);

/* Copies the hidden arrays of a node of version 3 (zarrbridge/change.h) to another node. */
enum zb_code zb__hidden_copy(zb_hierarchy *from, const char *from_path, zb_hierarchy *to,
                             const char *to_path, zb_error *err);

#endif
