/* SPDX-License-Identifier: MIT */
/*
 * A node's attributes as HDF5 values, made from JSON once, on first use.
 *
 *     number     int64; uint64 when one is above 2^63-1; float64 when one is no integer, also for
 *                the strings "NaN", "Infinity" and "-Infinity", which JSON has for them
 *     boolean    h5py's bool
 *     string     variable-length UTF-8
 *     list       of one of these: as many dimensions as lists are nested, when all inner ones have
 *                the same length; without elements: float64
 *     null       float64 in a null dataspace
 *     else       its JSON text as a string: objects, mixed and ragged lists
 *
 * So no value has more elements than the HDF5 attribute of which it was made.
 *
 * from_json.c makes them, to_json.c goes the other way. "_FillValue" of an array has the array's
 * type, as netCDF wants it; xarray writes floats as base64 of a little-endian double.
 * model/dimensions.c adds the attributes of HDF5's dimension scales.
 *
 * An attribute keeps its type and its dataspace while the file is open, whatever JSON makes of
 * them: programs size their buffers by what they created. So what the program creates or writes is
 * kept beside the document, and shown in place of what the document says.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_ATTRIBUTES_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_ATTRIBUTES_H

#include "model/tree.h"

enum vol_attr_kind {
    VOL_ATTR_NUMBER, /* data: count elements of dtype */
    VOL_ATTR_TEXT,   /* data: count pointers to malloc'ed strings */
    VOL_ATTR_FIXED,  /* data: one string in dtype.size bytes with its NUL */
    VOL_ATTR_REFS,   /* data: count tokens, 0 for an empty list: a list of 0 or 1 references each */
    VOL_ATTR_BYTES   /* data: count elements of `type`, as the program wrote them */
};

/* Where an attribute is. All but the first last until the file is closed. */
enum vol_attr_place {
    VOL_ATTR_STORED,    /* in the document, or made of it */
    VOL_ATTR_WRITTEN,   /* in the document, and here as the program wrote it */
    VOL_ATTR_SESSION,   /* only here: the document has no form for it */
    VOL_ATTR_UNWRITTEN, /* only here: created, but not written yet. It reads as zeros, and is
                           stored as such when its last id or the file is closed */
};

typedef struct vol_attr {
    char *name;
    enum vol_attr_kind kind;
    enum vol_attr_place place;
    bool unlisted; /* can be opened by its name, but is not counted and not iterated over */
    bool is_null;  /* has a null dataspace; count is 0 */
    uint32_t ndim;
    hsize_t dims[ZB_MAX_NDIM];
    size_t count; /* the product of dims */
    zb_dtype dtype;
    hid_t type;  /* what HDF5 is told, and what VOL_ATTR_BYTES are; 0: as kind and dtype say */
    hid_t space; /* likewise; 0: as ndim and dims say */
    void *data;  /* NULL when not written yet */
} vol_attr;

typedef struct vol_attrs {
    h5_lib *lib;
    size_t count, room;
    vol_attr *attr; /* [room], in the order of the document, what model/dimensions.c adds last */
    size_t slots;   /* a power of two above 2 * room, or 0 */
    size_t *slot;   /* [slots]: 1 + the attribute whose name has that hash or one before; 0: none */
    size_t listed;
    vol_attr **in_order; /* [listed] */
    vol_attr **by_name;  /* [listed] */
} vol_attrs;

/* The attributes of a readable node; borrowed until the next change of the file. NULL, with an
   error pushed, when memory runs out. */
const vol_attrs *vol_node_attrs(vol_node *node);

void vol_attrs_free(vol_attrs *attrs);

/* Frees what an attribute owns. */
void vol_attr_clear(h5_lib *lib, vol_attr *attr);

/* NULL when there is none of that name. */
const vol_attr *vol_attrs_find(const vol_attrs *attrs, const char *name);

