/* SPDX-License-Identifier: MIT */
/*
 * Objects that a path reaches through an external link: in another store, or in an ordinary HDF5
 * file. The file stays open as long as they do.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_CALLBACKS_ELSEWHERE_H
#define ZARRBRIDGE_HDF5_VOL_CALLBACKS_ELSEWHERE_H

#include "objects/locate.h"

/* Opens the object called `name` (NULL: the location's own), in this file or another one. Pushes an
   error and returns NULL when there is none. */
vol_object *vol_open_any(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                         hid_t lapl, hid_t dxpl);

/* As vol_open_any, but NULL without an error where the location is in this file or nowhere. */
vol_object *vol_open_elsewhere(const vol_object *object, const H5VL_loc_params_t *loc, hid_t dxpl);

/* For a link that could not be found, whose error is on the stack: when the way to it leaves this
   file, empties the stack and opens the object in another file that holds the link, or pushes why
   that cannot be opened. `in_it` gets the location of the link seen from there, which borrows the
   name. NULL and the stack as it was where the way does not leave. */
vol_object *vol_open_holder(const vol_object *object, const H5VL_loc_params_t *loc, hid_t dxpl,
                            H5VL_loc_params_t *in_it);

/* Closes an object of any kind that has no id. */
void vol_close_any(vol_object *object, hid_t dxpl);

#endif
