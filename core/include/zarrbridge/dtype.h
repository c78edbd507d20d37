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

/* What an element is. */
enum zb_kind {
    ZB_KIND_BOOL,      /* 1 byte, 0 or 1 */
    ZB_KIND_INT,       /* two's complement, 1, 2, 4 or 8 bytes */
    ZB_KIND_UINT,      /* 1, 2, 4 or 8 bytes */
    ZB_KIND_FLOAT,     /* IEEE 754 binary16, 32, 64 */
    ZB_KIND_COMPLEX,   /* real then imaginary part, 4, 8 or 16 bytes together */
    ZB_KIND_RAW,       /* raw_bytes and r<bits>: size bytes without further meaning */
    ZB_KIND_STRING,    /* a zb_slice: UTF-8 text of any length */
    ZB_KIND_BYTES,     /* a zb_slice: bytes of any length */
    ZB_KIND_STRUCT,    /* the fields of its detail */
    ZB_KIND_DATETIME,  /* int64: units since 1970-01-01T00:00 UTC; INT64_MIN is no time */
    ZB_KIND_TIMEDELTA, /* int64: units; INT64_MIN is no time */
    ZB_KIND_CHARS,     /* null_terminated_bytes: size bytes, of which NULs at the end are padding */
    ZB_KIND_UTF32,     /* fixed_length_utf32: size / 4 code points, NULs at the end are padding */
    /* Numbers of few bits, in codes of 1 byte (bfloat16: 2): the format of the detail tells which.
       zb_array_read and zb_writer_write convert from and to ordinary numbers. Bits of a code that
       the format does not use say nothing. */
    ZB_KIND_SMALL,
    ZB_KIND_SMALL_COMPLEX, /* two codes: real then imaginary part */
    /* A type that none of the above describes; zb_dtype_name says which. zb_array_read and
       zb_writer_write convert from and to the type that zb_dtype_shown gives. New types come as
       this kind, so that the list above stays as it is. */
    ZB_KIND_EXTENSION
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
    uint32_t size; /* bytes */
    /* Components are in the byte order opposite to the host's; those of a struct in the order
       opposite to the one that its fields say. */
    bool swapped;
    const zb_dtype_detail
        *detail; /* of a struct, a time, a small number, an extension, else NULL */
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

/* The formats of small numbers; names as in documents. */
enum zb_format {
    ZB_FORMAT_NONE,
    ZB_FORMAT_INT2,
    ZB_FORMAT_INT4,
    ZB_FORMAT_UINT2,
    ZB_FORMAT_UINT4,
    ZB_FORMAT_FLOAT4_E2M1FN,
    ZB_FORMAT_FLOAT6_E2M3FN,
    ZB_FORMAT_FLOAT6_E3M2FN,
    ZB_FORMAT_FLOAT8_E3M4,
    ZB_FORMAT_FLOAT8_E4M3,
    ZB_FORMAT_FLOAT8_E4M3B11FNUZ,
    ZB_FORMAT_FLOAT8_E4M3FNUZ,
    ZB_FORMAT_FLOAT8_E5M2,
    ZB_FORMAT_FLOAT8_E5M2FNUZ,
    ZB_FORMAT_FLOAT8_E8M0FNU,
    ZB_FORMAT_BFLOAT16,
    ZB_FORMATS
};

struct zb_dtype_detail {
    const zb_field *fields; /* of a struct */
    size_t field_count;
    enum zb_time_unit unit; /* of a datetime or timedelta: one count is `scale` units */
    uint32_t scale;
    enum zb_format format;            /* of a small number, or of both parts of a complex one */
    const struct zb__kind *extension; /* which one: the library's own, from zb_dtype_from_name */
};

/* Do the bytes of both mean the same? Byte order counts where a component has several bytes, names
   of fields and units count, the address of a detail does not. */
ZB_API bool zb_dtype_equal(zb_dtype a, zb_dtype b);

/* True if an element points at bytes elsewhere: string, bytes, a struct with such a field. */
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

/* The type of that name, if it is one without a configuration: "int16", "string", "bfloat16",
   "complex_float8_e5m2". Its detail is static. */
ZB_API bool zb_dtype_from_name(const char *name, zb_dtype *out);

/* The format of a small number, also of a complex one; of any other type ZB_FORMAT_NONE. */
ZB_API enum zb_format zb_dtype_format(zb_dtype dtype);

/* Writes the type with its detail, cut off to `size` bytes with the end: "uint16",
   "struct{x: float32, t: numpy.datetime64[10us]}". Returns text. */
ZB_API const char *zb_dtype_print(zb_dtype dtype, char *text, size_t size);

/* Bytes for each name of a type, with the end. */
#define ZB_DTYPE_NAME_SIZE 32

/* The Zarr name without detail ("uint16", "complex64", "r24", "string",
   "complex_float8_e4m3b11fnuz"), in text, which is returned again. */
ZB_API const char *zb_dtype_name(zb_dtype dtype, char text[ZB_DTYPE_NAME_SIZE]);

/* True if zb_array_read can convert elements of `from` into `to`:
   - numbers into numbers, complex ones into complex ones, small ones included (but no 64-bit
     integers into small numbers);
   - datetimes and timedeltas into int64 and back;
   - null_terminated_bytes into longer ones; fixed_length_utf32 into longer ones, and as UTF-8 into
     null_terminated_bytes of at least as many bytes, where U+FFFD stands for what is no code point;
   - a struct into a struct whose fields it has, by their names: one field, some, in any order;
   - any other type into itself. */
ZB_API bool zb_dtype_converts(zb_dtype from, zb_dtype to);

/* True if zb_writer_write takes elements of `from` for an array of `to`:
   - those that convert; of structs, those that have all fields of the array and no others;
   - null_terminated_bytes for fixed_length_utf32, of any size, in structs too: their bytes are
     UTF-8, and text that is not, or has more characters than `to` holds, is refused. */
ZB_API bool zb_dtype_writes(zb_dtype from, zb_dtype to);

/* Why an array of `to`, for which zb_dtype_writes holds, does not take an element: "is no UTF-8
   text" or the like, static; NULL where it does. zb_writer_write looks by itself, at all of a box
   before it takes any of it: this is for data that come in several boxes. */
ZB_API const char *zb_dtype_refuses(zb_dtype from, const void *element, zb_dtype to);

/* Converts `count` elements that lie side by side. False where neither zb_dtype_converts nor
   zb_dtype_writes holds, for what zb_dtype_refuses, and for types whose elements
   point at bytes elsewhere. */
ZB_API bool zb_dtype_convert(zb_dtype from, const void *src, zb_dtype to, void *dst, size_t count);

#ifdef __cplusplus
}
#endif
#endif
