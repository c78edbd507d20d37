/* SPDX-License-Identifier: MIT */
/* Many documents of a store at once: of one that takes requests, all are under way together. */
#ifndef ZB_NODE_DOCUMENTS_H
#define ZB_NODE_DOCUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* A zarr.json that was read, or why it was not. */
typedef struct zb__early_document {
    char *path; /* of its node */
    char *text; /* NULL unless code is ZB_OK */
    size_t size;
    int format; /* of the store's documents, with text */
    zb_object_info info;
    enum zb_code code;
    zb_error error;
} zb__early_document;

/* As many documents as are worth reading ahead: bounds the memory that they take. */
#define ZB__DOCUMENTS_AHEAD 64

/* True if reading documents ahead saves time. */
bool zb__documents_pay(const zb_store *store);

/* Reads the documents of `count` children of the node at `path`, by their names, and frees what the
   array held before. Those that are served (served.h) are not asked for. An error is a lack of
   memory, or of the store as a whole. */
enum zb_code zb__documents_read(zb_store *store, const char *path, const char *const *names,
                                size_t count, zb__early_document *documents, zb_error *err);
void zb__documents_free(zb__early_document *documents, size_t count);

/* As zb_node_open, of a document that was read. */
enum zb_code zb__early_document_open(zb_store *store, const zb__early_document *document,
                                     zb_node **out, zb_error *err);

#endif
