/* SPDX-License-Identifier: MIT */
/* Opening nodes of a store. */
#ifndef ZB_NODE_OPEN_H
#define ZB_NODE_OPEN_H

#include <stdbool.h>
#include <stddef.h>

#include "hierarchy/prefetched.h"
#include "zarrbridge/node.h"

/* As zb_node_open, always by the store's own document, whatever consolidated metadata serve. */
enum zb_code zb__node_open_own(zb_hierarchy *hierarchy, const char *path, zb_node **out,
                               zb_error *err);

/* The array that was looked at last, and its document: many arrays of a store are described by one
   text. All zeros at first. */
typedef struct zb__looked {
    zb_node *array;
    char *text;
    size_t size;
    int format;
} zb__looked;

void zb__looked_free(zb__looked *last);

/* Opens a node to be looked at and released at once, for lists of many: the entries of consolidated
   metadata are checked and left out, and which directory holds the node is not asked. An array may
   be the last one, which has the same document and another path. Errors as zb_node_open. */
enum zb_code zb__node_look(zb_hierarchy *hierarchy, const char *path, zb__looked *last,
                           zb_node **out, zb_error *err);

/* As zb_node_open, of a document that was read. */
enum zb_code zb__prefetched_document_open(zb_hierarchy *hierarchy,
                                          const zb__prefetched_document *document, zb_node **out,
                                          zb_error *err);

#endif
