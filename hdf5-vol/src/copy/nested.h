/* SPDX-License-Identifier: MIT */
/* Pieces of arrays whose elements are texts in the store (data/nested.h), as elements of the
   dataset's HDF5 type. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_NESTED_H
#define ZARRBRIDGE_HDF5_VOL_COPY_NESTED_H

#include "attributes/elements.h"
#include "copy/pieces.h"
#include "tree/node.h"

/* The way of references from one file to the other; `visit` pushes an error when it returns
   false. */
typedef struct vol_reference_map {
    vol_reference_visit visit;
    void *context;
} vol_reference_map;

/* References as HDF5 copies them between files by default: null. */
extern const vol_reference_map vol_references_null;

/* A buffer for the elements of any piece; malloc'ed. Pushes an error and returns NULL without
   memory. */
void *vol_nested_buffer(const vol_pieces *pieces, vol_node *node);

/* Copies the current piece from a dataset of an HDF5 file into the node; `space` is the dataspace
   of the source. Both push errors. */
herr_t vol_nested_import(const vol_pieces *pieces, hid_t source, hid_t space, vol_node *node,
                         hid_t dxpl, const vol_reference_map *map, void *buffer);

/* Changes the references in the current piece of a dataset of a store. */
herr_t vol_nested_change(const vol_pieces *pieces, vol_node *node, const vol_reference_map *map,
                         void *buffer);

/* The way out of a store, into a native dataset. */
herr_t vol_nested_export(const vol_pieces *pieces, vol_node *node, void *dataset, hid_t space,
                         hid_t dxpl, const vol_reference_map *map, void *buffer);

#endif
