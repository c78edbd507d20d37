/* SPDX-License-Identifier: MIT */
/* Named datatypes: each is a group of the store that holds nothing, with the type in side.h. */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_DATATYPE_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_DATATYPE_H

#include "tree/edit.h"

/* Makes one of any type that type_json.h describes, with a creation list; without a place (NULL),
   one without a name in `file`, until vol_edit_link gives it one. */
enum zb_code vol_datatype_make(vol_file *file, hid_t type, hid_t tcpl, const vol_place *place,
                               vol_node **out, zb_error *err);

#endif
