/* SPDX-License-Identifier: MIT */
/* Changing the document of a dataset, in the store and in the open file. */
#ifndef ZARRBRIDGE_HDF5_VOL_MODEL_EDIT_DATASET_H
#define ZARRBRIDGE_HDF5_VOL_MODEL_EDIT_DATASET_H

#include "model/node.h"

/* names: [ndim], entries may be NULL; NULL removes all. */
enum zb_code vol_edit_dimension_names(vol_node *dataset, const char *const *names, zb_error *err);

enum zb_code vol_edit_resize(vol_node *dataset, const uint64_t *shape, zb_error *err);

#endif
