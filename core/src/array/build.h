/* SPDX-License-Identifier: MIT */
/* The text of new documents. */
#ifndef ZB_ARRAY_BUILD_H
#define ZB_ARRAY_BUILD_H

#include <stdbool.h>
#include <stddef.h>

#include "zarrbridge/array.h"
#include "zarrbridge/json.h"

/* A new document: its indented text, malloc'ed, and its tree, in which no value has a place in that
   text. The owner of each part frees it. */
typedef struct zb__built {
    char *text;
    size_t size;
    zb_json *json;
} zb__built;

/* The document of a group or an array, not yet checked against the rules for nodes. attributes: a
   JSON object as text, or NULL. */
enum zb_code zb__build_group(const char *attributes, zb__built *out, zb_error *err);
enum zb_code zb__build_array(const zb_array_spec *spec, zb__built *out, zb_error *err);

/* A fault in a document made of arguments is the caller's fault: ZB_EFORMAT becomes ZB_EINVAL. */
enum zb_code zb__as_argument(enum zb_code code, zb_error *err);

/* Parses a JSON text that the caller of the library gave. ZB_EINVAL for text that is not JSON, and
   for the bare tokens NaN and Infinity, which the parser reads though JSON does not have them. */
enum zb_code zb__argument_parse(const char *text, const char *what, zb_json **out, zb_error *err);

#endif
