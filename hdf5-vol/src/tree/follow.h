/* SPDX-License-Identifier: MIT */
/*
 * The tree of a rank that follows another (hdf5/mpi.h). Rank 0 alone changes documents: the others
 * see what it has made when they look anew. Changes of attributes are made by all, in memory, as
 * all ranks make the same ones; rank 0 alone stores them (waiting_store.h, link_store.h), and the
 * others forget them when a flush of all has succeeded.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_FOLLOW_H
#define ZARRBRIDGE_HDF5_VOL_TREE_FOLLOW_H

#include "tree/tree.h"

/* Rank 0 has made nodes: groups have names that are not known yet. */
enum zb_code vol_follow_made(vol_file *file, zb_error *err);

/* Rank 0 has changed the hierarchy in any way: all that is in memory is looked at again. Nodes that
   have gone are loose then. */
enum zb_code vol_follow_change(vol_file *file, zb_error *err);

/* Rank 0 has stored what waited here, too. */
enum zb_code vol_follow_flush(vol_file *file, zb_error *err);

#endif
