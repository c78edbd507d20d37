/* SPDX-License-Identifier: MIT */
/* Stating scales (scales.h), with the names of dimensions that follow for other Zarr programs. */
#ifndef ZARRBRIDGE_HDF5_VOL_SCALES_SCALE_NAMES_H
#define ZARRBRIDGE_HDF5_VOL_SCALES_SCALE_NAMES_H

#include "tree/tree.h"

/* Sets the member to a JSON object (NULL: removes it), and dimension_names to what follows of it,
   which the member says, too.
   Dimensions about which it says nothing get the name in `others` ([ndim]; NULL: none). */
enum zb_code vol_scales_set(vol_node *dataset, const char *json, const char *const *others,
                            zb_error *err);

/* Counts what has been set. */
uint64_t vol_scales_changes(const vol_file *file);

/* After a dataset, or a scale of it, got a name: that of a dimension. Names about which the member
   says nothing stay. */
enum zb_code vol_scales_named(vol_node *dataset, zb_error *err);

#endif
