/* SPDX-License-Identifier: MIT */
/*
 * The largest shape of a dataset, HDF5's maxshape. Zarr arrays can always be resized and keep none,
 * so it is a member of side.h where it is not the shape itself:
 *
 *     "maxshape": [number or null, ...]    null: unlimited
 *
 * It counts while the array's shape lies within it.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_MODEL_MAX_SHAPE_H
#define ZARRBRIDGE_HDF5_VOL_MODEL_MAX_SHAPE_H

#include "model/node.h"

/* [ndim], H5S_UNLIMITED where there is no end; NULL: no largest shape is known, and the dataset
   shows as fixed. Borrowed from the node. */
const uint64_t *vol_max_shape(vol_node *dataset);

/* Shows one until the file is closed. */
enum zb_code vol_max_shape_show(vol_node *dataset, const hsize_t *max_shape, zb_error *err);

/* Keeps that of a dataset that has just been made. */
enum zb_code vol_max_shape_keep(vol_node *dataset, const hsize_t *max_shape, zb_error *err);

#endif
