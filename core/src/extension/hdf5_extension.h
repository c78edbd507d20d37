/* SPDX-License-Identifier: MIT */
/* The parsed extension (the public hdf5_extension.h), and the table of its members. */
#ifndef ZB_EXTENSION_HDF5_EXTENSION_H
#define ZB_EXTENSION_HDF5_EXTENSION_H

#include "extension/member_text.h"
#include "zarrbridge/hdf5_extension.h"

struct zb_hdf5_extension {
    zb_json *object;
    const zb_json *member[ZB_HDF5_MEMBERS]; /* NULL: none of its kind */
};

/* How two changes of one member become one. */
enum zb__hdf5_merge {
    ZB__MERGE_LAST,     /* the last one counts */
    ZB__MERGE_NAMES,    /* a set of names */
    ZB__MERGE_NUMBERED, /* names in their order, with numbers for those that have gone */
    ZB__MERGE_ENTRIES   /* each entry, and what is in it (merge_values.h) */
};

/* Of what copies a member is true. */
enum zb__hdf5_copies {
    ZB__COPIES_NONE,   /* it is the node's own */
    ZB__COPIES_SHAPE,  /* those of the same shape */
    ZB__COPIES_TYPES,  /* all, unless it tells of references, which lead elsewhere there */
    ZB__COPIES_ENTRIES /* each entry for itself */
};

typedef struct zb__hdf5_row {
    const char *name;
    unsigned kinds; /* bits: 1 << enum zb_json_kind */
    enum zb__hdf5_merge merge;
    enum zb__hdf5_copies copies;
} zb__hdf5_row;

/* The row of a member. */
const zb__hdf5_row *zb__hdf5_row_of(enum zb_hdf5_member member);

#endif
