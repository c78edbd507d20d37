/* SPDX-License-Identifier: MIT */
/* The optional operation that appends to datasets: see zarrbridge/hdf5.h. */
#ifndef ZARRBRIDGE_HDF5_VOL_CALLBACKS_APPEND_H
#define ZARRBRIDGE_HDF5_VOL_CALLBACKS_APPEND_H

#include "objects/object.h"

/* Tells HDF5 of the operation, once for each of its lives. */
void vol_append_register(h5_lib *lib);

/* Whether that is an optional operation on a dataset. */
bool vol_is_append(const h5_lib *lib, int operation);

herr_t vol_append_optional(const vol_object *object, H5VL_optional_args_t *args);

#endif
