/* SPDX-License-Identifier: MIT */
/*
 * H5Ocopy within a store and from store to store: nodes are copied as they stand in the store, and
 * then what must not stay as it stood: links, and what tells paths.
 *
 * A copy holds each object once, as HDF5's copies do: a hard link leads to the copy of its node,
 * and to a copy of its own where the node lies outside of what was copied. Soft links are copied as
 * they are, or, if the program wishes, become hard ones in the same way.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_STORE_TO_STORE_H
#define ZARRBRIDGE_HDF5_VOL_COPY_STORE_TO_STORE_H

#include "tree/tree.h"

/* How to copy: H5O_COPY_... */
typedef struct vol_copying {
    bool shallow; /* of groups below the node only the groups themselves */
    bool without_attributes;
    bool expand_soft;     /* what soft links lead to, instead of the links */
    bool expand_external; /* likewise; refused where there are external links */
} vol_copying;

/* Copies node with all below it; the file of `place` may be another one. *made (NULL before) is the
   copy; after an error it is what there is of it, for vol_edit_discard, or NULL. */
enum zb_code vol_edit_copy(vol_node *node, const vol_place *place, const vol_copying *how,
                           vol_node **made, zb_error *err);

#endif
