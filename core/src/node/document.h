/* SPDX-License-Identifier: MIT */
/* Documents of nodes: reading them, and the rules that all have in common. */
#ifndef ZB_NODE_DOCUMENT_H
#define ZB_NODE_DOCUMENT_H

#include <stdbool.h>

#include "node/edit.h"
#include "zarrbridge/hierarchy.h"
#include "zarrbridge/json.h"
#include "zarrbridge/sys/store.h"

/* Checks the members that do not need the array model: format, node type, attributes, members that
   we do not know, storage transformers, consolidated metadata. */
enum zb_code zb__document_check(const zb_json *document, bool *is_array, zb_error *err);

/* The most bytes that a document may have, and the name of that limit. */
uint64_t zb__document_limit(const char **name);

/* Reads the text of the document at path; the caller frees it. */
enum zb_code zb__node_read(zb_hierarchy *hierarchy, const char *path, char **text, size_t *size,
                           zb_error *err);

/* The document itself, without the entries of consolidated metadata in its tree; the caller frees
   it. */
enum zb_code zb__node_outline(zb_hierarchy *hierarchy, const char *path, zb__document *out,
                              zb_error *err);

/* The same, with the version that was read. */
enum zb_code zb__node_read_version(zb_hierarchy *hierarchy, const char *path, char **text,
                                   size_t *size, zb_object_info *info, zb_error *err);

/* The text of a node of any format, which *format tells: of version 2 the translation. *info is the
   version that was read. */
enum zb_code zb__node_read_any(zb_hierarchy *hierarchy, const char *path, char **text, size_t *size,
                               zb_object_info *info, int *format, zb_error *err);

#endif
