/* SPDX-License-Identifier: MIT */
/* Storing, renaming and deleting attributes. All push errors and return -1. */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_WRITE_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_WRITE_H

#include "attributes/attributes.h"
#include "objects/object.h"

/* The value of an attribute: `data` holds the elements of a dataspace, as `type`. */
typedef struct vol_attr_value {
    const char *name;
    hid_t type, space, dxpl;
    const void *data;
    const char *named; /* the path of the named datatype that the attribute shows, or NULL */
    hid_t new_refs;    /* as vol_attr has it; 0: none */
    bool is_utf8;      /* the name, as in vol_attr */
} vol_attr_value;

/* Fails when an attribute of this kind has no form in a store, or none can have the name. */
herr_t vol_attr_check(vol_node *owner, const char *name, hid_t type, hid_t space);
enum zb_code vol_attr_check_name(const char *name, zb_error *err);

/* Pushes that one cannot be written, created, ... (`what`), and why. Always returns -1. */
herr_t vol_attr_push_failed(h5_lib *lib, const char *what, const char *name, const zb_error *err);

/* That memory runs out. Always returns -1. */
herr_t vol_attr_push_no_memory(h5_lib *lib, const char *name);

/* An attribute of that type and dataspace without a value, for vol_node_keep_attr. When it returns
   false, vol_attr_clear frees the rest. */
bool vol_attr_describe(h5_lib *lib, const char *name, hid_t type, hid_t space, vol_attr *out);

/* Zeroed elements for a dataspace; malloc'ed. Those that point at memory point at none. */
herr_t vol_attr_zeros(h5_lib *lib, hid_t type, hid_t space, void **out);

/* Makes an attribute that is not written yet, of a name with that character set. */
herr_t vol_attr_create_unwritten(vol_node *owner, const char *name, H5T_cset_t cset, hid_t type,
                                 hid_t space);

/* Stores a value. The attribute shows as `shown` afterwards, and holds what HDF5's conversion to
   that type makes of the elements, which may well be their own type. */
herr_t vol_attr_store(vol_node *owner, const vol_attr_value *value, hid_t shown);

/* Stores attributes that are not written yet: that one, or those of a node and all below it. */
herr_t vol_attr_store_unwritten(vol_node *owner, const char *name);
herr_t vol_attr_store_unwritten_below(vol_node *node);

/* Forgets them. */
void vol_attr_abandon_unwritten_below(vol_node *node);

/* rename.c */
herr_t vol_attr_rename(vol_node *owner, const char *from, const char *to);
herr_t vol_attr_remove(vol_node *owner, const char *name);

/* read.c: reads an open attribute into the program's memory. */
herr_t vol_attr_read(const vol_object *object, hid_t mem_type, void *buffer, hid_t dxpl);

#endif
