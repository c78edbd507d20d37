/* SPDX-License-Identifier: MIT */
/*
 * The properties of creation lists that are one or two numbers, and their JSON: what list_member.h
 * keeps besides layout, filters and fill values.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_LIST_PROPERTIES_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_LIST_PROPERTIES_H

#include "hdf5/library.h"
#include "zarrbridge/zarrbridge.h"

/* Writes those of `list` that differ from those of `bare`, a list of the same class, as members of
   an object; *any becomes true when there is one. */
void vol_list_properties_print(h5_lib *lib, hid_t list, hid_t bare, zb_json_writer *out, bool *any);

/* Sets those of the object on a list. What has no value of the property is left alone. */
void vol_list_properties_set(h5_lib *lib, hid_t list, const zb_json *object);

#endif
