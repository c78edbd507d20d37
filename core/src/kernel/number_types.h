/* SPDX-License-Identifier: MIT */
/* The types of numbers that Zarr and numpy both name: the one table of their names. */
#ifndef ZB_KERNEL_NUMBER_TYPES_H
#define ZB_KERNEL_NUMBER_TYPES_H

#include "zarrbridge/dtype.h"

typedef struct zb__number_type {
    const char *name; /* of both */
    const char *code; /* numpy's letter and number of bytes, without a byte order */
    enum zb_kind kind;
    uint32_t size; /* bytes */
} zb__number_type;

/* Each finds the one row, or gives NULL. */
const zb__number_type *zb__number_type_named(const char *name);
const zb__number_type *zb__number_type_coded(char letter, uint32_t size);
const zb__number_type *zb__number_type_of(zb_dtype dtype);

#endif
