/* SPDX-License-Identifier: MIT */
/* The walks of HDF5 before 1.8, which many programs still call: H5Giterate and H5Aiterate1. */
#ifndef ZARRBRIDGE_HDF5_VOL_CALLBACKS_OLD_WALKS_H
#define ZARRBRIDGE_HDF5_VOL_CALLBACKS_OLD_WALKS_H

#include "objects/locate.h"

/* In the order of the names; *args->last_obj is the place where the walk has stopped. */
herr_t vol_walk_links_old(const vol_object *group, const H5VL_native_group_iterate_old_t *args);

/* In the order of creation. */
herr_t vol_walk_attributes_old(const vol_object *owner, const H5VL_native_attr_iterate_old_t *args);

#endif
