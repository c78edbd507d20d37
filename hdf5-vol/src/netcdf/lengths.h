/* SPDX-License-Identifier: MIT */
/*
 * The lengths of unlimited dimensions. netCDF makes a dataset longer only where it writes: others
 * with the same unlimited dimension stay shorter, and netCDF reads fill values behind their ends.
 * To other Zarr programs a dimension has one length. So before netCDF's files are stored, all
 * datasets with an unlimited dimension get the length of the longest one. That changes documents
 * and no chunks, and netCDF reads the same as before.
 *
 * A kill in between leaves some of them short; the next program of netCDF that writes goes on.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_NETCDF_LENGTHS_H
#define ZARRBRIDGE_HDF5_VOL_NETCDF_LENGTHS_H

#include "tree/tree.h"

/* Lengths, or which dimensions datasets have, have changed. */
void vol_lengths_change(vol_file *file);

/* Makes datasets of netCDF's files as long as their dimensions, if any have changed. */
enum zb_code vol_lengths_settle(vol_file *file, zb_error *err);

#endif
