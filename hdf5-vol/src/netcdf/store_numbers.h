/* SPDX-License-Identifier: MIT */
/* Stores the numbers that netCDF gives to dimensions (netcdf_numbers.h), which attributes are made
   of: this lies above attributes, and what shows the numbers below them. */
#ifndef ZARRBRIDGE_HDF5_VOL_NETCDF_STORE_NUMBERS_H
#define ZARRBRIDGE_HDF5_VOL_NETCDF_STORE_NUMBERS_H

#include "tree/tree.h"

/* Stores the numbers of all open scales, if there is any. Pushes errors and returns -1. */
herr_t vol_numbers_store(vol_file *file);

#endif
