/* SPDX-License-Identifier: MIT */
/*
 * Types that the connector keeps between calls, in HDF5's own encoding.
 *
 * An id would count among the objects that a program has open (H5Fget_obj_count and H5Fget_obj_ids
 * of all files), and the program could close it. Making an id of the encoding takes as long as
 * copying a type does.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_HDF5_HELD_TYPES_H
#define ZARRBRIDGE_HDF5_VOL_HDF5_HELD_TYPES_H

#include "hdf5/library.h"

/* Keeps a type, for vol_held_free. False on failure; none is held then. */
bool vol_type_hold(h5_lib *lib, hid_t type, vol_held_type *out);

/* A new id, which the caller closes; -1 where none is held. */
hid_t vol_held_new(h5_lib *lib, const vol_held_type *held);

/* H5Tequal with the held type. */
bool vol_held_is(h5_lib *lib, const vol_held_type *held, hid_t type);

/* Forgets it; none is held afterwards. */
void vol_held_free(vol_held_type *held);

#endif
