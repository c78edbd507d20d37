/* SPDX-License-Identifier: MIT */
/* Nodes of Zarr version 2 in a store: read as documents of version 3, never changed. */
#ifndef ZB_NODE_V2_H
#define ZB_NODE_V2_H

#include <stdbool.h>

#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* The documents by one of which a directory is a node, of version 3 or 2; NULL at the end. */
extern const char *const zb__node_documents[];

/* Reads the documents at path, and gives the zarr.json that says what they say, which the caller
   frees. *info is the version of an array's .zarray; of a group's it says nothing. ZB_ENOTFOUND,
   without a message, when there is no node. */
enum zb_code zb__v2_read(zb_hierarchy *hierarchy, const char *path, char **text, size_t *size,
                         zb_object_info *info, zb_error *err);

/* Tells by the documents that are there: *kind becomes 'a', 'g', or 0 for none. A group without a
   document counts as none. */
enum zb_code zb__v2_kind(zb_hierarchy *hierarchy, const char *path, char *kind, zb_error *err);

/* True for the name of a document of a node; for all names that belong to one, .zattrs and
   .zmetadata too. */
bool zb__v2_is_document(const char *name);
bool zb__v2_is_metadata(const char *name);

/* Tells whether the node at path is one of version 2, a group without a document included. */
enum zb_code zb__v2_is_at(zb_hierarchy *hierarchy, const char *path, bool *out, zb_error *err);

/* Before a change: ZB_EUNSUPPORTED, with the way out, when a node of version 2 is at path. (Of an
   open node: zb_node_may_change.) ..._older: for a caller that has found no zarr.json there, which
   is not looked for again. */
enum zb_code zb__v2_refuse(zb_hierarchy *hierarchy, const char *path, zb_error *err);
enum zb_code zb__v2_refuse_older(zb_hierarchy *hierarchy, const char *path, zb_error *err);

#endif
