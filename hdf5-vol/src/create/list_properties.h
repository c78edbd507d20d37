/* SPDX-License-Identifier: MIT */
/*
 * The properties of creation lists that are one or two numbers, and their JSON: what list_member.h
 * keeps besides layout, filters and fill values.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_LIST_PROPERTIES_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_LIST_PROPERTIES_H

#include "hdf5/library.h"
#include "zarrbridge/zarrbridge.h"

/* Lists of datasets are one kind for each layout (VOL_LIST_DATASET + H5D_layout_t), which decides
   when chunks are allocated. */
enum vol_list_kind {
    VOL_LIST_DATATYPE,
    VOL_LIST_GROUP,
    VOL_LIST_FILE,
    VOL_LIST_DATASET,
    VOL_LIST_KINDS = VOL_LIST_DATASET + H5D_NLAYOUTS
};

/* The list of a class that a program would get of a node that keeps nothing of its own; -1 on
   failure. */
hid_t vol_list_bare(h5_lib *lib, hid_t list_class);

/* Writes those of `list` that differ from those of a bare one, as members of an object; *any
   becomes true when there is one. */
enum zb_code vol_list_properties_print(h5_lib *lib, hid_t list, enum vol_list_kind kind,
                                       zb_json_writer *out, bool *any, zb_error *err);

/* Sets those of the object on a list. What has no value of the property is left alone. */
void vol_list_properties_set(h5_lib *lib, hid_t list, const zb_json *object);

#endif
