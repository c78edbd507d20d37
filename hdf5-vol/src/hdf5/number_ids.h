/* SPDX-License-Identifier: MIT */
/*
 * The numbers that HDF5 has types of from the start (H5T_NATIVE_..., H5T_STD_..., H5T_IEEE_...).
 * Most programs pass these ids with each read and write. No program can change such a type, so that
 * what it is to the core is asked once, and not by six calls each time.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_HDF5_NUMBER_IDS_H
#define ZARRBRIDGE_HDF5_VOL_HDF5_NUMBER_IDS_H

#include "hdf5/library.h"
#include "zarrbridge/dtype.h"

/* As vol_type_to_dtype for those types; false for all others. No call of HDF5's. */
bool vol_number_known(h5_lib *lib, hid_t type, zb_dtype *dtype);

/* True if a type equals one of those that are this number to the core, as a copy of it does. One
   call of HDF5's. */
bool vol_number_is(h5_lib *lib, hid_t type, zb_dtype number);

#endif
