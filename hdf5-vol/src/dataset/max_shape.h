/* SPDX-License-Identifier: MIT */
/*
 * The largest shape of a dataset, HDF5's maxshape. Zarr arrays can always be resized and keep none,
 * so it is a member of side.h where it is not the shape itself, or could become another one:
 *
 *     "maxshape": [number or null, ...]    null: unlimited
 *
 * It counts while the array's shape lies within it.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_DATASET_MAX_SHAPE_H
#define ZARRBRIDGE_HDF5_VOL_DATASET_MAX_SHAPE_H

#include "tree/node.h"
#include "waiting/waiting.h"

/* [ndim], H5S_UNLIMITED where there is no end; NULL: no largest shape is known, and the dataset
   shows as fixed. Borrowed from the node. */
const uint64_t *vol_max_shape(vol_node *dataset);

/* Whether the same is shown when the dataset is opened anew. */
bool vol_max_shape_is_stored(vol_node *dataset);

/* Shows one until the file is closed, also where it is the shape itself. */
enum zb_code vol_max_shape_show(vol_node *dataset, const hsize_t *max_shape, zb_error *err);

/* The member for a new dataset of this shape, where it needs one: its document then comes with it.
   `is_chunked`: the dataset can shrink. */
enum zb_code vol_max_shape_describe(uint32_t ndim, const uint64_t *shape, const hsize_t *max_shape,
                                    bool is_chunked, vol_changes *members, zb_error *err);

#endif
