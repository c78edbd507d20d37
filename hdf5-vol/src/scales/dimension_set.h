/* SPDX-License-Identifier: MIT */
/* A set of dimensions: names with lengths. */
#ifndef ZARRBRIDGE_HDF5_VOL_SCALES_DIMENSION_SET_H
#define ZARRBRIDGE_HDF5_VOL_SCALES_DIMENSION_SET_H

#include "tree/map.h"
#include "zarrbridge/zarrbridge.h"

typedef struct vol_dimension_set {
    uint64_t change; /* file->changes when it was filled */
    vol_map by_hash; /* lists of those of one hash */
} vol_dimension_set;

bool vol_dimension_set_has(const vol_dimension_set *set, const char *name, uint64_t length);

/* Adds the dimensions of an array that have names; of NULL, none. False when memory runs out. */
bool vol_dimension_set_add(vol_dimension_set *set, const zb_array_info *array);

/* Frees the set, of NULL nothing. */
void vol_dimension_set_free(vol_dimension_set *set);

#endif
