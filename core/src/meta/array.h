/* SPDX-License-Identifier: MIT */
/* The in-memory model of an array's metadata, and of a node. Immutable after open. */
#ifndef ZB_META_ARRAY_H
#define ZB_META_ARRAY_H

#include <stdatomic.h>

#include "codec/chain.h"
#include "zarrbridge/zarrbridge.h"

/* How a chunk's place in the grid becomes its key. */
typedef struct zb__key_encoding {
    bool v2;        /* "0.1" instead of "c/0/1" */
    char separator; /* '/' or '.' */
} zb__key_encoding;

/* Longest chunk key behind the node's path: "c" and 32 times a separator and 20 digits. */
#define ZB__KEY_MAX (1 + ZB_MAX_NDIM * 21 + 1)

typedef struct zb__array {
    zb_array_info info;
    zb__key_encoding keys;
    zb__chain *chain;
    uint64_t cache_id; /* equal only for equal store, path and document: part of cache keys */
} zb__array;

struct zb_node {
    atomic_int refs;
    zb_store *store; /* one reference */
    char *path;
    zb_json *document;
    const zb_json *attributes;
    zb__array *array; /* NULL for a group */
    uint64_t home;    /* zb_store_identify of its path when it was opened; 0: not known */
    uint64_t version; /* of the document that the node was made of, in one word; 0: unsure */
    atomic_uint_fast64_t seen; /* the last version that is known to be of this form */
};

/* Reads the text of the document at path; the caller frees. */
enum zb_code zb__node_read(zb_store *store, const char *path, char **text, size_t *size,
                           zb_error *err);

/* The same; *info is the version that was read. */
enum zb_code zb__node_read_version(zb_store *store, const char *path, char **text, size_t *size,
                                   zb_object_info *info, zb_error *err);

/* Makes a node of a document's text, which the store may hold or not. */
enum zb_code zb__node_make(zb_store *store, const char *path, const char *text, size_t size,
                           zb_node **out, zb_error *err);

/* The same when the text has been parsed; takes over json, on failure, too. */
enum zb_code zb__node_make_parsed(zb_store *store, const char *path, const char *text, size_t size,
                                  zb_json *json, zb_node **out, zb_error *err);

/* Puts store, kind ("array", "group", "node") and path before a message. */
enum zb_code zb__node_blame(const zb_store *store, const char *kind, const char *path,
                            enum zb_code code, zb_error *err);

/* Chunks of one extent that an array of another one has, the last of them maybe in part. Rounded up
   without adding first, which could overflow. */
static inline uint64_t zb__chunks_along(uint64_t extent, uint64_t chunk) {
    return extent / chunk + (extent % chunk != 0);
}

/* Chunks of the grid along each dimension: grid[ndim]; 0 where the extent is 0. */
void zb__array_grid(const zb__array *array, uint64_t *grid);

/* Writes the key of the chunk at grid index[ndim], below the array's own path, into text. */
void zb__chunk_key(const zb__key_encoding *keys, uint32_t ndim, const uint64_t *index,
                   char text[ZB__KEY_MAX]);

/* The node's path, a slash unless it is the root, and the chunk's key: malloc'ed, or NULL. */
char *zb__array_chunk_key(const zb_node *node, const uint64_t *index);

/* Parses a zarr.json of kind array into a model. `document` must outlive it. */
enum zb_code zb__array_parse(const zb_json *document, zb__array **out, zb_error *err);
void zb__array_free(zb__array *array); /* NULL is allowed */

#endif
