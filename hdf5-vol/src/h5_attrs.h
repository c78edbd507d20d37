/* SPDX-License-Identifier: MIT */
/*
 * A node's attributes as HDF5 values, made from JSON once, on first use.
 *
 *     number, list of numbers    int64; uint64 when one is above 2^63-1; float64 when one is
 *                                no integer
 *     boolean, list of booleans  h5py's bool
 *     string, list of strings    variable-length UTF-8
 *     anything else              its JSON text as a string: objects, null, [], nested and
 *                                mixed lists
 *
 * Lists are 1-D. "_FillValue" of an array has the array's type, as netCDF wants it; xarray writes
 * floats as base64 of a little-endian double. h5_dims.c adds the attributes of HDF5's dimension
 * scales.
 */
#ifndef ZARRBRIDGE_H5_ATTRS_H
#define ZARRBRIDGE_H5_ATTRS_H

#include "h5_tree.h"

enum vol_attr_kind {
    VOL_ATTR_NUMBER, /* data: count elements of dtype */
    VOL_ATTR_TEXT,   /* data: count pointers to malloc'ed strings */
    VOL_ATTR_FIXED,  /* data: one string in dtype.size bytes with its NUL */
    VOL_ATTR_REFS    /* data: count tokens, 0 for an empty list: a list of 0 or 1 references each */
};

typedef struct vol_attr {
    char *name;
    enum vol_attr_kind kind;
    bool scalar; /* count is 1 and the dataspace has no dimension */
    size_t count;
    zb_dtype dtype;
    void *data;
} vol_attr;

typedef struct vol_attrs {
    size_t count, room;
    vol_attr *attr;    /* in the order of the document, what h5_dims.c adds last */
    vol_attr **sorted; /* by name */
} vol_attrs;

/* The attributes of a readable node; borrowed. NULL, with an error pushed, when memory runs out. */
const vol_attrs *vol_node_attrs(vol_node *node);

void vol_attrs_free(vol_attrs *attrs);

/* NULL when there is none of that name. */
const vol_attr *vol_attrs_find(const vol_attrs *attrs, const char *name);

/* Appends an attribute with `count` elements of `size` bytes, zeroed, for the caller to fill;
   replaces one of the same name. NULL when memory runs out. Only while the list is being made. */
vol_attr *vol_attrs_add(vol_attrs *attrs, const char *name, enum vol_attr_kind kind, size_t count,
                        size_t size);

/* HDF5's view of one: a new type and a new dataspace, and the bytes that they take. */
hid_t vol_attr_type(h5_lib *lib, const vol_attr *attr);
hid_t vol_attr_space(h5_lib *lib, const vol_attr *attr);
size_t vol_attr_size(const vol_attr *attr);

/* h5_dims.c: adds DIMENSION_LABELS, DIMENSION_LIST, CLASS and NAME to the attributes of an array.
   False when memory runs out. */
bool vol_dims_add(vol_attrs *attrs, const vol_node *node);

/* h5_dims.c: with the option netcdf_dimensions, adds datasets for the dimensions of a listed
   group's arrays that have no scale. */
enum zb_code vol_dims_complete(vol_node *group, zb_error *err);

#endif
