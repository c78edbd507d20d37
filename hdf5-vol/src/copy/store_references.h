/* SPDX-License-Identifier: MIT */
/*
 * References in what was copied from one store into another. They are names (tree/moved.h), which
 * in the other store lead to no object, or to another one. As HDF5 does, they become null, unless
 * what was copied has kept its path and nothing that is referred to has moved in either store.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_STORE_REFERENCES_H
#define ZARRBRIDGE_HDF5_VOL_COPY_STORE_REFERENCES_H

#include "copy/nested.h"
#include "tree/tree.h"

/* `node` has just been copied to a place. Pushes errors: the copy is there then. */
herr_t vol_references_copied(const vol_node *node, const vol_place *place);

/* Changes the references in the attributes and elements of one node. Pushes errors. */
herr_t vol_references_change(vol_node *node, const vol_reference_map *map);

#endif
