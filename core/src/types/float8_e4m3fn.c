/* SPDX-License-Identifier: MIT */
/*
 * float8_e4m3fn, as ml_dtypes and TensorStore have it: 4 bits of exponent, 3 of mantissa, no
 * infinities, NaN where all bits but the sign are set.
 */
#include "types/kinds.h"

extern const zb__kind zb__kind_float8_e4m3fn;

static const zb__format format = {.is_signed = true,
                                  .bits = 8,
                                  .mantissa = 3,
                                  .bias = 7,
                                  .largest = 0x7e,
                                  .nan = 0x7f,
                                  .values = &(zb__format_values){.known = false}};

static const zb_dtype_detail detail = {.extension = &zb__kind_float8_e4m3fn};

const zb__kind zb__kind_float8_e4m3fn = {
    .kind = ZB_KIND_EXTENSION,
    .names = (const zb__type_name[]){{"float8_e4m3fn", 1, NULL, &detail}, {0}},
    .name = "float8_e4m3fn",
    .format = &format,
    ZB__SMALL(1),
};
