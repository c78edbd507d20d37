/* SPDX-License-Identifier: MIT */
/* Storing, and giving up, what waits below a node, by its owners (owners.h). */
#ifndef ZARRBRIDGE_HDF5_VOL_FILE_OWNERS_BELOW_H
#define ZARRBRIDGE_HDF5_VOL_FILE_OWNERS_BELOW_H

#include "file/owners.h"
#include "tree/node.h"

/* Stores data and attributes that wait below a node (links: link_store.h). All are tried. The error
   is the first one of a node that concerns the handle. */
enum zb_code vol_owners_flush_below(vol_node *node, vol_owners handle, zb_error *err);

/* Whether anything that concerns the handle waits below a node, links included. */
bool vol_owners_wait_below(vol_node *node, vol_owners handle);

/* These handles own nothing below a node any more. Data and attributes that were theirs alone are
   forgotten. Changed links of a group have others that lead to them: they go on waiting, and with
   them what else waits in their node, for everyone. */
void vol_owners_abandon_below(vol_node *node, vol_owners handles);

#endif
