/* SPDX-License-Identifier: MIT */
/*
 * The names of dimensions of a scale that has several, as netCDF's coordinates of two dimensions
 * are: siglay(siglay, node). Such a scale has no scales itself, so that its own attributes do not
 * tell its dimensions. netCDF's libraries tell them by numbers: _Netcdf4Coordinates has those that
 * are the _Netcdf4Dimid of other scales.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_NETCDF_COORDINATE_NAMES_H
#define ZARRBRIDGE_HDF5_VOL_NETCDF_COORDINATE_NAMES_H

#include "tree/tree.h"

/* Names the dimensions of such scales for other Zarr programs, where any scales have changed. */
enum zb_code vol_coordinate_names_settle(vol_file *file, zb_error *err);

#endif
