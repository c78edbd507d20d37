/* SPDX-License-Identifier: MIT */
/* Erasing nodes. */
#ifndef ZB_CHANGE_REMOVE_H
#define ZB_CHANGE_REMOVE_H

#include "change/change.h"
#include "node/walk.h"
#include "zarrbridge/hierarchy.h"

/* Erases the node at path and all below, in one step unless it is the root. ZB_ENOTFOUND when there
   is none. remove.c. */
enum zb_code zb__node_erase(zb__change *change, const char *path, zb_error *err);

/* The same for a node that this change has found to be there, and of version 3; not the root.
   remove.c. */
enum zb_code zb__node_erase_found(zb__change *change, const char *path, zb_error *err);

/* Erases the nodes below a path where there is none. remove.c. */
enum zb_code zb__left_overs_erase(zb_hierarchy *hierarchy, const char *path, zb_error *err);

/* Before a node comes to the path, where there is none: erases the nodes that a killed copy or
   deletion has left below, if a marker tells of it, and the marker. */
enum zb_code zb__killed_copy_erase(zb_hierarchy *hierarchy, const char *path, zb_error *err);

/* Sets *chosen for a chunk that goes. */
typedef enum zb_code (*zb__choose_chunk_fn)(void *context, const char *key, const uint64_t *index,
                                            bool *chosen, zb_error *err);

/* Erases the chosen chunks of the array, within its grid or not (zb__chunks_each); NULL: all. On a
   network many at once, and as long as the array's document stands (zb_store_erase_chosen). */
enum zb_code zb__chunks_erase(const zb_node *node, zb__choose_chunk_fn choose, void *context,
                              zb_error *err);

#endif
