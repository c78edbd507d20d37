/* SPDX-License-Identifier: MIT */
/*
 * Nodes and links that a file lets go when it has many; not with netcdf_dimensions, whose datasets
 * are made once. What is pinned stays: nodes with open ids, those that a walk is in, and both ends
 * of a second hard link (aliases.h), with all above them. What was forgotten is opened again when
 * it is asked for.
 *
 * In a file that is written a node also stays while it tells what the store does not: changes of
 * links, statements about scales, data or attributes that cannot be stored. Data and attributes
 * that wait are stored before their node goes.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_FILE_FORGET_H
#define ZARRBRIDGE_HDF5_VOL_FILE_FORGET_H

#include "tree/tree.h"

/* Before a program's call looks for nodes: forgets all that is not pinned when there is much of it.
   No caller further up may have found a node without a pin. */
void vol_file_tidy(vol_file *file);

/* The same at the start of a call: nobody has found any node yet but those of ids. In files that
   are written, where the pins of links' and edits' callers are not enough, only this one
   forgets. */
void vol_file_tidy_all(vol_file *file);

/* Between these two, nothing is forgotten: the caller keeps nodes while it looks for others, or
   calls HDF5, which may come back with calls of its own. */
void vol_file_hold(vol_file *file);
void vol_file_let_go(vol_file *file);

/* A walk has left the node of a link, or all below a group, and does not come back: forgets it when
   the file has more than few. It is gone then for the caller. */
void vol_link_forget(vol_link *link);
void vol_tree_forget(vol_node *group);

#endif
