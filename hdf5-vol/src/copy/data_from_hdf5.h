/* SPDX-License-Identifier: MIT */
/* The elements of a dataset in an HDF5 file, written into its copy in a store. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_DATA_FROM_HDF5_H
#define ZARRBRIDGE_HDF5_VOL_COPY_DATA_FROM_HDF5_H

#include "copy/nested.h"
#include "tree/node.h"

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

/* Pushes what kept an object called so from being copied; -1. */
herr_t vol_import_failed(h5_lib *lib, const char *name, zb_error *err);

#endif
