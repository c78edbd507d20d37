/* SPDX-License-Identifier: MIT */
/*
 * The references of dimension scales on their way from an HDF5 file into a store: they are read
 * with their dataset, and stored when everything has been copied. A dimension whose scales were not
 * copied is still called like the first of them.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_SCALES_FROM_HDF5_H
#define ZARRBRIDGE_HDF5_VOL_COPY_SCALES_FROM_HDF5_H

#include "copy/imported.h"
#include "tree/tree.h"

/* Begins with all zeros, but for these. */
typedef struct vol_scales_import {
    h5_lib *lib;
    hid_t dxpl;
    struct vol_scales_read *first;
} vol_scales_import;

/* Whether an attribute of a dataset has references of scales. */
bool vol_scales_import_takes(const vol_node *node, const char *name);

/* Reads one. `file`: what is made of the objects of its file, until all are stored. Pushes
   errors. */
herr_t vol_scales_import_attr(vol_scales_import *import, hid_t attr, const char *name,
                              vol_node *node, const vol_imported_file *file);

/* Stores all, unless the copy has failed already (`good`), and frees what has been read. */
herr_t vol_scales_import_end(vol_scales_import *import, bool good);

#endif
