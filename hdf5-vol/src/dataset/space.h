/* SPDX-License-Identifier: MIT */
/* The dataspace of a dataset. */
#ifndef ZARRBRIDGE_HDF5_VOL_DATASET_SPACE_H
#define ZARRBRIDGE_HDF5_VOL_DATASET_SPACE_H

#include "tree/node.h"

/* A new one: scalar, null (H5S_NULL) or simple. with_max: with the largest shape, where one is
   known; else, and without, an array shows as fixed, though it can be resized. -1 on failure. */
hid_t vol_node_space(vol_node *dataset, bool with_max);

#endif
