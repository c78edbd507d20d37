/* SPDX-License-Identifier: MIT */
/*
 * The references of dimension scales in copies between stores and HDF5 files: they hold addresses
 * of their file, and lead to the copies in the other one. What was not copied is left out of the
 * lists.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_SCALE_REFERENCES_H
#define ZARRBRIDGE_HDF5_VOL_COPY_SCALE_REFERENCES_H

#include "copy/walk.h"
#include "hdf5/library.h"
#include "tree/tree.h"

/* The address of the copy of what lies at an address; 0 when there is none. */
typedef uint64_t (*vol_new_address)(void *context, uint64_t address);

/* Whether an attribute of a dataset has such references: by its name and type. */
bool vol_scale_refs_are(h5_lib *lib, const char *name, hid_t type);

/* The elements of such an attribute with the addresses of the copies, in one block (malloc'ed), and
   their number, which is lower where a reference back is left out. NULL when memory runs out. */
void *vol_scale_refs_convert(h5_lib *lib, hid_t type, size_t *count, const void *elements,
                             vol_new_address address, void *context);

/* Whether any of them, after that, leads somewhere. */
bool vol_scale_refs_any(h5_lib *lib, hid_t type, size_t count, const void *elements);

/* ---- From an HDF5 file ---- */

/*
 * The references of dimension scales on their way from an HDF5 file into a store: they are read
 * with their dataset, and stored when everything has been copied. A dimension whose scales were not
 * copied is still called like the first of them.
 */

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
