/* SPDX-License-Identifier: MIT */
/*
 * The names of committed datatypes in what was made with them: the member "named" of side.h, of
 * datasets and of the entries of attributes (objects/committed_types.h). They stay when types move;
 * another one comes with a type's first path, and with copies.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_OBJECTS_COMMITTED_PATHS_H
#define ZARRBRIDGE_HDF5_VOL_OBJECTS_COMMITTED_PATHS_H

#include "tree/copies.h"

/* A name becomes another one, in a node and all known ones below it. */
enum zb_code vol_committed_paths_change(vol_node *node, const char *from, const char *to,
                                        zb_error *err);

/* `copy` is the copy of a node, and all others are there: what was made with types that were copied
   was made with their copies. Names of other types stay. */
enum zb_code vol_committed_paths_copied(const vol_copies *copies, vol_node *copy, zb_error *err);

#endif
