/* SPDX-License-Identifier: MIT */
/* Finding what HDF5's locations mean: by name, by index, by token, or an object itself. */
#ifndef ZARRBRIDGE_HDF5_VOL_OBJECTS_LOCATE_H
#define ZARRBRIDGE_HDF5_VOL_OBJECTS_LOCATE_H

#include "objects/object.h"
#include "objects/paths.h"
#include "tree/edit.h"

/* The location of an object itself; and of what is called `name`, or has that path, in an object of
   that type, with the default access list. */
H5VL_loc_params_t vol_self(H5I_type_t type);
H5VL_loc_params_t vol_loc_by_name(const h5_lib *lib, H5I_type_t type, const char *name);

/* The link that `loc` names, seen from object, whether it can be opened or not; a location that
   names none gives the node alone. Pushes an error and returns false when there is none. */
bool vol_locate_link(const vol_object *object, const H5VL_loc_params_t *loc, vol_found *out);

/* Whether vol_locate_link has found a link. Pushes an error where the location is an object itself:
   as in HDF5, "." names no link, not even that which leads to the object. */
bool vol_found_link(const vol_object *object, const vol_found *found);

/* The node there. Pushes an error and returns NULL when there is none. */
vol_node *vol_locate(const vol_object *object, const H5VL_loc_params_t *loc);

/* The node called `name` (NULL: itself) seen from there; `lapl` is the access list of the call. */
vol_node *vol_locate_name(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                          hid_t lapl);

/* As vol_locate_name, by a route of the caller's. NULL without an error where the path leaves the
   file and the route may. */
vol_node *vol_locate_on(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                        vol_route *route);

/* A route with as many links as a call's access list allows. */
vol_route vol_route_of(h5_lib *lib, hid_t lapl);

/* The bytes of a path before its last name. */
size_t vol_holder_size(const char *path);

/* Whether there is a group in this file that holds, or could hold, the link that a location
   names. */
bool vol_has_holder(const vol_object *object, const H5VL_loc_params_t *loc);

/* Whether a location by name is in another file. */
bool vol_leaves(const vol_object *object, const H5VL_loc_params_t *loc);

/* The place of a new link: a location by name, seen from an object that may be written. Pushes an
   error and returns false when it cannot be had. Freed with vol_place_clear. */
bool vol_locate_place(const vol_object *object, const H5VL_loc_params_t *loc, hid_t lcpl,
                      vol_place *out);

/* For questions of existence: as vol_locate_link, the last link followed if `follow`, but where
   there is none, both parts of *out are NULL, and only a real failure pushes an error and returns
   false. *is_cut (or NULL): see vol_route. */
bool vol_lookup(const vol_object *object, const H5VL_loc_params_t *loc, bool follow, vol_found *out,
                bool *is_cut);

/* The node of a link that vol_locate_link has found. Pushes an error and returns NULL when it leads
   to none. */
vol_node *vol_locate_target(const vol_object *object, vol_found *found);

#endif
