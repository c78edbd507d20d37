/* SPDX-License-Identifier: MIT */
/* Storing, renaming and deleting attributes. All push errors and return -1. */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_WRITE_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_WRITE_H

#include "attributes/attributes.h"
#include "objects/object.h"

/* Fails when an attribute of this kind has no form in a store, or none can have the name. */
herr_t vol_attr_check(vol_node *owner, const char *name, hid_t type, hid_t space);

/* Zeroed elements for a dataspace; malloc'ed. Those that point at memory point at none. */
herr_t vol_attr_zeros(h5_lib *lib, hid_t type, hid_t space, void **out);

/* Makes an attribute that is not written yet, of a name with that character set. */
herr_t vol_attr_create_unwritten(vol_node *owner, const char *name, H5T_cset_t cset, hid_t type,
                                 hid_t space);

/* Stores a value. The attribute shows as `shown` afterwards, and holds what HDF5's conversion to
   that type makes of the elements, which may well be their own type. */
herr_t vol_attr_store(vol_node *owner, const vol_attr_value *value, hid_t shown);

/* Stores other elements of an attribute, in its own type (NULL: zeros); all else of it stays as it
   is. `attr` itself goes. */
herr_t vol_attr_store_elements(vol_node *owner, const vol_attr *attr, const void *elements);

/* Stores attributes that are not written yet: that one, or those of a node and all
   below it. */
herr_t vol_attr_store_unwritten(vol_node *owner, const char *name);
herr_t vol_attr_store_unwritten_below(vol_node *node);

/* Forgets those below a node that belong to these handles alone (file/owners.h). */
void vol_attr_abandon_unwritten_below(vol_node *node, vol_owners handles);

/* ---- Renaming and removing ---- */

herr_t vol_attr_rename(vol_node *owner, const char *from, const char *to);
herr_t vol_attr_remove(vol_node *owner, const char *name);

#endif
