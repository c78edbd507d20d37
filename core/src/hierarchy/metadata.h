/* SPDX-License-Identifier: MIT */
/*
 * The metadata cache of a hierarchy: what its store has told of documents, of names in groups, and
 * by consolidated metadata (consolidated_cache.h). All of it is by path, behind one lock, and
 * counts by one rule (age.h).
 *
 * Documents and names are kept of distant stores alone. Who opens a node by name asks the store all
 * the same: they are for nodes that a listing has just described (zb_node_open_cached), and for
 * what was prefetched of a walk, of which each answer serves once.
 *
 * Of local stores it is kept which groups above changes are plain, with the versions of their
 * documents.
 */
#ifndef ZB_HIERARCHY_METADATA_H
#define ZB_HIERARCHY_METADATA_H

#include "hierarchy/prefetched.h"
#include "util/map.h"
#include "util/names.h"
#include "zarrbridge/hierarchy.h"

/* The bytes of a document, or of the names in a group, that are kept. */
#define ZB__METADATA_MOST ((size_t)1 << 20)

/* The names of a group that are asked for besides what a program wants: a page of a listing costs
   as much as a miss, and more are not worth it. */
#define ZB__METADATA_NAMES 1000

#define ZB__METADATA_DEPTHS 16 /* of groups that are counted: deeper ones together */

/* {0} is empty. It is a part of the hierarchy, and touched by these functions and those of
   consolidated_cache.h alone. */
typedef struct zb__metadata {
    zb__map nodes; /* by path */
    size_t bytes;
    size_t listed[ZB__METADATA_DEPTHS]; /* groups that a program has listed, by their depth */
    int64_t listed_last[ZB__METADATA_DEPTHS];
    struct zb__cached_block *cached_block; /* consolidated metadata that were read last, or NULL */
} zb__metadata;

/* Guards the metadata of all hierarchies. No other lock is taken under it. */
void zb__metadata_lock(void);
void zb__metadata_unlock(void);

/* True where answers of the store are kept. */
bool zb__metadata_pays(const zb_hierarchy *hierarchy);

/* Forgets all that the store has told of documents and names: somebody wants to know how it is
   now, or the hierarchy ends. */
void zb__metadata_clear(zb_hierarchy *hierarchy);

/* Keeps a document, or its absence; errors of other kinds are not kept. changes: of the store,
   before it was asked. is_prefetched: nobody has asked for it yet. What does not fit is not kept,
   and an older answer is not, either. */
void zb__metadata_keep(zb_hierarchy *hierarchy, const zb__prefetched_document *document,
                       uint64_t changes, bool is_prefetched);

/* Fills in all but the document's path. The first one takes only what was prefetched, once,
   absences as well. The second one finds documents, but for those with consolidated metadata, which
   are more than a node. */
bool zb__metadata_take(zb_hierarchy *hierarchy, const char *path,
                       zb__prefetched_document *document);
bool zb__metadata_find(zb_hierarchy *hierarchy, const char *path,
                       zb__prefetched_document *document);

/* Keeps the names below a group, sorted: all of them (is_whole), or the first. */
void zb__metadata_keep_names(zb_hierarchy *hierarchy, const char *path, const zb__names *names,
                             bool is_whole, uint64_t changes, bool is_prefetched);

/* True if the names below the group were prefetched. */
bool zb__metadata_has_names(zb_hierarchy *hierarchy, const char *path);

/* All names below the group, if they were prefetched, once. False also when memory runs out. */
bool zb__metadata_take_names(zb_hierarchy *hierarchy, const char *path, zb__names *out);

/* True if the names of the group above are known, and this node's is not among them; `knows`: they
   are known at all. Hidden names are never: some listings leave them out. A listing without any
   name proves nothing, since servers that refuse listings may send such ones. */
bool zb__metadata_confirms_absent(zb_hierarchy *hierarchy, const char *path, bool *knows);

/* The paths of groups whose documents are known and whose names are not, in their order: `most` of
   them at most, of those that lie as deep as `path`, and that path before them. The caller frees
   them, after a lack of memory, too. */
enum zb_code zb__metadata_groups(zb_hierarchy *hierarchy, const char *path, size_t most,
                                 zb__names *out, zb_error *err);

/* Counts a listing of the group that a program has asked for. Returns how many groups as deep as
   this one it has asked for. */
size_t zb__metadata_count(zb_hierarchy *hierarchy, const char *path);

/* ---- Plain groups --------------------------------------------------------------------------- */

/* A group above a change is *plain* when it has been found to be a group without a block of
   consolidated metadata. As long as the version of its document is the same, a change below need
   not read it again: that costs one question to the file system in place of four, and no parsing,
   which for a group of many attributes takes longer than all else. Nor need it look for a marker of
   a block that is dirty (change/write_back.h), which this hierarchy has joined then: a marker is
   put before a document loses its block, which makes another version of it. (Another hierarchy that
   joins later makes its block of all documents, and so does this one, when it finds that its marker
   has been replaced.) */

/* *version: of the document of the group at path as it is now. 0: there is none, it may change
   without another version, or asking for it costs a request. */
enum zb_code zb__metadata_version(zb_hierarchy *hierarchy, const char *path, uint64_t *version,
                                  zb_error *err);

/* True if the document of this version was a plain group's. */
bool zb__metadata_is_plain(zb_hierarchy *hierarchy, const char *path, uint64_t version);

/* The document that was read after the version was asked for is a plain group's. */
void zb__metadata_keep_plain(zb_hierarchy *hierarchy, const char *path, uint64_t version);

#endif
