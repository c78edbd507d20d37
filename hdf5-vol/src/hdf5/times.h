/* SPDX-License-Identifier: MIT */
/* numpy's times in HDF5: opaque elements of 8 bytes whose tag is h5py's, as "NUMPY:<M8[10us]". */
#ifndef ZARRBRIDGE_HDF5_VOL_HDF5_TIMES_H
#define ZARRBRIDGE_HDF5_VOL_HDF5_TIMES_H

#include "hdf5/library.h"
#include "zarrbridge/zarrbridge.h"

/* False when `type` is no such type. Else *dtype is a datetime or timedelta, `swapped` as the tag
   says, whose detail is *detail. */
bool vol_time_of(h5_lib *lib, hid_t type, zb_dtype_detail *detail, zb_dtype *dtype);

/* The same of the name of a Zarr type: "numpy.datetime64[10us]". */
bool vol_time_named(const char *name, zb_dtype_detail *detail, zb_dtype *dtype);

#endif
