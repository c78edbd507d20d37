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

enum zb_kind {
    ZB_KIND_BOOL,    /* 1 byte, 0 or 1 */
    ZB_KIND_INT,     /* two's complement, 1, 2, 4 or 8 bytes */
    ZB_KIND_UINT,    /* 1, 2, 4 or 8 bytes */
    ZB_KIND_FLOAT,   /* IEEE 754 binary16, 32, 64 */
    ZB_KIND_COMPLEX, /* real then imaginary part, 8 or 16 bytes together */
    ZB_KIND_RAW      /* r<bits>: size bytes without further meaning */
};

/* An element in memory. Host byte order unless `swapped`. */
typedef struct zb_dtype {
    enum zb_kind kind;
    uint32_t size; /* bytes */
    bool swapped;  /* components are in the byte order opposite to the host's */
} zb_dtype;

/* The Zarr name ("uint16", "complex64", "r24"). text needs 24 bytes; returned again. */
ZB_API const char *zb_dtype_name(zb_dtype dtype, char text[24]);

/* True if zb_array_read can convert elements of `from` into `to`. */
ZB_API bool zb_dtype_converts(zb_dtype from, zb_dtype to);

#ifdef __cplusplus
}
#endif
#endif
