/* SPDX-License-Identifier: MIT */
/* Documents of a hierarchy: its lock, and putting them. */
#ifndef ZB_CHANGE_HIERARCHY_H
#define ZB_CHANGE_HIERARCHY_H

#include "zarrbridge/sys/store.h"

/* Takes the lock under which all documents of the hierarchy are changed. *out is NULL for a store
   that is not shared, and in a turn (zb_turn_begin), which has it. ZB_EUNSUPPORTED when the store
   cannot be written, or locks cannot be had. */
enum zb_code zb__hierarchy_lock(zb_store *store, zb_lock **out, zb_error *err);

/* Lets go of that lock, NULL or not, and frees what was erased under it. Returns code, or the error
   of freeing where that is ZB_OK. */
enum zb_code zb__hierarchy_unlock(zb_lock *lock, enum zb_code code, zb_error *err);

/* Puts a document, or an object that goes with one, as durably as zb_store_set_sync says. */
enum zb_code zb__document_put(zb_store *store, const char *key, const void *data, size_t size,
                              zb_error *err);

/* The same for the zarr.json of the node at path. */
enum zb_code zb__node_put(zb_store *store, const char *path, const char *text, size_t size,
                          zb_error *err);
enum zb_code zb__node_put_parts(zb_store *store, const char *path, const zb_part *parts,
                                size_t count, zb_error *err);
/* The same in a store that is a tree, where nothing may be at the path: else ZB_ECONFLICT. */
enum zb_code zb__node_put_first(zb_store *store, const char *path, const char *text, size_t size,
                                zb_error *err);

#endif
