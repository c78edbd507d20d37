/* SPDX-License-Identifier: MIT */
/* Data types of Zarr version 2, as those of version 3. */
#ifndef ZB_MODEL_V2_DTYPE_H
#define ZB_MODEL_V2_DTYPE_H

#include "zarrbridge/json.h"

/* The form of a type's name and of its fill values. */
enum zb__v2_form {
    ZB__V2_PLAIN,  /* a number, which the letter and the size alone describe */
    ZB__V2_RAW,    /* V: bytes */
    ZB__V2_BYTES,  /* S: bytes up to the first NUL of the last ones */
    ZB__V2_TEXT,   /* U: code points of 4 bytes, padded likewise */
    ZB__V2_TIME,   /* M, m: int64 with a unit */
    ZB__V2_OBJECT, /* O: what a filter serialises */
    ZB__V2_STRUCT  /* a list of fields */
};

#define ZB__V2_BOTH '*'

/* A type. Points into the document that it was parsed from. */
typedef struct zb__v2_dtype {
    enum zb__v2_form form;
    const char *name; /* of the type in version 3; NULL for raw bytes, whose size is in it */
    uint64_t size;    /* bytes of an element; 0 for objects */
    char letter;      /* of numpy: 'i', 'f', ...; 0 for a struct */
    char order;       /* '<' or '>', or '|' where no component has several bytes; of a struct whose
                         fields differ ZB__V2_BOTH */
    char unit[8];     /* of a time */
    uint32_t scale;   /* of a time: units in one count */
    const zb_json *fields;
} zb__v2_dtype;

/* serial: the codec that serialises objects, or NULL. ZB_EUNSUPPORTED for types that version 3 has
   no name for. */
enum zb_code zb__v2_dtype_parse(const zb_json *value, const char *serial, zb__v2_dtype *out,
                                zb_error *err);

/* The type of a field of a struct that was parsed. */
zb__v2_dtype zb__v2_field(const zb_json *field);

/* Writes the byte order of each field of a struct, as a list: "little", "big", or such a list. */
void zb__v2_orders_write(zb_json_writer *w, const zb__v2_dtype *dtype);

/* Writes the `data_type` of version 3. */
void zb__v2_dtype_write(zb_json_writer *w, const zb__v2_dtype *dtype);

#endif
