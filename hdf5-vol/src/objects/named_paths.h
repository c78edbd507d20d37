/* SPDX-License-Identifier: MIT */
/*
 * The paths of named datatypes in what was made with them: the member "named" of side.h, of
 * datasets and of the entries of attributes (objects/named_types.h). They follow the types.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_OBJECTS_NAMED_PATHS_H
#define ZARRBRIDGE_HDF5_VOL_OBJECTS_NAMED_PATHS_H

#include "tree/tree.h"

/* A path that becomes another one; with `below` those that begin with it, too; with `types_of` only
   where a named datatype of that file is at the new path. */
typedef struct vol_path_change {
    const char *from, *to;
    bool below;
    vol_file *types_of;
} vol_path_change;

/* In a node and all known ones below it. */
enum zb_code vol_named_paths_change(vol_node *node, const vol_path_change *path, zb_error *err);

/* The nodes that have such a path, which stay in memory meanwhile. Zeros make an empty list. */
typedef struct vol_path_users {
    vol_node **node;
    size_t count, capacity;
} vol_path_users;

/* Before `top` is moved: where a type moves, all nodes of the store are looked at. */
enum zb_code vol_named_paths_gather(vol_node *top, vol_path_users *users, zb_error *err);

/* After that, with both paths in the open file. */
enum zb_code vol_named_paths_moved(const vol_path_users *users, const char *old_path,
                                   const char *new_path, zb_error *err);
void vol_path_users_clear(vol_path_users *users);

/* `top` is a copy of what is at that path. Paths of types that were not copied stay. */
enum zb_code vol_named_paths_copied(vol_node *top, const char *old_path, zb_error *err);

#endif
