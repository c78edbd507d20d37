/* SPDX-License-Identifier: MIT */
/*
 * Reading ahead of a walk over a distant store: the names and documents of groups that the walk
 * comes to next are asked for together, so that a walk takes round trips by the depth of the tree
 * and not by its groups. What comes is kept (hierarchy/metadata.h), and spares the requests later.
 */
#ifndef ZB_NODE_PREFETCH_H
#define ZB_NODE_PREFETCH_H

#include "util/names.h"
#include "zarrbridge/node.h"

/* The most groups that are listed at once. */
#define ZB__GROUPS_AHEAD 64

/* Lists the group at `path`, and up to `groups` further groups of the same depth that a walk comes
   to next, all at once, into the metadata cache. Errors are not reported: the walk lists those
   groups again, and gets them then. */
void zb__prefetch_read(zb_hierarchy *hierarchy, const char *path, size_t groups);

/* As zb__prefetch_read, with a number of groups that follows from what the program has listed at
   this depth so far: 0 for its first group, then a multiple of those that it has listed. */
void zb__prefetch_guess(zb_hierarchy *hierarchy, const char *path);

#endif
