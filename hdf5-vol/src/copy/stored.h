/* SPDX-License-Identifier: MIT */
/* The chunks (shards, where there are some) of an array that a copy of a dataset of HDF5 into it
   has to visit, as others hold the fill value alone. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_STORED_H
#define ZARRBRIDGE_HDF5_VOL_COPY_STORED_H

#include "dataset/stored_chunks.h"
#include "hdf5/library.h"

/* Those that the dataset has written. False when that cannot be told: the caller visits all. Pushes
   no error. The caller frees the list. */
bool vol_stored_of_hdf5(h5_lib *lib, hid_t source, const zb_node *array, vol_stored_chunks *out);

#endif
