/* SPDX-License-Identifier: MIT */
/* Optional operations on the chunks of a dataset: their number, places and sizes, and their bytes
   as HDF5's filters make them (direct_chunks.h). */
#ifndef ZARRBRIDGE_HDF5_VOL_CALLBACKS_CHUNKS_H
#define ZARRBRIDGE_HDF5_VOL_CALLBACKS_CHUNKS_H

#include "objects/object.h"

/* Whether an optional operation on a dataset (H5VL_NATIVE_DATASET_...) is one of these. */
bool vol_is_about_chunks(int operation);

herr_t vol_chunks_optional(const vol_object *object, H5VL_optional_args_t *args);

/* ---- Appending ---- */

/* The optional operation that appends to datasets: see zarrbridge/hdf5.h. */

/* Tells HDF5 of the operation, once for each of its lives. */
void vol_append_register(h5_lib *lib);

/* Whether that is an optional operation on a dataset. */
bool vol_is_append(const h5_lib *lib, int operation);

herr_t vol_append_optional(const vol_object *object, H5VL_optional_args_t *args);

#endif
