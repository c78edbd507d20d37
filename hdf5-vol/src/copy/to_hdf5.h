/* SPDX-License-Identifier: MIT */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_TO_HDF5_H
#define ZARRBRIDGE_HDF5_VOL_COPY_TO_HDF5_H

#include "objects/object.h"

/* H5Ocopy of a node, with what is below it, into a native file: below `target`, under `name`.
   Pushes errors. */
herr_t vol_copy_node(vol_node *node, const vol_object *target, const H5VL_loc_params_t *loc,
                     const char *name, hid_t ocpypl, hid_t lcpl, hid_t dxpl);

#endif
