/* SPDX-License-Identifier: MIT */
/* What all zarr.json documents have in common. */
#ifndef ZB_NODE_DOCUMENT_H
#define ZB_NODE_DOCUMENT_H

#include <stdbool.h>

#include "zarrbridge/json.h"

/* Checks the members that do not need the array model: format, node type, attributes, members that
   we do not know, storage transformers, consolidated metadata. */
enum zb_code zb__document_check(const zb_json *document, bool *is_array, zb_error *err);

/* Is this a path that zb_node_open takes? ZB_EINVAL says why not. */
enum zb_code zb__path_check(const char *path, zb_error *err);

/* May a node be created there? Beyond zb__path_check: none of the names that the specification
   reserves, nor hidden ones, which no listing would show. */
enum zb_code zb__path_check_new(const char *path, zb_error *err);

/* prefix, a slash unless it is empty (the root), and name: malloc'ed, or NULL. */
char *zb__path_join(const char *prefix, const char *name);

/* The last part of a path, in it. */
const char *zb__path_name(const char *path);

/* Does path lie below prefix? The rest behind the slash, or NULL; all paths but "" lie below "". */
const char *zb__path_below(const char *path, const char *prefix);

#endif
