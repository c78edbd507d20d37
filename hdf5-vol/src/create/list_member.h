/* SPDX-License-Identifier: MIT */
/*
 * What a creation property list says and a Zarr node has no word for: the member "creation" of
 * side.h. It has a property only where a program would get another answer without it, so that a
 * list which goes through a store comes back as it was.
 *
 *     "creation": {"attribute_order": "none", "layout": "compact", "fill_time": "never", ...}
 *
 * docs/hdf5.md has the table of the properties. Each counts while it fits: a layout while the array
 * has no codecs and cannot grow, a fill value's status while the value is zero, filters while they
 * would make the pipeline that the array has. The text may come from anywhere, and is checked.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_LIST_MEMBER_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_LIST_MEMBER_H

#include "create/spec.h"

/* Adds the member for a new dataset, whose spec is complete but for its attributes. */
enum zb_code vol_list_member_of_dataset(h5_lib *lib, hid_t type, hid_t dcpl, vol_spec *out,
                                        zb_error *err);

/* The same for a new group, file or named datatype with that creation list. */
enum zb_code vol_list_member_add(h5_lib *lib, hid_t list, vol_changes *members, zb_error *err);

/* The attributes (a JSON object as text, malloc'ed) of a new group or file that has no other
   members; *out is NULL when there are none. */
enum zb_code vol_list_member_attributes(h5_lib *lib, hid_t list, char **out, zb_error *err);

/* The layout that a dataset shows: H5D_CHUNKED, H5D_CONTIGUOUS or H5D_COMPACT. */
H5D_layout_t vol_list_member_layout(vol_node *dataset);

/* Puts the filters into a list that the program has given. False, and none, where no filters are
   kept, the library lacks one of them, or the array has another pipeline. */
bool vol_list_member_filters(vol_node *dataset, hid_t dcpl);

/* Whether the fill value is one that the program has not given. */
bool vol_list_member_has_no_fill(vol_node *dataset, hid_t dcpl);

/* A new list of a class for what was made with such a list, as far as it concerns objects, groups
   and times of fill values; -1 on failure. */
hid_t vol_list_member_new(vol_node *node, hid_t list_class);

/* Whether the object was made to know its time: H5Pset_obj_track_times. */
bool vol_list_member_tracks_times(vol_node *node);

/* Sets the other properties that are kept. */
void vol_list_member_show(vol_node *node, hid_t list);

#endif
