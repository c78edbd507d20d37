/* SPDX-License-Identifier: MIT */
/* The elements of a dataset, on their way from an HDF5 file into a store and back. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_DATA_H
#define ZARRBRIDGE_HDF5_VOL_COPY_DATA_H

#include "attributes/attributes.h"
#include "attributes/elements.h"
#include "copy/walk.h"
#include "copy/nested.h"
#include "tree/node.h"

/* ---- From an HDF5 file ---- */

typedef struct vol_import {
    h5_lib *lib;
    hid_t dxpl;
    const vol_reference_map *references;
} vol_import;

/* The form in which elements pass: HDF5 reads it, the core writes it. */
typedef struct vol_import_form {
    hid_t type;
    zb_dtype dtype;
    zb_dtype narrow; /* of fewer bits, which must hold each element exactly; of size 0: none */
} vol_import_form;

/* Copies all elements of `source`, whose dataspace is `space`, and closes the writer. */
herr_t vol_data_from_hdf5(const vol_import *import, hid_t source, const vol_import_form *form,
                          hid_t space, vol_node *node);

/* ---- Into an HDF5 file ---- */

/* The context of vol_export_reference. */
typedef struct vol_export {
    const vol_copy *copy;
    const vol_node *node; /* that holds the references */
    bool expands;         /* they lead to the copies of their objects */
    bool are_null;        /* they lead nowhere: HDF5's rule */
} vol_export;

/* A vol_reference_visit: from a token in the store to an address in the HDF5 file. Refuses those
   that have none; pushes errors. */
bool vol_export_reference(const vol_form *form, uint64_t *token, void *vol_export);

/* Copies all elements. `space` is the dataset's dataspace. */
herr_t vol_data_to_hdf5(const vol_copy *copy, bool expands, vol_node *node, void *dataset,
                        hid_t space);

/* ---- Types that only Zarr has ---- */

/*
 * In HDF5 files, the attribute `zarr:data_type` (hdf5/shown.h), which
 * copies take along, names the type that a dataset's elements had in a store. A dataset that still
 * has the HDF5 type as which that one shows gets it back in a store.
 */

/* The type that a dataset of an HDF5 file names, for elements of the HDF5 type `type`: times,
   numbers of few bits and text of code points. False when it names none, or one that shows
   otherwise. `detail` is for *out. */
bool vol_zarr_type_of(h5_lib *lib, hid_t source, hid_t type, zb_dtype_detail *detail,
                      zb_dtype *out);

/* Whether `count` elements are the same after a conversion to another type and back. Buffers are
   made for a part of them at a time; a lack of memory counts as "no". */
bool vol_zarr_type_holds(zb_dtype from, const void *elements, size_t count, zb_dtype to);

/* What is said when they are not. */
enum zb_code vol_fail_narrow(zb_error *err);

#endif
