/* SPDX-License-Identifier: MIT */
/* Many documents of a store at once: of one that takes requests, all are under way together. */
#ifndef ZB_NODE_DOCUMENTS_H
#define ZB_NODE_DOCUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/names.h"
#include "node/early.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* As many documents as are worth reading ahead: bounds the memory that they take. */
#define ZB__DOCUMENTS_AHEAD 64

/* True if reading documents ahead saves time. */
bool zb__documents_pay(const zb_store *store);

/* Reads the documents of `count` children of the node at `path`, by their names, and frees what the
   array held before. is_own: of the store itself, as they are now, for changes; else those that are
   served (served.h), and those that were read ahead (ahead.h), are not asked for. An error is a
   lack of memory, or of the store as a whole. */
enum zb_code zb__documents_read(zb_store *store, const char *path, const char *const *names,
                                size_t count, bool is_own, zb__early_document *documents,
                                zb_error *err);

/* Reads those of the nodes at the paths, and keeps them as read ahead. changes: of the store,
   before the paths were found. */
void zb__documents_fetch(zb_store *store, const char *const *paths, size_t count, uint64_t changes);

void zb__documents_free(zb__early_document *documents, size_t count);

/* The documents of a group's children on the way of a visit to one after the other: at most
   ZB__DOCUMENTS_AHEAD are read together, when the visit comes to the first of them. The caller sets
   the first four members, and the rest to zeros. */
typedef struct zb__early_children {
    zb_store *store;
    const char *path;       /* of the group */
    const zb__names *names; /* of the children that are visited */
    bool is_own;            /* as of zb__documents_read */
    zb__early_document *documents;
    size_t first, count; /* the names whose documents are there */
} zb__early_children;

/* The document of name number i, borrowed until the next call; NULL of a local store. */
enum zb_code zb__early_children_at(zb__early_children *early, size_t i,
                                   const zb__early_document **out, zb_error *err);

void zb__early_children_free(zb__early_children *early);

/* As zb_node_open, of a document that was read. */
enum zb_code zb__early_document_open(zb_store *store, const zb__early_document *document,
                                     zb_node **out, zb_error *err);

#endif
