/* SPDX-License-Identifier: MIT */
/*
 * The paths of named datatypes in what was made with them: the member "named" of side.h, of
 * datasets and of the entries of attributes (objects/named_types.h). They follow the types.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_MODEL_NAMED_PATHS_H
#define ZARRBRIDGE_HDF5_VOL_MODEL_NAMED_PATHS_H

#include "model/tree.h"

#define VOL_SIDE_NAMED "named"

/* A path that becomes another one; with `below` those that begin with it, too. */
typedef struct vol_path_change {
    const char *from, *to;
    bool below;
} vol_path_change;

/* In a node and all known ones below it. */
enum zb_code vol_named_paths_change(vol_node *node, const vol_path_change *path, zb_error *err);

/* `top` has been moved from that path of the open file, or is a copy of what is there. Where a type
   has moved, all nodes of the store are looked at. */
enum zb_code vol_named_paths_moved(vol_node *top, const char *old_path, zb_error *err);
enum zb_code vol_named_paths_copied(vol_node *top, const char *old_path, zb_error *err);

#endif
