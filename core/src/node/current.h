/* SPDX-License-Identifier: MIT */

/*
 * The check that a node in memory is still the one that the store has at its path. A node may have
 * been deleted, moved away, or made anew since it was opened: reads and writes by its old
 * description would then touch wrong elements, or those of another node.
 *
 * A node is known by the file or object that holds its document (zb_store_identify), an array also
 * by its storage layout: all members that tell how its chunks are found and decoded. The shape,
 * attributes and names are not part of it.
 */
#ifndef ZB_NODE_CURRENT_H
#define ZB_NODE_CURRENT_H

#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* Opens the array as it is now. ZB_ECONFLICT when the array is gone, or another one has taken its
   place. info is the version of its document; *text, which the caller frees, the document. Both may
   be NULL. */
enum zb_code zb__array_now(const zb_node *node, zb_node **now, zb_object_info *info, char **text,
                           size_t *size, zb_error *err);

/* Whether two nodes are one array of one store, whatever their shapes. */
bool zb__array_is_same(const zb_node *a, const zb_node *b);

/* Whether the chunks of two arrays are found and decoded in one way. */
bool zb__array_has_layout_of(const zb_node *a, const zb_node *b);

/* A distant store has answered that a chunk of the array is missing: zb_array_still has to know.
   Any thread. */
void zb__array_note_missing(const zb_node *node);

/* Fails with the error for an array that is not at its path any more. */
enum zb_code zb__array_gone(const zb_node *node, zb_error *err);

/* What the node's objects have to lie in, for operations of the store. */
zb_home zb__node_home(const zb_node *node);

/* After an operation in the node's home has failed with ZB_ECONFLICT: true if the node was away for
   a moment, so that it pays to try again. Otherwise, where it is not at its path, *err says so.
   *tries begins with 0. */
bool zb__node_is_back(const zb_node *node, unsigned *tries, zb_error *err);

/* Before a change of the document, under the hierarchy's lock: ZB_ECONFLICT when another node has
   taken its place. */
enum zb_code zb__node_still(const zb_node *node, zb_error *err);

/* The version of the node's document that is in the store now, without reading it. `known`: the
   word of the version that it usually is, which costs less; or 0. */
enum zb_code zb__document_stat(const zb_node *node, uint64_t known, zb_object_info *info,
                               zb_error *err);

/* Under the hierarchy's lock: ZB_ECONFLICT when the node's document is not any more as it was read,
   put or erased under it (zb_store_stands). */
enum zb_code zb__document_stands(const zb_node *node, zb_error *err);

/* zb__node_mark_version for a node that has just been put, under the hierarchy's lock. */
void zb__node_mark_new(zb_node *node);

#endif
