/* SPDX-License-Identifier: MIT */
/*
 * A node's attributes as HDF5 values, made from JSON on first use. Attributes that the program
 * creates and writes go into the list that was made.
 *
 *     number     int64; uint64 when one is above 2^63-1; float64 when one has a fraction or an
 *                exponent, also for the strings "NaN", "Infinity" and "-Infinity"
 *     boolean    h5py's bool
 *     string     variable-length UTF-8
 *     list       of one of these: as many dimensions as lists are nested, when all inner ones have
 *                the same length; without elements: float64
 *     null       float64 in a null dataspace
 *     else       its JSON text as a string: objects, mixed and ragged lists
 *
 * So no value has more elements than the HDF5 attribute of which it was made. That is the plain
 * translation; where the attribute that an HDF5 program wrote had another type or shape, exact.h
 * gives it back.
 *
 * from_json.c makes them, to_json.c goes the other way. "_FillValue" of an array has the array's
 * type, as netCDF wants it; xarray writes floats as base64 of a little-endian double.
 * model/dimensions.c adds the attributes of HDF5's dimension scales.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_ATTRIBUTES_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_ATTRIBUTES_H

#include "model/attribute_list.h"
#include "model/tree.h"

/* The attributes of a node; borrowed until the next change of the file. NULL, with an error pushed,
   when memory runs out. They are those that the file was opened with, and those that the program
   itself changed since; vol_edit_refresh has them made anew. */
vol_attrs *vol_node_attrs(vol_node *node);

/* The text of the attribute of that name that is made of a dataset's type, if there is one: units,
   calendar, and VOL_DATA_TYPE. Malloc'ed; NULL also when memory runs out. */
char *vol_node_type_text(vol_node *node, const char *name);

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

/* from_json.c: adds the attribute that a member of the document is. False when memory runs
   out. */
bool vol_attrs_add_json(vol_attrs *attrs, const zb_json *value);

/* The plain translation of a member of the document, that of _FillValue included. */
bool vol_attrs_add_plain(vol_attrs *attrs, const vol_node *node, const zb_json *value);

/* Replaces the plain translation of _FillValue by one element of the array's type, where that
   works. */
bool vol_attrs_add_fill_value(vol_attrs *attrs, const zb_json *value, zb_dtype dtype);

/* Keeps an attribute for the session, in place of one of the same name that is kept already, or
   that the document or model/dimensions.c may give. Takes over what `attr` owns, also when memory
   runs out (false). A list that is up to date stays so. */
bool vol_node_keep_attr(vol_node *node, vol_attr *attr);

/* Forgets one that is kept with that place; false when there is none. */
bool vol_node_drop_attr(vol_node *node, const char *name, enum vol_attr_place place);

/* Gives one another name, which no other one has. It keeps its number; a list without numbers has
   it at its end. False when memory runs out. */
bool vol_node_rename_attr(vol_node *node, const char *from, const char *to);

/* Whether an attribute of that name, and no other one of the list, changes with the document's: of
   others some are made. */
bool vol_node_attr_is_alone(const vol_node *node, const char *name);

/* An attribute that is kept as not written yet: of that name, or (NULL) any. Borrowed; NULL when
   there is none. */
const vol_attr *vol_node_unwritten(const vol_node *node, const char *name);

/* One element of a string type as a string of its own (malloc'ed), without padding. NULL when
   memory runs out. */
char *vol_attr_text(h5_lib *lib, hid_t type, const void *element);

#endif
