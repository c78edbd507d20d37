/* SPDX-License-Identifier: MIT */
/*
 * JSON values as Zarr needs them: integers exact to 64 bits, the token text of every number kept,
 * bare NaN/Infinity/-Infinity accepted on input, depth and size limited (zb_limits), strict UTF-8,
 * no NUL in strings, no member twice. (In the attributes of a node's document these are read: a
 * string has the escape then, and printing gives the text as it stood.) Values are read-only and
 * live as long as their document; any number of threads may read one document.
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

/* Frees a document by its root value, with all of its values; NULL is allowed. A document that was
   retained has one more owner for each time, and goes with the last one that frees it. */
ZB_API void zb_json_free(zb_json *root);
ZB_API zb_json *zb_json_retain(zb_json *root);

/* NULL counts as ZB_JSON_NULL here, so that a missing member can be asked for its kind. */
ZB_API enum zb_json_kind zb_json_kind_of(const zb_json *value);

/* Number of elements or members; 0 for scalars. */
ZB_API size_t zb_json_count(const zb_json *value);

/* First element or member, and the one after a given one; NULL at the end. Document order. */
ZB_API const zb_json *zb_json_first(const zb_json *container);
ZB_API const zb_json *zb_json_next(const zb_json *value);

/* A member's name (NULL for array elements and the root). Valid as long as the document. */
ZB_API const char *zb_json_name(const zb_json *member);

/* The member called name (exact, case-sensitive), or NULL. Accepts a NULL or non-object value. */
ZB_API const zb_json *zb_json_get(const zb_json *object, const char *name);

/* A string's UTF-8 text, or NULL when the value is not a string. */
ZB_API const char *zb_json_string(const zb_json *value);

/* A boolean; false when the value is not a boolean. */
ZB_API bool zb_json_bool(const zb_json *value);

/* The number's token as it stood in the text ("1e3", "-0.0", "NaN"), or NULL. */
ZB_API const char *zb_json_number(const zb_json *value);

/* True and *out set when the value is a number that is an exact integer of that range: tokens
   without fraction or exponent only. */
ZB_API bool zb_json_int64(const zb_json *value, int64_t *out);
ZB_API bool zb_json_uint64(const zb_json *value, uint64_t *out);

/* True and *out set for any number (nearest double, also NaN and infinities). */
ZB_API bool zb_json_double(const zb_json *value, double *out);

/* True if both are one value: members count by their names, not by their order, and numbers by
   their tokens, so that 1 and 1.0 differ. NULL is the same as NULL alone. Takes no memory. */
ZB_API bool zb_json_same(const zb_json *a, const zb_json *b);

/* The place of a value in the text that was parsed: bytes [begin, end), without white space around
   it. name: the opening quote of a member's name; begin where there is none. */
typedef struct zb_json_place {
    size_t name, begin, end;
} zb_json_place;
ZB_API zb_json_place zb_json_place_of(const zb_json *value);

/* The value as compact JSON text, numbers as they stood. malloc'ed, the caller frees; NULL when
   memory runs out. */
ZB_API char *zb_json_print(const zb_json *value);

/* ---- Writing ---- */

/* Makes compact JSON text: puts commas, colons and escapes. Each beginning needs its end, and a
   member is its name, then one value; nothing checks that. A lack of memory is remembered and told
   once, at the end: NULL is allowed for a writer everywhere and stands for that lack. */
typedef struct zb_json_writer zb_json_writer;

ZB_API zb_json_writer *zb_json_writer_new(void);

/* Ends the writing and frees the writer. The text (malloc'ed, the caller frees; *size bytes and a
   NUL), or NULL when memory has run out. size may be NULL. */
ZB_API char *zb_json_writer_end(zb_json_writer *writer, size_t *size);

ZB_API void zb_json_begin_object(zb_json_writer *writer);
ZB_API void zb_json_end_object(zb_json_writer *writer);
ZB_API void zb_json_begin_array(zb_json_writer *writer);
ZB_API void zb_json_end_array(zb_json_writer *writer);

/* Texts are UTF-8, which is not checked here (zb_json_parse does). */
ZB_API void zb_json_write_name(zb_json_writer *writer, const char *name);
ZB_API void zb_json_write_string(zb_json_writer *writer, const char *text);

ZB_API void zb_json_write_null(zb_json_writer *writer);
ZB_API void zb_json_write_bool(zb_json_writer *writer, bool value);
ZB_API void zb_json_write_int64(zb_json_writer *writer, int64_t value);
ZB_API void zb_json_write_uint64(zb_json_writer *writer, uint64_t value);

/* The shortest number that reads as the same double or float, with a point or an exponent, so that
   no reader takes it for an integer. NaN and infinities become the strings "NaN", "Infinity" and
   "-Infinity", as Zarr has them. */
ZB_API void zb_json_write_double(zb_json_writer *writer, double value);
ZB_API void zb_json_write_float(zb_json_writer *writer, float value);

/* A value that was parsed, numbers as they stood; and a value that is JSON text already,
   unchanged. */
ZB_API void zb_json_write_value(zb_json_writer *writer, const zb_json *value);
ZB_API void zb_json_write_raw(zb_json_writer *writer, const char *json);

#ifdef __cplusplus
}
#endif
#endif
