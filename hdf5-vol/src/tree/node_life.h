/* SPDX-License-Identifier: MIT */
/* Nodes are made, get another document, and are freed, with the parts of all owners. */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_NODE_LIFE_H
#define ZARRBRIDGE_HDF5_VOL_TREE_NODE_LIFE_H

#include "tree/node.h"

/* A new node without a place. Takes over `zarr` (NULL for a synthetic root), also on failure. */
enum zb_code vol_node_new(vol_file *file, zb_node *zarr, vol_node **out, zb_error *err);

/* Frees a node and all below it. */
void vol_node_free(vol_node *node);

/* Puts a changed core node in place of the old one; takes it over. False when another process has
   made a node there that open ids cannot follow to: of another kind or number of dimensions. The
   list of attributes stays as it is, unless names or lengths of dimensions have changed. */
bool vol_node_replace(vol_node *node, zb_node *zarr);

#endif
