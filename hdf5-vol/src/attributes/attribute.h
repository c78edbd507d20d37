/* SPDX-License-Identifier: MIT */
/*
 * One attribute as an HDF5 value, by the plain translation of its JSON:
 *
 *     number     int64; uint64 when one is above 2^63-1; float64 when one has a fraction or an
 *                exponent, also for the strings "NaN", "Infinity" and "-Infinity"
 *     boolean    h5py's bool
 *     string     variable-length UTF-8; to netCDF text of a fixed length (attributes.c)
 *     list       of one of these: as many dimensions as lists are nested, when all inner ones have
 *                the same length; without elements: float64
 *     null       float64 in a null dataspace
 *     else       its JSON text as a string: objects, mixed and ragged lists
 *
 * So no value has more elements than the HDF5 attribute of which it was made. Where the attribute
 * that an HDF5 program wrote had another type or shape, exact.h gives it back.
 *
 * "_FillValue" of an array has the array's
 * type, as netCDF wants it; xarray writes floats as base64 of a little-endian double.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_ATTRIBUTE_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_ATTRIBUTE_H

#include "attributes/attribute_list.h"
#include "tree/tree.h"

/* The value of an attribute: `data` holds the elements of a dataspace, as `type`. */
typedef struct vol_attr_value {
    const char *name;
    hid_t type, space, dxpl;
    const void *data;
    const char
        *committed; /* the path of the committed datatype that the attribute shows, or NULL */
    hid_t new_refs; /* as vol_attr has it; 0: none */
    bool is_utf8;   /* the name, as in vol_attr */
} vol_attr_value;

/* HDF5's view of one: a new type and a new dataspace, and the bytes that they take. The type is the
   one in which the elements are kept, or (shown) the one that programs see, which differs in the
   kind of references alone. */
hid_t vol_attr_type(h5_lib *lib, const vol_attr *attr);
hid_t vol_attr_shown_type(h5_lib *lib, const vol_attr *attr);
hid_t vol_attr_space(h5_lib *lib, const vol_attr *attr);

/* The character set of its name, and a creation list with it: an id to be closed, or -1. */
H5T_cset_t vol_attr_cset(const vol_attr *attr);
hid_t vol_attr_list(h5_lib *lib, H5T_cset_t cset);

/* Its elements in the form of that type, borrowed. The tokens of a VOL_ATTR_REFS attribute, one for
   each dimension, become lists of one, or none, in lists[ZB_MAX_NDIM]. */
const void *vol_attr_data(const vol_attr *attr, hvl_t *lists);
size_t vol_attr_size(h5_lib *lib, const vol_attr *attr);

/* An attribute of that type and dataspace without a value, for vol_node_keep_attr. When it returns
   false, vol_attr_clear frees the rest. */
bool vol_attr_describe(h5_lib *lib, const char *name, hid_t type, hid_t space, vol_attr *out);

/* One element of a string type as a string of its own (malloc'ed), without padding. NULL
   when memory runs out. */
char *vol_attr_text(h5_lib *lib, hid_t type, const void *element);

/* Adds the attribute that a member of the document is by the plain translation. False
   when memory runs out. */
bool vol_attrs_add_plain(vol_attrs *attrs, const vol_node *node, const zb_json *value);

/* Pushes that one cannot be written, created, ... (`what`), and why. Always returns -1. */
herr_t vol_attr_push_failed(h5_lib *lib, const char *what, const char *name, const zb_error *err);

/* That memory runs out. Always returns -1. */
herr_t vol_attr_push_no_memory(h5_lib *lib, const char *name);

#endif
