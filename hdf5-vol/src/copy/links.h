/* SPDX-License-Identifier: MIT */
/* Links that lead to no node of their own, as values: made, read, and copied between files. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_LINKS_H
#define ZARRBRIDGE_HDF5_VOL_COPY_LINKS_H

#include "objects/locate.h"

typedef struct vol_link_value {
    H5L_type_t type;
    const char *target; /* of a soft link: the path */
} vol_link_value;

/* The text of a soft link; NULL of a hard one, also of that to the root, which has no entry. A hard
   link that has lost its node is a soft one that leads nowhere. */
const char *vol_link_text(vol_link *link);

/* Makes a link in a store, at a location by name. */
herr_t vol_link_make(const vol_object *at, const H5VL_loc_params_t *loc, hid_t lcpl,
                     const vol_link_value *value);

/* Makes a link in an ordinary HDF5 file. */
herr_t vol_link_make_native(h5_lib *lib, void *at, const H5VL_loc_params_t *loc, hid_t lcpl,
                            hid_t dxpl, const vol_link_value *value);

/* H5Lcopy, where one of both sides is in a store. */
herr_t vol_copy_link(const vol_object *source, const H5VL_loc_params_t *source_loc,
                     const vol_object *target, const H5VL_loc_params_t *target_loc, hid_t lcpl,
                     hid_t dxpl);

#endif
