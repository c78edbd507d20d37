/* SPDX-License-Identifier: MIT */
/* Storing links of all kinds that have changed, and what else groups keep. */
#ifndef ZARRBRIDGE_HDF5_VOL_LINKS_LINK_STORE_H
#define ZARRBRIDGE_HDF5_VOL_LINKS_LINK_STORE_H

#include "tree/node.h"

/* Stores the links of all kinds that have changed, below a node, and what else groups keep. */
enum zb_code vol_links_store_below(vol_node *node, zb_error *err);

/* Stores all that vol_alias_forget forgets of a node, and no more. */
enum zb_code vol_links_store_own(vol_node *node, zb_error *err);

/* The same for all nodes from `top` on, with the groups that hold links to them. */
enum zb_code vol_links_store_around(vol_node *top, zb_error *err);

#endif
