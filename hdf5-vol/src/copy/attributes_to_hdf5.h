/* SPDX-License-Identifier: MIT */
/* The attributes of a node, made anew in an HDF5 file. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_ATTRIBUTES_TO_HDF5_H
#define ZARRBRIDGE_HDF5_VOL_COPY_ATTRIBUTES_TO_HDF5_H

#include "copy/nested.h"
#include "copy/scale_references.h"
#include "tree/node.h"
#include "tree/tree.h"

/* A native object. */
typedef struct vol_native_target {
    h5_lib *lib;
    hid_t dxpl;
    void *object;
    H5I_type_t type;
} vol_native_target;

/* Copies all attributes but the references of dimension scales, whose targets may not exist yet,
   and without a map also but those with other references. */
herr_t vol_attrs_to_hdf5(const vol_native_target *target, vol_node *node,
                         const vol_reference_map *references);

/* Copies those. */
herr_t vol_reference_attrs_to_hdf5(const vol_native_target *target, vol_node *node,
                                   const vol_reference_map *references);

/* Whether a node has those, and copies them, when all other objects have been copied: `address`
   tells the address of a copy by the token of its node. */
bool vol_scales_are_referring(vol_node *node);
herr_t vol_scales_to_hdf5(const vol_native_target *target, vol_node *node, vol_new_address address,
                          void *context);

/* ---- Comments ---- */

/* Comments of objects, between stores and HDF5 files. Both push errors. */

/* To a native object of that type. */
herr_t vol_comment_to_hdf5(vol_node *node, void *object, H5I_type_t type, hid_t dxpl);

/* From an object of an HDF5 file. Refuses text that is not UTF-8. */
herr_t vol_comment_from_hdf5(hid_t source, vol_node *node);

#endif
