/* SPDX-License-Identifier: MIT */
/* Fill values as JSON. */
#ifndef ZB_MODEL_FILL_PRINT_H
#define ZB_MODEL_FILL_PRINT_H

#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* Writes a fill value. element: one of dtype in host order. */
void zb__fill_print(zb_json_writer *w, zb_dtype dtype, const void *element);

#endif
