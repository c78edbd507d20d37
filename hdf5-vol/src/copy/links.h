/* SPDX-License-Identifier: MIT */
/* Links that lead to no node of their own, as values: made, read, and copied between files. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_LINKS_H
#define ZARRBRIDGE_HDF5_VOL_COPY_LINKS_H

#include "hdf5/library.h"
#include "objects/locate.h"

typedef struct vol_link_value {
    H5L_type_t type;
    const char *target; /* the path */
    const char *file;   /* of an external link; else NULL */
} vol_link_value;

/* What HDF5 packs into the value of an external link: understood, and made (malloc'ed). False when
   it is of another form, NULL when memory runs out. */
bool vol_link_unpack(const void *packed, size_t size, vol_link_value *out);
char *vol_link_pack(const vol_link_value *value, size_t *size);

/* The value of a link; false of a hard one, also of that to the root, which has no entry. A hard
   link that has lost its node is a soft one that leads nowhere. */
bool vol_link_value_of(vol_link *link, vol_link_value *out);

/* Makes a link in a store, at a location by name. */
herr_t vol_link_make(const vol_object *at, const H5VL_loc_params_t *loc, hid_t lcpl,
                     const vol_link_value *value);

/* Makes a link in an ordinary HDF5 file. */
herr_t vol_link_make_native(h5_lib *lib, void *at, const H5VL_loc_params_t *loc, hid_t lcpl,
                            hid_t dxpl, const vol_link_value *value);

/* H5Lcopy, where one of both sides is in a store. */
herr_t vol_link_copy_across(const vol_object *source, const H5VL_loc_params_t *source_loc,
                            const vol_object *target, const H5VL_loc_params_t *target_loc,
                            hid_t lcpl, hid_t dxpl);

/* ---- Links that lead nowhere ---- */

/* Links of HDF5 files that lead nowhere, told from those whose target is there and cannot be
   opened: HDF5's answer is the same for both where a file of an external link fails. */

/* Whether a soft or external link in a group, which could not be followed, leads nowhere: a part of
   its path, or its file, is missing. Circles and what cannot be read do not count as that. */
bool vol_link_dangles(h5_lib *lib, hid_t group, const char *name);

#endif
