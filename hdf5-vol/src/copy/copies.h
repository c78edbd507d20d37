/* SPDX-License-Identifier: MIT */
/* What H5Ocopy asks for; and the objects that one into an HDF5 file has made there: which node each
   one is a copy of, and where it lies. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_COPIES_H
#define ZARRBRIDGE_HDF5_VOL_COPY_COPIES_H

#include "objects/object.h"
#include "tree/map.h"
#include "tree/tree.h"

/* What is to be copied where, but for the source. */
typedef struct vol_copy_request {
    const vol_object *to; /* where the copy goes: below this object, */
    const H5VL_loc_params_t *loc;
    const char *name; /* under this name */
    hid_t ocpypl, lcpl, dxpl;
} vol_copy_request;

/* What has been copied. */
typedef struct vol_copies {
    h5_lib *lib;
    hid_t dxpl;
    vol_node *top; /* where the copy began */
    void *new_top; /* its native copy; NULL until it is there */
    H5I_type_t top_type;
    vol_map all; /* from tokens to the vol_copied of each, which the map owns */
} vol_copies;

typedef struct vol_copied {
    vol_node *node;
    char path[]; /* of its copy, seen from the copy of the top: "." for that */
} vol_copied;

/* Remembers a node's copy, `name` in the copy of a group with the path `above`; NULL when memory
   runs out. */
const vol_copied *vol_copies_add(vol_copies *copies, vol_node *node, const char *above,
                                 const char *name);

/* The address of node's copy in the HDF5 file; 0 when there is none. */
uint64_t vol_copies_address(const vol_copies *copies, const vol_node *node);

/* Opens a copy, for vol_native_close; NULL with an error pushed. */
void *vol_copies_open(const vol_copies *copies, const vol_node *node, H5I_type_t *type);

/* Forgets all of them, and closes the top's copy. */
void vol_copies_end(vol_copies *copies);

#endif
