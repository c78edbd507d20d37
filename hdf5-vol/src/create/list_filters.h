/* SPDX-License-Identifier: MIT */
/* The filters of creation lists, and their JSON: [[number, flags, [value, ...]], ...]. */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_LIST_FILTERS_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_LIST_FILTERS_H

#include "hdf5/library.h"
#include "zarrbridge/zarrbridge.h"

#define VOL_LIST_FILTERS "filters" /* the member */

/* Whether a dataset of that type shows the filters of its list as they are (vol_filters_add),
   without the member. */
bool vol_list_filters_are_shown(h5_lib *lib, hid_t dcpl, zb_dtype dtype);

/* Writes the filters of a list as a member of an object; *any becomes true when there is one.
   False, and nothing, when one has more than VOL_FILTER_VALUES values. */
bool vol_list_filters_print(h5_lib *lib, hid_t list, zb_json_writer *out, bool *any);

/* Adds all filters of the member, which is not trusted, to a list; or none of them (false). */
bool vol_list_filters_add(h5_lib *lib, hid_t list, const zb_json *kept);

#endif
