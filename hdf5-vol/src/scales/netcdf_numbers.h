/* SPDX-License-Identifier: MIT */
/*
 * The numbers of dimensions (_Netcdf4Dimid) in stores that netCDF has not made. While it opens a
 * file netCDF asks each scale for its number, and gives the next one to a scale that has none. It
 * stores those of dimensions and variables (_Netcdf4Coordinates) that it makes, and would give them
 * to others at the next opening. So as soon as a number is stored, all scales get the one that
 * netCDF knows them by.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_SCALES_NETCDF_NUMBERS_H
#define ZARRBRIDGE_HDF5_VOL_SCALES_NETCDF_NUMBERS_H

#include "tree/tree.h"

/* netCDF asks whether a dataset has an attribute of that name. */
void vol_numbers_asked(vol_node *dataset, const char *name);

/* Stores the numbers of all open scales, if there is any. Pushes errors and returns -1. */
herr_t vol_numbers_store(vol_file *file);

#endif
