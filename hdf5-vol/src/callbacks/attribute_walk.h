/* SPDX-License-Identifier: MIT */
/* Walks over the attributes of an object, and what is told of each. */
#ifndef ZARRBRIDGE_HDF5_VOL_CALLBACKS_ATTRIBUTE_WALK_H
#define ZARRBRIDGE_HDF5_VOL_CALLBACKS_ATTRIBUTE_WALK_H

#include "attributes/attributes.h"
#include "objects/object.h"

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

#endif
