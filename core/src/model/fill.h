/* SPDX-License-Identifier: MIT */
/* Fill values in metadata. */
#ifndef ZB_MODEL_FILL_H
#define ZB_MODEL_FILL_H

#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* Parses a `fill_value` into out, dtype.size bytes in host byte order. NULL (no such member) and
   null give zeros and *is_default true. A string's bytes stay in the document. */
enum zb_code zb__fill_parse(const zb_json *value, zb_dtype dtype, void *out, bool *is_default,
                            zb_error *err);

#endif
