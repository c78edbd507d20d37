/* SPDX-License-Identifier: MIT */
/* Fill values as JSON. */
#ifndef ZB_MODEL_FILL_PRINT_H
#define ZB_MODEL_FILL_PRINT_H

#include "base/text.h"
#include "zarrbridge/dtype.h"

/* Appends a fill value in JSON. element: one of dtype in host order. */
void zb__fill_print(zb__text *text, zb_dtype dtype, const void *element);

#endif
