/* SPDX-License-Identifier: MIT */
/* The marker at a path that a node is being copied to, or that a whole store is being erased at,
   and what else lies at such a path. */
#ifndef ZB_CHANGE_COPY_MARKER_H
#define ZB_CHANGE_COPY_MARKER_H

#include <stdbool.h>

#include "zarrbridge/hierarchy.h"

/* Whether the marker is there. */
enum zb_code zb__copy_marker_find(zb_hierarchy *hierarchy, const char *path, bool *out,
                                  zb_error *err);

/* Puts the marker at the path, or erases it. */
enum zb_code zb__copy_marker(zb_hierarchy *hierarchy, const char *path, bool put, zb_error *err);

/* ZB_ECONFLICT when another program's files are in the place of a new node: nothing replaces them,
   nor do they become a part of it. Where the marker is, they are left-overs. The store can list. */
enum zb_code zb__place_refuse_others(zb_hierarchy *hierarchy, const char *path, zb_error *err);

#endif
