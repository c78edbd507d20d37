/* SPDX-License-Identifier: MIT */
/*
 * The one kernel between decoded chunks and destinations: copies a strided box while swapping
 * bytes, permuting dimensions (by strides) and converting types, in a single pass.
 */
#ifndef ZB_TYPES_SCATTER_H
#define ZB_TYPES_SCATTER_H

#include <stdbool.h>
#include <stdint.h>

#include "zarrbridge/dtype.h"

typedef struct zb__box_copy {
    uint32_t ndim;
    const uint64_t *count;         /* elements per dimension, any may be 0 */
    const int64_t *src_strides;    /* bytes */
    const int64_t *dst_strides;    /* bytes */
    zb_dtype src_dtype, dst_dtype; /* convertible (zb_dtype_converts) */
    bool stream; /* the destination is large and will not be read soon: use non-temporal stores */
} zb__box_copy;

/* Neither buffer needs alignment; they do not overlap. No allocation, no failure. */
void zb__scatter(const zb__box_copy *copy, const void *src, void *dst);

/* The same for as many boxes as pixels have bands, each of one band: that of band i begins i
   elements behind src, and goes to dst[i]. At most ZB__BANDS_MAX. */
void zb__scatter_bands(const zb__box_copy *copy, size_t bands, const void *src, char *const *dst);

/* Sets every element of the box at dst to *value (src_strides are not used): one element of
   src_dtype, converted. */
void zb__scatter_fill(const zb__box_copy *copy, const void *value, void *dst);

/* Converts n elements; strides in bytes. As zb_array_read documents. */
void zb__convert(zb_dtype src_dtype, const void *src, int64_t src_stride, zb_dtype dst_dtype,
                 void *dst, int64_t dst_stride, size_t n);

#endif
