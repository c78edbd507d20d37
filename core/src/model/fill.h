/* SPDX-License-Identifier: MIT */
/* Fill values in metadata. */
#ifndef ZB_MODEL_FILL_H
#define ZB_MODEL_FILL_H

#include "base/arena.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* Parses a `fill_value` into out, dtype.size bytes in host byte order. NULL (no such member) and
   null give zeros and *is_default true. A string's bytes stay in the document, other bytes that it
   points at are made in `memory`. *is_packed: the fill value of a struct is the element as chunks
   have it, in whose byte order it still is. */
typedef struct zb__fill_form {
    bool is_default, is_packed;
} zb__fill_form;
enum zb_code zb__fill_parse(const zb_json *value, zb_dtype dtype, zb__arena *memory, void *out,
                            zb__fill_form *form, zb_error *err);

#endif
