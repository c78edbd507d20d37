/* SPDX-License-Identifier: MIT */
/* The chunks (shards, where there are some) of an array that a copy has to visit, as others hold
   the fill value alone. Each is a number, in C order of the array's grid. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_STORED_H
#define ZARRBRIDGE_HDF5_VOL_COPY_STORED_H

#include "hdf5/library.h"
#include "zarrbridge/zarrbridge.h"

typedef struct vol_stored {
    const zb_node *array; /* whose grid counts: the Zarr side of a copy; borrowed */
    uint64_t *numbers;    /* in order, each once; freed with vol_stored_free */
    size_t count, room;
} vol_stored;

/* Those that a dataset of HDF5 has written, which is copied into `array`; those that `array` itself
   has. False when that cannot be told, or takes longer than visiting all: the caller visits all.
   Pushes no error. */
bool vol_stored_of_hdf5(h5_lib *lib, hid_t source, const zb_node *array, vol_stored *out);
bool vol_stored_of_array(const zb_node *array, vol_stored *out);

void vol_stored_free(vol_stored *stored);

#endif
