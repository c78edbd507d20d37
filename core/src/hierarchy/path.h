/* SPDX-License-Identifier: MIT */
/* Paths and names of nodes, and of what lies at them. */
#ifndef ZB_NODE_PATH_H
#define ZB_NODE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "zarrbridge/error.h"

/* Checks that zb_node_open takes this path; the message of ZB_EINVAL says why it does not. */
enum zb_code zb__path_check(const char *path, zb_error *err);

/* Joins prefix, a slash unless prefix is empty (the root), and name: malloc'ed, or NULL. */
char *zb__path_join(const char *prefix, const char *name);

/* How many names a path has. */
size_t zb__path_depth(const char *path);

/* Cuts the last part off, in place: that of the root's child, and of "", leaves "". */
void zb__path_up(char *path);

/* The last part of a path; points into it. */
const char *zb__path_name(const char *path);

/* The rest of path behind prefix and a slash, or NULL when path does not lie below prefix; all
   paths but "" lie below "". */
const char *zb__path_below(const char *path, const char *prefix);

/* The end of the names of nodes in the making (zb_aside_name), and whether a path has such a name
   in it. */
#define ZB__ASIDE_TAIL ".zarr3-new"
bool zb__path_is_aside(const char *path);

#endif
