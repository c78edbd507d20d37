/* SPDX-License-Identifier: MIT */
/*
 * A list of attributes as HDF5 values. Adding one and finding one by its name take the same time in
 * long lists as in short ones; the lists in an order are made when one of them is asked for.
 *
 * An attribute keeps its type and its dataspace while the file is open, whatever JSON makes of
 * them: programs size their buffers by the attribute that they created. So an attribute that the
 * program creates or writes is kept beside the document, and shown in place of the document's.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_ATTRIBUTE_LIST_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_ATTRIBUTE_LIST_H

#include "hdf5/library.h"
#include "tree/structs.h"

#include "zarrbridge/zarrbridge.h"

enum vol_attr_kind {
    VOL_ATTR_NUMBER, /* data: count elements of dtype */
    VOL_ATTR_TEXT,   /* data: count pointers to malloc'ed strings */
    VOL_ATTR_FIXED,  /* data: one string in dtype.size bytes with its NUL */
    VOL_ATTR_REFS,   /* data: count tokens, 0 for an empty list: a list of 0 or 1 references each */
    VOL_ATTR_BYTES   /* data: count elements of `type`, as the program wrote them */
};

/* The place of an attribute. The last two are kept here until the file is closed. */
enum vol_attr_place {
    VOL_ATTR_STORED,    /* in the document, or made of it */
    VOL_ATTR_STATED,    /* of a dimension scale, in scales/scales.h */
    VOL_ATTR_WRITTEN,   /* in the document, and here as the program wrote it */
    VOL_ATTR_UNWRITTEN, /* only here: created, but not written yet. It reads as zeros, and is
                           stored as such when its last id or the file is closed */
};

typedef struct vol_attr {
    char *name; /* NULL: has been removed */
    enum vol_attr_kind kind;
    enum vol_attr_place place;
    bool derived;  /* made of other members: no attribute of the document has its name */
    bool unlisted; /* can be opened by its name, but is not counted and not iterated over */
    bool is_null;  /* has a null dataspace; count is 0 */
    bool is_json;  /* VOL_ATTR_TEXT: the text of a JSON value (vol_type_json_text) */
    uint32_t ndim;
    hsize_t dims[ZB_MAX_NDIM];
    size_t count; /* the product of dims */
    zb_dtype dtype;
    /* The one that HDF5 is told, and that of VOL_ATTR_BYTES; none: see kind and dtype. */
    vol_held_type type;
    /* Where references of the new kind (H5T_STD_REF) show in place of the old ones of `type`, in
       whose form the elements are kept: that type (scales/scale_attributes.h). */
    vol_held_type new_refs;
    hid_t space; /* likewise; 0: as ndim and dims say */
    /* The name of the committed datatype that the type is (objects/committed_types.h), or NULL. */
    char *committed;
    char *array; /* the hidden array (attributes/large.h) with the elements, until they are read; or
                    NULL */
    void *data;  /* NULL when not written, or not read yet */
    bool is_utf8; /* the program said so of the name, whose letters do not tell it */
    bool points;  /* VOL_ATTR_BYTES: elements own other memory, which H5Treclaim frees */
    size_t order; /* its place, which vol_attrs_order tells */
} vol_attr;

typedef struct vol_attrs {
    h5_lib *lib;
    size_t count, capacity;
    vol_attr *attr; /* [capacity], in the order of the document; derived ones lie between */
    /* Where the order in which attributes are made is tracked (attribute_order.h): the number of
       each one, and the largest since there was none. 0: a derived one, or none yet. */
    bool numbered;
    uint64_t *number;   /* [capacity] */
    size_t with_number; /* how many of them are not 0 */
    uint64_t last;
    /* [4 * capacity]: 1 + the attribute whose name has that hash or one before; 0: none */
    size_t *slot;
    bool has_back;      /* scales/back_references.c has been asked */
    bool has_number[2]; /* netcdf/netcdf_numbers.c likewise: of a scale, of a list */
    bool is_sorted;     /* the rest is up to date */
    size_t listed;
    /* [capacity], of which `listed`: by their numbers, or the document's first */
    vol_attr **in_order;
    vol_attr **by_name; /* likewise */
} vol_attrs;

