/* SPDX-License-Identifier: MIT */
/*
 * Ways from node to node, as they are stored: "../g/d" is `d` of the group `g` that lies beside the
 * node from which is looked, "." is that node itself. They lead from the *name* of one node to that
 * of the other (tree/moved.h), for most nodes from place to place: so they stay true when either is
 * moved, and when both are copied together.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_LINKS_PLACES_H
#define ZARRBRIDGE_HDF5_VOL_LINKS_PLACES_H

#include "tree/tree.h"

/* The node that has its place at a path of the store. NULL when there is none that the file
   shows. */
vol_node *vol_place_at(vol_file *file, const char *path);

/* The node at such a path. NULL when none has its place there, or the path leaves what the file
   shows. */
vol_node *vol_place_node(const vol_node *from, const char *text);

/* The same, NULL also when it has not been opened yet. */
vol_node *vol_place_opened(const vol_node *from, const char *text);

/* Whether such a way leads to `name` of a group, where nothing needs to be; false without
   memory. */
bool vol_place_leads_to(const vol_node *from, const char *text, const vol_node *group,
                        const char *name);

/* The group and the name at such a path, whether there is such a node or not. The name is
   malloc'ed; the group is NULL when there is none. */
vol_node *vol_place_parent(const vol_node *from, const char *text, char **name);

#endif
