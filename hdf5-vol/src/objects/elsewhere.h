/* SPDX-License-Identifier: MIT */
/*
 * Objects that a path reaches through an external link: in another store, or in an ordinary HDF5
 * file. The file stays open as long as they do.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_OBJECTS_ELSEWHERE_H
#define ZARRBRIDGE_HDF5_VOL_OBJECTS_ELSEWHERE_H

#include "objects/locate.h"

/* Opens the object called `name` (NULL: the location's own), in this file or another one. Pushes an
   error and returns NULL when there is none. */
vol_object *vol_open_any(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                         hid_t lapl, hid_t dxpl);

/* As vol_open_any, but NULL without an error where the location is in this file or nowhere. */
vol_object *vol_open_elsewhere(const vol_object *object, const H5VL_loc_params_t *loc, hid_t dxpl);

/* Closes an object of any kind that has no id. */
void vol_close_any(vol_object *object, hid_t dxpl);

#endif
