/* SPDX-License-Identifier: MIT */
/*
 * Dimensions without a variable, as netCDF libraries make them: datasets that hold nothing but a
 * name, a length and attributes. They are no arrays of the store, where Zarr readers would take
 * them for data. Their group keeps them as a member of side.h:
 *
 *     "dimensions": {name: {"length": n, "attributes": {...}}, ...}
 *
 * with the attributes as they would stand in the document of an array, `_hdf5` among them. When
 * another program has made a node of that name, the record is of no use; when it has changed the
 * length of an array beside it along a dimension of that name, which is not unlimited, that length
 * counts.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_SCALES_DIMENSION_RECORDS_H
#define ZARRBRIDGE_HDF5_VOL_SCALES_DIMENSION_RECORDS_H

#include "tree/tree.h"

/* Shows these datasets (not by the option netcdf_dimensions=0), and those of dimensions.h. */
extern const vol_extras vol_dimension_extras;

/* Stores at once the records of a group with one more: of a dimension that is going to be its link
   of that name. Nothing where the dimension has no record. */
enum zb_code vol_records_add(vol_node *group, const char *name, vol_node *dimension, zb_error *err);

/* Brings the records of a group, and of all below it, up to date. They wait (waiting.h) then. */
enum zb_code vol_records_store(vol_node *group, zb_error *err);
enum zb_code vol_records_store_below(vol_node *group, zb_error *err);

#endif
