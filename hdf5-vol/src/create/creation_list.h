/* SPDX-License-Identifier: MIT */
/*
 * Creation property lists: those that nodes show, made of what the store has, and what a list says
 * that a Zarr node has no word for, the member "creation" of side.h. It has a property only where a
 * program would get another answer without it, so that a list which goes through a store comes back
 * as it was.
 *
 *     "creation": {"attribute_order": "none", "layout": "compact", "fill_time": "never", ...}
 *
 * docs/hdf5.md has the table of the properties. Each counts while it fits: a layout while the array
 * has no codecs and cannot grow, a fill value's status while the value is zero, filters while they
 * would make the pipeline that the array has. The text may come from anywhere, and is checked. It
 * is not what H5Pencode makes: H5Pdecode takes no size, and believes each byte that it reads.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_CREATION_LIST_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_CREATION_LIST_H

#include "create/spec.h"
#include "tree/tree.h"

/* Adds the member for a new dataset, whose spec is complete but for its attributes. */
enum zb_code vol_list_member_of_dataset(h5_lib *lib, hid_t type, hid_t dcpl, vol_spec *out,
                                        zb_error *err);

/* The same for a new group, file or committed datatype with that creation list. */
enum zb_code vol_list_member_add(h5_lib *lib, hid_t list, vol_changes *members, zb_error *err);

/* The attributes (a JSON object as text, malloc'ed) of a new group or file that has no other
   members; *out is NULL when there are none. */
enum zb_code vol_list_member_attributes(h5_lib *lib, hid_t list, char **out, zb_error *err);

/* The layout that a dataset shows: H5D_CHUNKED, H5D_CONTIGUOUS or H5D_COMPACT. */
H5D_layout_t vol_list_member_layout(vol_node *dataset);

/* A new list of a class for what was made with such a list, as far as it concerns objects, groups
   and times of fill values; -1 on failure. */
hid_t vol_list_member_new(vol_node *node, hid_t list_class);

/* Whether the object was made to know its time: H5Pset_obj_track_times. */
bool vol_list_member_tracks_times(vol_node *node);

/* ---- The lists that nodes show ---- */

/* The dataset creation property list that describes an array; borrowed from the node. -1 on
   failure. */
hid_t vol_node_dcpl(vol_node *node);

/* A new list that describes a group, or a file by its root: of the class of either. -1 on
   failure. */
hid_t vol_group_list(vol_node *group, hid_t list_class);

#endif
