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

/* The groups whose names are worth asking for at once. */
#define ZB__GROUPS_AHEAD 64

/* Asks for the names below the group and below `groups` others, as deep as it is, that follow it.
   Failures are left to who asks for the same later. */
void zb__prefetch_read(zb_hierarchy *hierarchy, const char *path, size_t groups);

/* The same by what programs do: nothing where the first group of its depth is listed, and at each
   further one some times as many as have been. */
void zb__prefetch_guess(zb_hierarchy *hierarchy, const char *path);

#endif
