/* SPDX-License-Identifier: MIT */
/*
 * Nodes outside the hierarchy: made without a name, or deleted while they have ids. A file has a
 * list of those that lie in no group; what lies below a deleted group is loose with it.
 *
 * Such a node works on while its content is in a store of its own, in memory: that of a nameless
 * node until it gets a name, that of a deleted one until its last id goes (deleted.h). Without one
 * the node is gone, and only its ids are left.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_LOOSE_H
#define ZARRBRIDGE_HDF5_VOL_TREE_LOOSE_H

#include "tree/structs.h"

#include "zarrbridge/zarrbridge.h"

typedef struct vol_loose {
    vol_node *next;          /* of the file's list */
    zb_hierarchy *hierarchy; /* its own; NULL: none */
} vol_loose;

/* Puts a loose node without a parent into the list of its file, or takes it out. */
void vol_loose_add(vol_node *node);
void vol_loose_take(vol_node *node);

/* The next one of the list; the first one after NULL. NULL at the end. */
vol_node *vol_loose_next(const vol_file *file, const vol_node *node);

/* The store of a node's own, borrowed. The second one takes it over, in place of the one before;
   NULL: none. */
zb_hierarchy *vol_loose_hierarchy(const vol_node *node);
void vol_loose_set_hierarchy(vol_node *node, zb_hierarchy *hierarchy);

/* Whether a node has been deleted and nothing of it is kept. */
bool vol_node_is_gone(const vol_node *node);

#endif
