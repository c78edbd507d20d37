/* SPDX-License-Identifier: MIT */
/* Named dimensions, and the datasets and attributes by which HDF5 programs see them. */
#ifndef ZARRBRIDGE_HDF5_VOL_SCALES_DIMENSIONS_H
#define ZARRBRIDGE_HDF5_VOL_SCALES_DIMENSIONS_H

#include "attributes/attribute_list.h"
#include "tree/tree.h"

/* Whether the dataset is the scale of a dimension. */
bool vol_dims_is_scale(vol_node *node);

/* Adds DIMENSION_LABELS, DIMENSION_LIST, CLASS and NAME to the attributes of an array, made of
   dimension_names. False when memory runs out. */
bool vol_dims_add(vol_attrs *attrs, vol_node *node);

/* The scales of a dataset ([ndim]) to which names alone attach it. False for others, and when one
   of its dimensions has no coordinate: then none counts. */
bool vol_dims_by_name(vol_node *node, vol_node **scales);

/* The scale of a dimension: the first that is stated, or the coordinate of its name. That of the
   first dimension of a scale is itself, as in netCDF. NULL when there is none. */
vol_node *vol_dims_scale(vol_node *dataset, uint32_t dim);

/* The beginning of NAME in netCDF-4 for a dimension without a variable; its length follows. */
#define VOL_NOT_A_VARIABLE "This is a netCDF dimension but not a netCDF variable."

/* An array in memory, at a path of its own, that stands for such a dimension. */
enum zb_code vol_dims_new_array(vol_file *file, const char *path, uint64_t length,
                                const char *attributes, zb_node **out, zb_error *err);

/* With the option netcdf_dimensions, adds datasets for the dimensions of a listed group's arrays
   that have no scale. */
enum zb_code vol_dims_complete(vol_node *group, zb_error *err);

#endif
