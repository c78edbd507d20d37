/* SPDX-License-Identifier: MIT */
/*
 * What HDF5 knows of a node and Zarr has no word for.
 *
 * It is kept in one attribute of the node, `_hdf5`: a text that is a JSON object, so that programs
 * which copy attributes copy a string. Zarr readers may ignore it: all data, and all attributes
 * that have a JSON form, are where they always are. What it says of an attribute or of a shape
 * counts only while that still fits: other programs may have changed them since.
 *
 *     {"version": 1, member: ...}
 *
 * The owner of each member is named where it is made. HDF5 programs do not see the attribute, unless
 * its text is of another version or no such object: then it is an attribute as any other, and
 * nothing is kept in it.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_MODEL_SIDE_H
#define ZARRBRIDGE_HDF5_VOL_MODEL_SIDE_H

#include "model/node.h"

#define VOL_SIDE "_hdf5"

/* The object; NULL when there is none. Borrowed until the next change of the node. */
const zb_json *vol_side(vol_node *node);

/* A member of it; NULL when there is none. Borrowed likewise. */
const zb_json *vol_side_get(vol_node *node, const char *member);

/* ZB_EUNSUPPORTED where the attribute is not ours, so that nothing can be kept. */
enum zb_code vol_side_check(vol_node *node, zb_error *err);

/* Sets a member to a JSON text, or removes it (NULL); the attribute goes with the last one.
   ZB_EUNSUPPORTED where the attribute is not ours. */
enum zb_code vol_side_set(vol_node *node, const char *member, const char *json, zb_error *err);

/* Whether an attribute of that name is hidden, since it is ours. */
bool vol_side_hides(vol_node *node, const char *name);

/* Forgets what was parsed; called with each change of the node's document. */
void vol_side_forget(vol_node *node);

#endif
