/* SPDX-License-Identifier: MIT */
/* What was copied from store to store, for those who keep what leads from one node to another. */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_COPIES_H
#define ZARRBRIDGE_HDF5_VOL_TREE_COPIES_H

#include "tree/tree.h"

typedef struct vol_copies {
    const vol_node *top;                                       /* where the copy began */
    vol_node *(*copy_of)(void *context, const vol_node *node); /* NULL: the node was not copied */
    void *context;
} vol_copies;

#endif
