/* SPDX-License-Identifier: MIT */
/* The dimensions that the arrays of a group name: asked for each array that may be the coordinate
   of another one beside it, and found by one look at all of them. */
#ifndef ZARRBRIDGE_HDF5_VOL_SCALES_DIMENSION_USES_H
#define ZARRBRIDGE_HDF5_VOL_SCALES_DIMENSION_USES_H

#include "tree/tree.h"

/* Whether an array of the group has a dimension of that name and length. False also when memory
   runs out. */
bool vol_uses_dimension(vol_node *group, const char *name, uint64_t length);

#endif
