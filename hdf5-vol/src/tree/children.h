/* SPDX-License-Identifier: MIT */
/*
 * A walk over the nodes in a group, which are listed and opened:
 *
 *     vol_children walk = {.group = group};
 *     for (vol_node *child; (child = vol_children_next(&walk, err));)
 *         walk.code = act(child, err);
 *     return walk.code;
 *
 * Other links of the group lead to nodes whose place is elsewhere, and are passed. So is what
 * another process has deleted since the group was listed. Nodes that are open already, and no
 * others, are vol_links_opened of links.h.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_CHILDREN_H
#define ZARRBRIDGE_HDF5_VOL_TREE_CHILDREN_H

#include "tree/tree.h"

typedef struct vol_children {
    vol_node *group;      /* a node of another kind has none */
    bool passes_unopened; /* nodes that cannot be opened are passed, too */
    enum zb_code code;    /* the error that has ended the walk; one that the caller sets ends it */
    vol_link *link;       /* the place of the current node, */
    bool is_new;          /* which this walk has opened */
    size_t at;            /* of the next link */
    bool begun;
} vol_children;

/* NULL at the end. Nodes may come and go between two calls. */
vol_node *vol_children_next(vol_children *walk, zb_error *err);

#endif
