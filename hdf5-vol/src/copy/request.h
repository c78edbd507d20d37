/* SPDX-License-Identifier: MIT */
/* What H5Ocopy asks for. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_REQUEST_H
#define ZARRBRIDGE_HDF5_VOL_COPY_REQUEST_H

#include "objects/object.h"

typedef struct vol_copy_request {
    const vol_object *to; /* where the copy goes: below this object, */
    const H5VL_loc_params_t *loc;
    const char *name; /* under this name */
    hid_t ocpypl, lcpl, dxpl;
} vol_copy_request;

#endif
