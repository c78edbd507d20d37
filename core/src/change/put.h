/* SPDX-License-Identifier: MIT */
/* Putting documents. */
#ifndef ZB_CHANGE_PUT_H
#define ZB_CHANGE_PUT_H

#include "zarrbridge/hierarchy.h"
#include "zarrbridge/sys/store.h"

/* Puts a document, or an object that goes with one, as durably as zb_hierarchy_set_sync says. */
enum zb_code zb__document_put(zb_hierarchy *hierarchy, const char *key, const void *data,
                              size_t size, zb_error *err);

/* The same for the zarr.json of the node at path. */
enum zb_code zb__node_put(zb_hierarchy *hierarchy, const char *path, const char *text, size_t size,
                          zb_error *err);
enum zb_code zb__node_put_parts(zb_hierarchy *hierarchy, const char *path, const zb_part *parts,
                                size_t count, zb_error *err);
/* The same in a store that is a tree, where nothing may be at the path: else ZB_ECONFLICT. */
enum zb_code zb__node_put_first(zb_hierarchy *hierarchy, const char *path, const char *text,
                                size_t size, zb_error *err);
/* The same where no document may be at the path: else ZB_ECONFLICT, also where another program puts
   one at the same time, without a lock. ZB_EUNSUPPORTED, without an error filled in, where that
   cannot be told. */
enum zb_code zb__node_put_new(zb_hierarchy *hierarchy, const char *path, const char *text,
                              size_t size, zb_error *err);

#endif