/* NULL when memory runs out. */
vol_attrs *vol_attrs_new(h5_lib *lib);
void vol_attrs_free(vol_attrs *attrs);

/* Frees all that an attribute owns. */
void vol_attr_clear(h5_lib *lib, vol_attr *attr);

/* NULL when there is none of that name. */
vol_attr *vol_attrs_find(const vol_attrs *attrs, const char *name);

/* Reserves memory for `more` attributes. False when memory runs out; the list is as it was then. */
bool vol_attrs_reserve(vol_attrs *attrs, size_t more);

/* A free place: that of an attribute with the same name, which is cleared, or a new one at the end.
   The caller puts one of that name there. NULL when the list is full and memory runs out. */
vol_attr *vol_attrs_place(vol_attrs *attrs, const char *name);

/* Numbers a list that has none yet: the attribute of that name gets one, unless it has one. Then
   all others get those behind `last`, in their order. */
void vol_attrs_set_number(vol_attrs *attrs, const char *name, uint64_t number);
void vol_attrs_number_rest(vol_attrs *attrs, uint64_t last);

/* Gives `to`, the newest attribute, the number that `from` had. */
void vol_attrs_take_number(vol_attrs *attrs, const vol_attr *to, const vol_attr *from);

/* Takes one out, if it is there. */
void vol_attrs_remove(vol_attrs *attrs, const char *name);

/* Appends an attribute with `count` elements of `size` bytes, zeroed, for the caller to fill;
   replaces one of the same name. It has no dimension when count is 1, else one. NULL when memory
   runs out. Only while the list is being made. */
vol_attr *vol_attrs_add(vol_attrs *attrs, const char *name, enum vol_attr_kind kind, size_t count,
                        size_t size);

/* The number of attributes that are counted, and number n (below that) of them: in the order of
   their names (of strcmp), or in that of their numbers, or else of the document, with the derived
   ones behind. */
size_t vol_attrs_listed(vol_attrs *attrs);
const vol_attr *vol_attrs_at(vol_attrs *attrs, bool by_name, size_t n);

/* The place of one of the list's attributes in the second order, with the gaps of the numbers.
   False when it is not counted. */
bool vol_attrs_order(vol_attrs *attrs, const vol_attr *attr, size_t *out);

/* ---- The list of a node ---- */

typedef struct vol_node_attributes {
    vol_attrs *list; /* NULL until asked for */
    uint64_t change; /* file->changes when it was made; 0: it is out of date */
} vol_node_attributes;

/* The list as it is, out of date or not; NULL when there is none. The second makes an empty one,
   which is out of date, where there is none; NULL when memory runs out. */
vol_attrs *vol_node_attrs_now(const vol_node *node);
vol_attrs *vol_node_attrs_begin(vol_node *node);

/* Puts another list in its place, which is up to date; takes it over. */
void vol_node_attrs_set(vol_node *node, vol_attrs *list);

bool vol_node_attrs_are_current(const vol_node *node);
void vol_node_attrs_outdate(vol_node *node);

/* The document may tell other numbers (attribute_order.h) than it did. */
void vol_node_attrs_unnumber(vol_node *node);

/* How up to date the list is, for a caller that makes its own change in it: the list is as good as
   before then. */
uint64_t vol_node_attrs_change(const vol_node *node);
void vol_node_attrs_as_before(vol_node *node, uint64_t change);

/* Whether some have been created, and not written yet. */
bool vol_node_attrs_wait(const vol_node *node);

/* Whether it has attributes that no document tells. */
bool vol_node_attrs_have_own(const vol_node *node);

#endif
