/* SPDX-License-Identifier: MIT */
/* Walks over links, and what is told of each. */
#ifndef ZARRBRIDGE_HDF5_VOL_CALLBACKS_LINK_WALK_H
#define ZARRBRIDGE_HDF5_VOL_CALLBACKS_LINK_WALK_H

#include "objects/object.h"
#include "objects/paths.h"

/* A link as HDF5 describes it. */
void vol_link_tell(const vol_found *found, H5L_info2_t *info);

/* H5Literate and H5Lvisit: calls the operator for the links of a group, or of all below it. Pushes
   errors, but not those of the operator. */
herr_t vol_links_iterate(const vol_object *object, const H5VL_loc_params_t *loc,
                         const H5VL_link_iterate_args_t *args);

#endif
