/* SPDX-License-Identifier: MIT */
/*
 * REFERENCE_LIST of a scale, where names alone attach datasets to it (dimensions.h). It takes a
 * look at all datasets of the scale's group and of those below, so that it is made only for
 * programs that ask for it by its name, in files that are written: those detach and attach scales.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_SCALES_BACK_REFERENCES_H
#define ZARRBRIDGE_HDF5_VOL_SCALES_BACK_REFERENCES_H

#include "attributes/attribute_list.h"
#include "tree/tree.h"

/* One element: `dataset` is its way or path. */
void vol_back_write(zb_json_writer *out, const char *dataset, uint32_t d);

/* The members of the entry that tell type and length, into an open object: those of `entry`, or,
   for NULL, as HDF5's scale functions make the attribute. */
void vol_back_write_form(zb_json_writer *out, const zb_json *entry, uint64_t count);

/* Adds to the list of a node's attributes, if `name` is that of this one, what is not stated of it.
   False when memory runs out. */
bool vol_back_complete(vol_attrs *attrs, vol_node *node, const char *name);

/* Calls visit for each dataset in a group, or below it, that has names of dimensions and states no
   scales. Groups that cannot be listed are passed over; the first error is returned. */
typedef void vol_back_visit(vol_node *dataset, void *context);
enum zb_code vol_back_each_unstated(vol_node *group, vol_back_visit *visit, void *context,
                                    zb_error *err);

/* The elements for the datasets that names attach to a scale, with paths, as a JSON list; NULL
   without memory. */
zb_json *vol_back_by_name(vol_node *scale);

#endif
