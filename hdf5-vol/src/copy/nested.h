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

/* Leads the references in elements of a type elsewhere. Pushes errors. */
herr_t vol_references_map(vol_file *file, hid_t type, size_t count, void *elements,
                          const vol_reference_map *map);

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

/* ---- Strings ---- */

/* Pieces of arrays of strings, or bytes of any number: the core's slices, and HDF5's char * or
   hvl_t in the same buffer. */

/* Reads the current piece into `buffer`, as char *, or hvl_t, of their own where the array holds
   such: to be freed with vol_strings_free, which the failed call has done. Pushes errors. */
herr_t vol_strings_read(const vol_pieces *pieces, vol_node *node, void *buffer);
void vol_strings_free(const vol_pieces *pieces, void *buffer);

/* Makes slices of what HDF5 has read into `buffer` (item: bytes of an item of a sequence); the
   second frees the texts of the slices. Both leave anything but strings as it is. */
void vol_strings_to_slices(const vol_pieces *pieces, size_t item, void *buffer);
void vol_slices_free(const vol_pieces *pieces, void *buffer);

#endif
