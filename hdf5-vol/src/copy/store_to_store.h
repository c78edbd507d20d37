/* SPDX-License-Identifier: MIT */
/*
 * H5Ocopy within a store and from store to store: nodes are copied as they stand in the store, a
 * group with all below it at once, and then what must not stay as it stood: links, and what tells
 * paths.
 *
 * A hard link leads to the copy of its node, and to a copy of its own where the node lies outside
 * of what was copied.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_STORE_TO_STORE_H
#define ZARRBRIDGE_HDF5_VOL_COPY_STORE_TO_STORE_H

#include "copy/walk.h"

/* Copies node with all below it; the file of `place` may be another one. *begun (NULL before) is
   the copy; after an error it is what there is of it, for vol_edit_discard, or NULL. Pushes
   errors. */
herr_t vol_copy_in_stores(vol_node *node, const vol_place *place, const vol_copy_request *request,
                          vol_node **begun);

#endif
