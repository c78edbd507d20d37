/* SPDX-License-Identifier: MIT */
/* Data types: the form of an element in memory. */
#ifndef ZARRBRIDGE_DTYPE_H
#define ZARRBRIDGE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ZB_MAX_NDIM 32 /* also HDF5's limit */

/* What an element is. Of those below the line no document speaks that this version opens or
   creates: programs may describe them, and the functions below answer for them, but an array of
   such a type is listed as unreadable. */
enum zb_kind {
    ZB_KIND_BOOL,    /* 1 byte, 0 or 1 */
    ZB_KIND_INT,     /* two's complement, 1, 2, 4 or 8 bytes */
    ZB_KIND_UINT,    /* 1, 2, 4 or 8 bytes */
    ZB_KIND_FLOAT,   /* IEEE 754 binary16, 32, 64 */
    ZB_KIND_COMPLEX, /* real then imaginary part, 8 or 16 bytes together */
    ZB_KIND_RAW,     /* r<bits>: size bytes without further meaning */
    ZB_KIND_STRING,  /* a zb_slice: UTF-8 text of any length */
    /* ---- not in documents yet ---- */
    ZB_KIND_BYTES,    /* a zb_slice: bytes of any length */
    ZB_KIND_STRUCT,   /* the fields of its detail */
    ZB_KIND_DATETIME, /* int64: units since 1970-01-01T00:00 UTC; INT64_MIN is no time */
    ZB_KIND_TIMEDELTA /* int64: units; INT64_MIN is no time */
};

/* An element of variable length in memory: a zb_dtype of kind string or bytes has this size. */
typedef struct zb_slice {
    const char *data; /* not terminated; may be NULL when size is 0 */
    size_t size;      /* bytes */
} zb_slice;

/* What kind and size do not tell of a type. See zb_dtype. */
typedef struct zb_dtype_detail zb_dtype_detail;

/*
 * An element in memory: a small value, passed by value. Host byte order unless `swapped`.
 *
 * The owner of a detail is whoever made the dtype. One that the library hands out points into the
 * node whose zb_array_info it came from: keep the node for as long as the dtype. One that a program
 * makes has to last as long as the call that it is given to. A detail never changes, so that any
 * number of threads use it at once. Numbers and raw bytes have none: {kind, size} says all.
 */
typedef struct zb_dtype {
    enum zb_kind kind;
    uint32_t size;                 /* bytes */
    bool swapped;                  /* components are in the byte order opposite to the host's */
    const zb_dtype_detail *detail; /* of a struct, a datetime or a timedelta, else NULL */
} zb_dtype;

/* A field of a struct. Fields are in the order of their offsets and do not overlap. */
typedef struct zb_field {
    const char *name; /* UTF-8 */
    uint32_t offset;  /* bytes from the struct's first */
    zb_dtype dtype;
} zb_field;

enum zb_time_unit {
    ZB_UNIT_GENERIC, /* not said: what a number means is the program's affair */
    ZB_UNIT_YEAR,
    ZB_UNIT_MONTH,
    ZB_UNIT_WEEK,
    ZB_UNIT_DAY,
    ZB_UNIT_HOUR,
    ZB_UNIT_MINUTE,
    ZB_UNIT_SECOND,
    ZB_UNIT_MILLISECOND,
    ZB_UNIT_MICROSECOND,
    ZB_UNIT_NANOSECOND,
    ZB_UNIT_PICOSECOND,
    ZB_UNIT_FEMTOSECOND,
    ZB_UNIT_ATTOSECOND
};

struct zb_dtype_detail {
    const zb_field *fields; /* of a struct */
    size_t field_count;
    enum zb_time_unit unit; /* of a datetime or timedelta: one count is `scale` units */
    uint32_t scale;
};

/* Do the bytes of both mean the same? Byte order counts where a component has several bytes, names
   of fields and units count, the address of a detail does not. */
ZB_API bool zb_dtype_equal(zb_dtype a, zb_dtype b);

/* Does an element point at bytes elsewhere: string, bytes, a struct with such a field? */
ZB_API bool zb_dtype_is_variable(zb_dtype dtype);

/* The fields of a struct; of any other type NULL and *count 0. */
ZB_API const zb_field *zb_dtype_fields(zb_dtype dtype, size_t *count);
/* The field of that name, or NULL. */
ZB_API const zb_field *zb_dtype_field(zb_dtype dtype, const char *name);

/* The unit of a datetime or timedelta, and how many of it one count is (*scale may be NULL); of any
   other type ZB_UNIT_GENERIC and 0. */
ZB_API enum zb_time_unit zb_dtype_unit(zb_dtype dtype, uint32_t *scale);
/* As documents and numpy write it: "D", "us"; "generic". Static. */
ZB_API const char *zb_time_unit_name(enum zb_time_unit unit);

/* Writes the type with its detail, cut off to `size` bytes with the end: "uint16",
   "struct{x: float32, t: numpy.datetime64[10us]}". Returns text. */
ZB_API const char *zb_dtype_print(zb_dtype dtype, char *text, size_t size);

/* The Zarr name without detail ("uint16", "complex64", "r24", "string"). text needs 24 bytes;
   returned again. */
ZB_API const char *zb_dtype_name(zb_dtype dtype, char text[24]);

/* True if zb_array_read can convert elements of `from` into `to`. */
ZB_API bool zb_dtype_converts(zb_dtype from, zb_dtype to);

#ifdef __cplusplus
}
#endif
#endif
