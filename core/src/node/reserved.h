/* SPDX-License-Identifier: MIT */
/* Paths at which nodes may be created. */
#ifndef ZB_NODE_RESERVED_H
#define ZB_NODE_RESERVED_H

#include "zarrbridge/error.h"

/* Checks that a node may be created at a path. Beyond zb__path_check, the path must have no control
   character or backslash, and no name that is in the way of objects; the last one must not be
   reserved (zb_name_is_reserved). Groups above that have a reserved name may be there:
   zb__change_above refuses to create them. */
enum zb_code zb__path_check_new(const char *path, zb_error *err);

/* The same for a copy of a node in another hierarchy: its name may be one that begins with "__". */
enum zb_code zb__path_check_copy(const char *path, zb_error *err);

/* Of the place that a node is copied or moved to: it may keep such a name, and get no new one. */
enum zb_code zb__path_check_target(const char *from, const char *to, zb_error *err);

#endif
