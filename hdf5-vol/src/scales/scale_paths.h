/* SPDX-License-Identifier: MIT */
/*
 * The references in what is stated of dimension scales (scales.h): paths, which are relative in the
 * store and those of the open file for programs. Values are printed with all paths in another form.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_SCALES_SCALE_PATHS_H
#define ZARRBRIDGE_HDF5_VOL_SCALES_SCALE_PATHS_H

#include "tree/tree.h"

/* Gives a path its other form: malloc'ed, or NULL when it leads nowhere. What `convert` needs to
   know follows behind this in a struct of its own. */
typedef struct vol_scale_paths {
    vol_node *dataset; /* from which the relative paths are seen */
    char *(*convert)(const struct vol_scale_paths *self, const char *path);
} vol_scale_paths;

/* The value of an attribute with references, as JSON text (malloc'ed); NULL when memory runs out.
   What leads nowhere is left out of lists. */
char *vol_scale_paths_print(const vol_scale_paths *how, const zb_json *value);

/* From the store to the open file, and back. */
char *vol_scale_paths_open(vol_node *dataset, const zb_json *value);
char *vol_scale_paths_store(vol_node *dataset, const zb_json *value);

/* The value of an entry of that, printed with the paths of the open file and without references
   that lead nowhere (malloc'ed); NULL when memory runs out. */
char *vol_scales_value(vol_node *dataset, const zb_json *entry);

#endif
