/* SPDX-License-Identifier: MIT */
/*
 * What a distant store has told of its nodes lately: documents, and names in groups.
 *
 * It counts for as long as the versions of chunks do (the hint `fresh`), and until something is
 * changed through the store. Who opens a node by name asks the store all the same: this is for
 * nodes that a listing has just described (zb_node_open_lately), and for what was read ahead of a
 * walk, of which each answer serves once.
 */
#ifndef ZB_NODE_LATELY_H
#define ZB_NODE_LATELY_H

#include "base/names.h"
#include "hierarchy/early.h"
#include "zarrbridge/hierarchy.h"

/* The bytes of a document, or of the names in a group, that are kept. */
#define ZB__LATELY_MOST ((size_t)1 << 20)

/* The names of a group that are asked for besides what a program wants: a page of a listing costs
   as much as a miss, and more are not worth it. */
#define ZB__LATELY_NAMES 1000

typedef struct zb__lately zb__lately;

void zb__lately_free(zb__lately *lately); /* NULL is allowed */

/* True where answers of the store are kept. */
bool zb__lately_pays(const zb_hierarchy *hierarchy);

/* Forgets all that the store has told: somebody wants to know how it is now. */
void zb__lately_forget(zb_hierarchy *hierarchy);

/* Keeps a document, or its absence; errors of other kinds are not kept. changes: of the store,
   before it was asked. is_ahead: nobody has asked for it yet. What does not fit is not kept, and an
   older answer is not, either. */
void zb__lately_keep(zb_hierarchy *hierarchy, const zb__early_document *document, uint64_t changes,
                     bool is_ahead);

/* Fills in all but the document's path. The first one takes only what was read ahead, once,
   absences as well. The second one finds documents, but for those with consolidated metadata, which
   are more than a node. */
bool zb__lately_take(zb_hierarchy *hierarchy, const char *path, zb__early_document *document);
bool zb__lately_find(zb_hierarchy *hierarchy, const char *path, zb__early_document *document);

/* Keeps the names below a group, sorted: all of them (is_whole), or the first. */
void zb__lately_keep_names(zb_hierarchy *hierarchy, const char *path, const zb__names *names,
                           bool is_whole, uint64_t changes, bool is_ahead);

/* True if the names below the group were read ahead. */
bool zb__lately_has_names(zb_hierarchy *hierarchy, const char *path);

/* All names below the group, if they were read ahead, once. False also when memory runs out. */
bool zb__lately_take_names(zb_hierarchy *hierarchy, const char *path, zb__names *out);

/* True if the names of the group above are known, and this node's is not among them; `knows`: they
   are known at all. Hidden names are never: some listings leave them out. A listing without any
   name proves nothing, since servers that refuse listings may send such ones. */
bool zb__lately_lacks(zb_hierarchy *hierarchy, const char *path, bool *knows);

/* The paths of groups whose documents are known and whose names are not, in their order: `most` of
   them at most, of those that lie as deep as `path`, and that path before them. The caller frees
   them, after a lack of memory, too. */
enum zb_code zb__lately_groups(zb_hierarchy *hierarchy, const char *path, size_t most,
                               zb__names *out, zb_error *err);

/* Counts a listing of the group that a program has asked for. Returns how many groups as deep as
   this one it has asked for. */
size_t zb__lately_count(zb_hierarchy *hierarchy, const char *path);

#endif