/* Appends an attribute with `count` elements of `size` bytes, zeroed, for the caller to fill;
   replaces one of the same name. It has no dimension when count is 1, else one. NULL when memory
   runs out. Only while the list is being made. */
vol_attr *vol_attrs_add(vol_attrs *attrs, const char *name, enum vol_attr_kind kind, size_t count,
                        size_t size);

/* Does it come from dimension_names? Such a one may be created once more: a program that copies
   attributes writes CLASS and then NAME. */
bool vol_attr_is_derived(const vol_node *owner, const vol_attr *attr);

/* HDF5's view of one: a new type and a new dataspace, and the bytes that they take. */
hid_t vol_attr_type(h5_lib *lib, const vol_attr *attr);
hid_t vol_attr_space(h5_lib *lib, const vol_attr *attr);
size_t vol_attr_size(h5_lib *lib, const vol_attr *attr);

/* from_json.c: adds the attribute that a member of the document is. False when memory runs
   out. */
bool vol_attrs_add_json(vol_attrs *attrs, const zb_json *value);

/* Replaces the plain translation of _FillValue by one element of the array's type, where that
   works. */
bool vol_attrs_add_fill_value(vol_attrs *attrs, const zb_json *value, zb_dtype dtype);

/* Keeps an attribute for the session, in place of one of the same name that is kept already, or
   that the document or model/dimensions.c may give. Takes over what `attr` owns, also when memory
   runs out (false). This and the next two invalidate vol_node_attrs. */
bool vol_node_keep_attr(vol_node *node, vol_attr *attr);

/* Forgets one that is kept with that place; false when there is none. */
bool vol_node_drop_attr(vol_node *node, const char *name, enum vol_attr_place place);

/* Gives one that is kept another name, which no other one has. False when memory runs out. */
bool vol_node_rename_attr(vol_node *node, const char *from, const char *to);

/* One that is kept as not written yet: of that name, or (NULL) any. Borrowed; NULL when there is
   none. */
const vol_attr *vol_node_unwritten(const vol_node *node, const char *name);

/* to_json.c: `count` elements of an HDF5 type as a JSON value (malloc'ed), nested as dims
   say. ZB_EUNSUPPORTED for types that have no JSON form. */
enum zb_code vol_attr_print(h5_lib *lib, hid_t type, uint32_t ndim, const hsize_t *dims,
                            const void *data, hid_t dxpl, char **text, zb_error *err);

/* The same for _FillValue of an array of that type: one element, floats as xarray writes them. */
enum zb_code vol_attr_print_fill(h5_lib *lib, hid_t type, zb_dtype dtype, const void *data,
                                 hid_t dxpl, char **text, zb_error *err);

/* One element of a string type as a string of its own (malloc'ed), without padding. NULL when
   memory runs out. */
char *vol_attr_text(h5_lib *lib, hid_t type, const void *element);

/* model/dimensions.c: adds DIMENSION_LABELS, DIMENSION_LIST, CLASS and NAME to the attributes of an
   array. False when memory runs out. */
bool vol_dims_add(vol_attrs *attrs, const vol_node *node);

/* model/dimensions.c: is the dataset the scale of a dimension? */
bool vol_dims_is_scale(const vol_node *node);

/* model/dimensions.c: is it one by its own words, whatever is beside it? */
bool vol_dims_names_itself(const vol_node *node);

/* How netCDF-4 begins the NAME of a dimension that has no variable; its length follows. */
#define VOL_NOT_A_VARIABLE "This is a netCDF dimension but not a netCDF variable."

/* model/dimensions.c: an array in memory, at a path of its own, that stands for such a dimension.
 */
enum zb_code vol_dims_new_array(vol_file *file, const char *path, uint64_t length,
                                const char *attributes, zb_node **out, zb_error *err);

/* model/dimensions.c: with the option netcdf_dimensions, adds datasets for the dimensions of a
   listed group's arrays that have no scale. */
enum zb_code vol_dims_complete(vol_node *group, zb_error *err);

#endif
