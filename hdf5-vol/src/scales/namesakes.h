/* SPDX-License-Identifier: MIT */
/* Datasets of a name around another one, as the file shows them. */
#ifndef ZARRBRIDGE_HDF5_VOL_SCALES_NAMESAKES_H
#define ZARRBRIDGE_HDF5_VOL_SCALES_NAMESAKES_H

#include "tree/node.h"

/* The nearest dataset called `name`, from the group of `dataset` on upwards, as other Zarr programs
   look for coordinates; NULL when there is none. */
vol_node *vol_namesake(const vol_node *dataset, const char *name);

/* Whether other Zarr programs would take a dataset for the coordinate of that name which lies
   nearer than the scale. Those with other than one dimension are none. */
bool vol_namesake_hides(const vol_node *dataset, const vol_node *scale);

/* The dataset `name` in the group `level` steps above the array's own; NULL when there is none. */
vol_node *vol_namesake_at(const vol_node *array, unsigned level, const char *name);

#endif
