/* SPDX-License-Identifier: MIT */
/*
 * Documents that come from consolidated metadata: those of a distant store, and those of a local
 * one that has none below the group with the block (bare.h).
 *
 * Else a local store is asked for each document, since a block may be old. Of a store that is not
 * local each document is a way to a server and back: what the block says that was read last
 * describes the nodes below its owner, until a node with a block is read again, or something is
 * changed through the store. What the block does not have is asked for, unless the store's user
 * trusts its list (zb_hierarchy_trust_list). Changes never start from these documents: they read
 * the store's own.
 */
#ifndef ZB_NODE_CONSOLIDATED_CACHE_H
#define ZB_NODE_CONSOLIDATED_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "zarrbridge/hierarchy.h"
#include "zarrbridge/json.h"

typedef struct zb__cached_block zb__cached_block;

/* Remembers the block of a group's document that has just been read from its store, if it has one
   and the store is not local, or has no document below the group (is_bare). Then it takes over the
   document, and the caller has a reference to what it returns; else NULL. changes: of the store,
   before it was read (zb_store_changes). */
zb__cached_block *zb__cached_block_keep(zb_hierarchy *hierarchy, const char *path,
                                        zb_json *document, int format, bool is_bare,
                                        uint64_t changes);

/* The text of the document at path, which the caller frees, and the version of the store's own
   documents; NULL where the cached block does not have it. */
char *zb__cached_block_text(zb_hierarchy *hierarchy, const char *path, size_t *size, int *format);

/* True if this block (NULL: none) describes a node at path. Other blocks are not asked. */
bool zb__cached_block_names(const zb__cached_block *cached_block, const char *path);

/* The document of the group at path, where that is the owner of the block; NULL where it is not.
   The caller releases *hold, which keeps the document. */
zb_json *zb__cached_block_owner(zb_hierarchy *hierarchy, const char *path, int *format,
                                zb__cached_block **hold);

/* True if a block covers the path, and has neither the node nor one below it. */
bool zb__cached_block_confirms_absent(zb_hierarchy *hierarchy, const char *path);

/* The key of the document with the block that covers the path, malloc'ed; NULL where there is
   none, or no memory. */
char *zb__cached_block_key(zb_hierarchy *hierarchy, const char *path);

/* False if the document with the block that covers the path has gone from a store that is local. */
bool zb__cached_block_stands(zb_hierarchy *hierarchy, const char *path);

/* The version of the block of a group above path, whether it names the node or not; 0 for none.
   Below a group of version 3 that is consolidated there are no nodes of version 2: its block could
   not have them. */
int zb__cached_block_format(zb_hierarchy *hierarchy, const char *path);

/* The block that covers the node at path: its entries (array/block.h), and the path as they have it
   (a part of `path`). NULL when there is none. The caller releases *hold after use. */
const zb_json *const *zb__cached_block_entries(zb_hierarchy *hierarchy, const char *path,
                                               size_t *count, const char **relative,
                                               zb__cached_block **hold);
bool zb__cached_block_covers(zb_hierarchy *hierarchy, const char *path);
void zb__cached_block_release(zb__cached_block *cached_block); /* NULL is allowed */

#endif
