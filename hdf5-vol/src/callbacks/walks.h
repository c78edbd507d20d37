/* SPDX-License-Identifier: MIT */
/* Walks over links and over attributes, and what HDF5 is told of each. */
#ifndef ZARRBRIDGE_HDF5_VOL_CALLBACKS_WALKS_H
#define ZARRBRIDGE_HDF5_VOL_CALLBACKS_WALKS_H

#include "attributes/attributes.h"
#include "objects/locate.h"
#include "objects/object.h"
#include "objects/paths.h"

/* ---- Links ---- */

/* A link as HDF5 describes it. */
void vol_link_tell(const vol_found *found, H5L_info2_t *info);

/* H5Literate and H5Lvisit: calls the operator for the links of a group, or of all below it. Pushes
   errors, but not those of the operator. */
herr_t vol_links_iterate(const vol_object *object, const H5VL_loc_params_t *loc,
                         const H5VL_link_iterate_args_t *args);

/* ---- Attributes ---- */

/* An attribute as HDF5 describes it. */
void vol_attr_tell(vol_node *owner, const vol_attr *attr, H5A_info_t *info);

/* Number n of the attributes in an order of an index; NULL behind the last one. Borrowed as the
   list is. */
const vol_attr *vol_attrs_in_order(vol_attrs *attrs, H5_index_t index, H5_iter_order_t order,
                                   hsize_t n);

/* H5Aiterate2: calls the operator for the attributes of an object. *args->idx is the place where
   the walk begins, and has stopped. Pushes errors, but not those of the operator. */
herr_t vol_attrs_iterate(const vol_object *object, const H5VL_loc_params_t *loc,
                         const H5VL_attr_iterate_args_t *args);

/* ---- H5Giterate and H5Aiterate1, which many programs still call ---- */

/* In the order of the names; *args->last_obj is the place where the walk has stopped. */
herr_t vol_walk_links_old(const vol_object *group, const H5VL_native_group_iterate_old_t *args);

/* In the order of creation. */
herr_t vol_walk_attributes_old(const vol_object *owner, const H5VL_native_attr_iterate_old_t *args);

#endif
