/* SPDX-License-Identifier: MIT */
/*
 * JSON values as Zarr needs them: integers exact to 64 bits, the token text of every number kept,
 * bare NaN/Infinity/-Infinity accepted on input, depth and size limited (zb_limits), strict UTF-8,
 * no NUL in strings, no member twice. Values are read-only and live as long as their document; any
 * number of threads may read one document.
 */
#ifndef ZARRBRIDGE_JSON_H
#define ZARRBRIDGE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum zb_json_kind {
    ZB_JSON_NULL,
    ZB_JSON_BOOL,
    ZB_JSON_NUMBER,
    ZB_JSON_STRING,
    ZB_JSON_ARRAY,
    ZB_JSON_OBJECT
};

/* One JSON value. The root value owns the whole document. */
typedef struct zb_json zb_json;

/* Parses text[0..size). On success *out is a document for zb_json_free. Errors are ZB_EFORMAT with
   line and column, ZB_ELIMIT (json_depth, json_values), or ZB_ENOMEM. The caller bounds `size`. */
ZB_API enum zb_code zb_json_parse(const char *text, size_t size, zb_json **out, zb_error *err);

/* Frees a document by its root value; NULL is allowed. */
ZB_API void zb_json_free(zb_json *root);

/* NULL counts as ZB_JSON_NULL here, so that a missing member can be asked for its kind. */
ZB_API enum zb_json_kind zb_json_kind_of(const zb_json *value);

/* Number of elements or members; 0 for scalars. O(n). */
ZB_API size_t zb_json_count(const zb_json *value);

/* First element or member, and the one after a given one; NULL at the end. Document order. */
ZB_API const zb_json *zb_json_first(const zb_json *container);
ZB_API const zb_json *zb_json_next(const zb_json *value);

/* A member's name (NULL for array elements and the root). Valid as long as the document. */
ZB_API const char *zb_json_name(const zb_json *member);

/* The member called name (exact, case-sensitive), or NULL. Accepts a NULL or non-object value. */
ZB_API const zb_json *zb_json_get(const zb_json *object, const char *name);

/* A string's UTF-8 text, or NULL when the value is no string. */
ZB_API const char *zb_json_string(const zb_json *value);

/* A boolean; false when the value is no boolean. */
ZB_API bool zb_json_bool(const zb_json *value);

/* The number's token as it stood in the text ("1e3", "-0.0", "NaN"), or NULL. */
ZB_API const char *zb_json_number(const zb_json *value);

/* True and *out set when the value is a number that is an exact integer of that range: tokens
   without fraction or exponent only. */
ZB_API bool zb_json_int64(const zb_json *value, int64_t *out);
ZB_API bool zb_json_uint64(const zb_json *value, uint64_t *out);

/* True and *out set for any number (nearest double, also NaN and infinities). */
ZB_API bool zb_json_double(const zb_json *value, double *out);

/* The value as compact JSON text, numbers as they stood. malloc'ed, the caller frees; NULL when
   memory runs out. */
ZB_API char *zb_json_print(const zb_json *value);

#ifdef __cplusplus
}
#endif
#endif
