/* SPDX-License-Identifier: MIT */
/* A node in memory. Immutable after open. */
#ifndef ZB_NODE_NODE_H
#define ZB_NODE_NODE_H

#include <stdatomic.h>

#include "array/array.h"
#include "hierarchy/hierarchy.h"
#include "node/edit.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

struct zb_node {
    atomic_int refs;
    zb_hierarchy *hierarchy; /* one reference */
    char *path;
    zb_json *document;
    struct zb__cached_block *cached_block; /* the document's owner, where others share it
                                              (consolidated_cache.h); or NULL */
    const zb_json *attributes;
    zb__array *array;          /* NULL for a group */
    int format;                /* 3, or 2: the document is a translation then (v2.h) */
    bool is_cached_block;      /* made of consolidated metadata: it may have no document */
    uint64_t home;             /* zb_store_identify of its path when it was opened; 0: not known */
    uint64_t version;          /* version of its document, in one word; 0: not sure */
    atomic_uint_fast64_t seen; /* the last version that is known to have this storage layout */
    struct zb__clean_edge *clean_edge; /* change/beyond.h; freed with free(); or NULL */
    atomic_bool lacks;                 /* an answer of a distant store: a chunk is missing */
    atomic_int_fast64_t asked; /* when it was made, or its document was there later (zb__now) */
};

static inline zb_store *zb__node_store(const zb_node *node) {
    return node->hierarchy->store;
}

/* Whether the documents of the store's nodes have the entries of consolidated metadata, which may
   be most of a document: where they are the only index of the store, or spare requests. */
bool zb__node_keeps_entries(const zb_hierarchy *hierarchy);

/* Whether this node's document has them: in other stores, those of groups whose nodes stand in
   nothing else do (bare.h). */
bool zb__node_has_entries(const zb_node *node);

/* ZB_ELIMIT for a text that is too large to be opened as a node's document. One with consolidated
   metadata may be far larger than others. document: the text, parsed; or NULL. */
enum zb_code zb__node_check_size(const char *text, size_t size, const zb_json *document,
                                 zb_error *err);

/* Makes a node of a document's text, whether the store holds that text or not. */
enum zb_code zb__node_make(zb_hierarchy *hierarchy, const char *path, const char *text, size_t size,
                           zb_node **out, zb_error *err);

/* The same when the text has been parsed; takes over json, also on failure. */
enum zb_code zb__node_make_parsed(zb_hierarchy *hierarchy, const char *path, const char *text,
                                  size_t size, zb_json *json, zb_node **out, zb_error *err);

/* Makes a group whose document is `hold`'s, which it takes over (consolidated_cache.h). NULL: no
   memory. */
zb_node *zb__node_share(zb_hierarchy *hierarchy, const char *path, zb_json *document, int format,
                        struct zb__cached_block *hold);

/* Puts store, kind ("array", "group", "node") and path before a message. */
enum zb_code zb__node_add_context(const zb_hierarchy *hierarchy, const char *kind, const char *path,
                                  enum zb_code code, zb_error *err);

/* The node's path, a slash unless it is the root, and the chunk's key: malloc'ed, or NULL. */
char *zb__array_chunk_key(const zb_node *node, const uint64_t *index);

#endif
