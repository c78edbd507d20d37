/* SPDX-License-Identifier: MIT */
/*
 * What an HDF5 program says about dimension scales, where `dimension_names` cannot.
 *
 * HDF5 keeps scales in five attributes: CLASS, NAME and REFERENCE_LIST of a scale, DIMENSION_LIST
 * and DIMENSION_LABELS of what it is attached to. Those that an HDF5 program has written are a
 * member of side.h, whole: what is not in it, the dataset does not have.
 *
 *     "scales": {name: {"type": T, "shape": [...], "value": ...}, ...,
 *                "dimension_names": [...]}
 *
 * The entries are those of attributes/exact.h with the value in them. References are ways from the
 * dataset, as places.h describes; one that leads to no dataset is left out when the attribute is
 * read, so that a scale that is deleted is off all lists.
 *
 * The array's `dimension_names` get the names of the scales and labels, as far as they fit, for all
 * other Zarr programs, and the member says which it has given. It counts as long as the array has
 * these: a program that has given the dimensions other names did not know of it. (Older members,
 * which do not say it, count where the names fit to them.) Without it, dimensions.h makes scales of
 * the names.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_SCALES_SCALES_H
#define ZARRBRIDGE_HDF5_VOL_SCALES_SCALES_H

#include "tree/tree.h"

#define VOL_SCALES_VALUE "value"
#define VOL_SCALES_NAMES "dimension_names"

#define VOL_SCALE_CLASS "CLASS"
#define VOL_SCALE_NAME "NAME"
#define VOL_SCALE_LIST "DIMENSION_LIST"
#define VOL_SCALE_LABELS "DIMENSION_LABELS"
#define VOL_SCALE_BACK "REFERENCE_LIST"

/* netCDF's own (netcdf_numbers.h): the number of a scale, and those of a dataset's dimensions. */
#define VOL_NETCDF_NUMBER "_Netcdf4Dimid"
#define VOL_NETCDF_NUMBERS "_Netcdf4Coordinates"

/* The member, if it counts; NULL otherwise. Borrowed until the next change of the node. */
const zb_json *vol_scales_get(vol_node *dataset);

/* Whether one would count; `name`: of the dataset when its dimensions got their names. */
bool vol_scales_count(const vol_node *dataset, const zb_json *scales, const char *name);

/* Whether an entry of it has references. */
bool vol_scales_refers(const zb_json *entry);

/* What the member says of dimension d; `name`: of the dataset. Borrowed likewise. */
typedef struct vol_scale_names {
    const char *own;     /* of a scale, whose only dimension is called like it; NULL otherwise */
    const char *label;   /* NULL: none */
    const zb_json *list; /* the ways to the dimension's scales; NULL: none */
} vol_scale_names;
vol_scale_names vol_scales_names(const vol_node *dataset, const zb_json *scales, uint32_t d,
                                 const char *name);

/* The first scale of such a list that is there; NULL when there is none. */
vol_node *vol_scales_first(const vol_node *dataset, const zb_json *list);

/* What it says to a name of that dimension. Whether there are such scales, and others, is another
   question: they come and go. */
enum vol_scale_opinion { VOL_SCALE_SILENT, VOL_SCALE_AGREES, VOL_SCALE_DIFFERS };
enum vol_scale_opinion vol_scales_ask(const vol_scale_names *says, const char *name);

/* Datasets may have dimensions by names alone that had none before; counts that. */
void vol_scales_name_dimensions(vol_file *file);
uint64_t vol_scales_named_dimensions(const vol_file *file);

/* The name of a dimension; NULL when it has none. */
const char *vol_scales_name_now(const vol_node *dataset, uint32_t d);

/* Whether the name of a dimension follows of the member. */
bool vol_scales_says(vol_node *dataset, uint32_t d);

#endif
