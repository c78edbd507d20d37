/* SPDX-License-Identifier: MIT */
/*
 * The form that all extension points of Zarr v3 share (data type, chunk grid, chunk key encoding,
 * codecs): {"name": ..., "configuration": {...}}, or the bare name when there is nothing to
 * configure.
 */
#ifndef ZB_UTIL_EXTENSION_H
#define ZB_UTIL_EXTENSION_H

#include <stdbool.h>

#include "zarrbridge/json.h"

typedef struct zb__extension {
    const char *name;             /* lives as long as the document, like configuration */
    const zb_json *configuration; /* an object, or NULL when absent */
} zb__extension;

/* `what` is the place for error messages, e.g. "chunk_grid" or "codecs[0]". */
enum zb_code zb__extension_parse(const zb_json *value, const char *what, zb__extension *out,
                                 zb_error *err);

/* Refuses members of the configuration that are not in `known`, a NULL-terminated list: a member
   that we do not know may change the meaning of the bytes. */
enum zb_code zb__extension_check(const zb__extension *extension, const char *what,
                                 const char *const *known, zb_error *err);

/* Writes {"name": NAME, "configuration": {, up to the first member; then the end of both. */
void zb__extension_begin(zb_json_writer *w, const char *name);
void zb__extension_end(zb_json_writer *w);

/* True for an unknown member that lets readers ignore it: {"must_understand": false}. */
bool zb__json_ignorable(const zb_json *member);

/* True if the name is in the NULL-terminated list. */
bool zb__name_in(const char *name, const char *const *list);

#endif
