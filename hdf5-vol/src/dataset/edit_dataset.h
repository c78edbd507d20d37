/* SPDX-License-Identifier: MIT */
/* Changing the document of a dataset, in the store and in the open file. */
#ifndef ZARRBRIDGE_HDF5_VOL_DATASET_EDIT_DATASET_H
#define ZARRBRIDGE_HDF5_VOL_DATASET_EDIT_DATASET_H

#include "tree/node.h"

/* names: [ndim], entries may be NULL; NULL removes all. */
enum zb_code vol_edit_dimension_names(vol_node *dataset, const char *const *names, zb_error *err);

enum zb_code vol_edit_resize(vol_node *dataset, const uint64_t *shape, zb_error *err);

/* The same for a dataset that only grows: where another program has made it longer it stays so. */
enum zb_code vol_edit_extend(vol_node *dataset, const uint64_t *shape, zb_error *err);

/* Shows the shape that rank 0 has given a dataset (tree/follow.h). Data that wait go on waiting. */
enum zb_code vol_edit_follow_shape(vol_node *dataset, zb_error *err);

/* A dataset that grows along a dimension. */
typedef struct vol_growth {
    vol_node *dataset;
    uint32_t dim;
} vol_growth;

/* Makes datasets longer by the same count, whatever shapes they show: see zb_array_append. Data
   that wait go on waiting. */
enum zb_code vol_edit_append(const vol_growth *all, size_t n, uint64_t count, uint64_t *start,
                             zb_error *err);

#endif
