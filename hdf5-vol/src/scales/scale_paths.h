/* SPDX-License-Identifier: MIT */
/*
 * The references in what is stated of dimension scales (scales.h): ways from the dataset (places.h)
 * in the store, and paths of the open file for programs. Values are printed with all of them in
 * another form.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_SCALES_SCALE_PATHS_H
#define ZARRBRIDGE_HDF5_VOL_SCALES_SCALE_PATHS_H

#include "tree/tree.h"

/* Gives a text its other form: malloc'ed, or NULL when it leads nowhere, and after an error. What
   `convert` needs to know follows behind this in a struct of its own. */
typedef struct vol_scale_paths {
    vol_node *dataset; /* from which the ways lead */
    char *(*convert)(struct vol_scale_paths *self, const char *text);
    zb_error error; /* of `convert`; no code: none */
} vol_scale_paths;

/* The way to a scale, for `convert`: malloc'ed; NULL after an error, which is noted. */
char *vol_scale_paths_way(vol_scale_paths *how, const vol_node *scale);

/* The value of an attribute with references, as JSON text (malloc'ed). What leads nowhere is left
   out of lists. */
enum zb_code vol_scale_paths_print(vol_scale_paths *how, const zb_json *value, char **out,
                                   zb_error *err);

/* From the open file to the store. */
enum zb_code vol_scale_paths_store(vol_node *dataset, const zb_json *value, char **out,
                                   zb_error *err);

/* The value of an entry of that, printed with the paths of the open file and without references
   that lead nowhere (malloc'ed); NULL when memory runs out. */
char *vol_scales_value(vol_node *dataset, const zb_json *entry);

#endif
