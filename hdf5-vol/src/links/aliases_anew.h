/* SPDX-License-Identifier: MIT */
/*
 * Hard links that other programs have made since the nodes were opened.
 *
 * A node that has such a link must not go with its place. So what is going to be deleted or moved
 * is looked at as it is in the store now.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_LINKS_ALIASES_ANEW_H
#define ZARRBRIDGE_HDF5_VOL_LINKS_ALIASES_ANEW_H

#include "tree/node.h"

/* Reads the names of a node and of all nodes below it, and the groups that hold these names. All
   nodes stay, those that other programs have deleted, too. */
enum zb_code vol_aliases_read_anew(vol_node *top, zb_error *err);

/* Reads the names of the nodes to which the hard links of a group lead, where these nodes do not
   know of them: the group has just been read anew. */
enum zb_code vol_aliases_read_ends(vol_node *group, zb_error *err);

#endif
