/* SPDX-License-Identifier: MIT */
/* Blocks of consolidated metadata, and lists of the documents that go into them. */
#ifndef ZB_CHANGE_CONSOLIDATED_H
#define ZB_CHANGE_CONSOLIDATED_H

#include "node/edit.h"
#include "zarrbridge/error.h"

/* A node whose document was put. */
typedef struct zb__entry {
    char *path;
    zb__document document;
} zb__entry;

/* A growing list of entries. */
typedef struct zb__entries {
    zb__entry *entry;
    size_t count, capacity;
} zb__entries;

/* True if this group document has a block. */
bool zb__consolidated_has(const zb__document *group);

/* Makes a block current: the nodes of `put` take the place of their entries, and the entries at or
   below `erased` (or NULL) go. group: the document with its old block, at `path`. */
enum zb_code zb__consolidated_update(zb__document *group, const char *path, const zb__entries *put,
                                     const char *erased, zb_error *err);

/* Takes over path and document (also freed on failure). */
enum zb_code zb__entries_add(zb__entries *entries, const char *path, zb__document *document,
                             zb_error *err);

void zb__entries_free(zb__entries *entries);

#endif
