/* SPDX-License-Identifier: MIT */
/*
 * Writing: creating nodes, changing metadata, and writing boxes.
 *
 * The promise: at every instant each key holds its old or its new object, whole. A killed writer
 * loses what it had not flushed, nothing else. Two writers of one shard, threads or processes, never
 * lose each other's data: they take turns under a lock, or one of them gets ZB_ECONFLICT.
 *
 * Nodes stay immutable in memory: a call that changes a node's document gives a new node and leaves the old one as
 * it was. Who holds the old one goes on with the old shape and attributes.
 */
#ifndef ZARRBRIDGE_WRITE_H
#define ZARRBRIDGE_WRITE_H

#include "zarrbridge/zarrbridge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Creating and changing nodes ---------------------------------------------------------- */

/* Creates a directory for a store unless there is one. */
ZB_API enum zb_code zb_store_create_fs(const char *path, zb_store **out, zb_error *err);

/* Creates a group, and groups at all ancestors that have no document. ZB_ECONFLICT when the node, or an array
   above it, exists. attributes: a JSON object as text, or NULL. */
ZB_API enum zb_code zb_group_create(zb_store *store, const char *path, const char *attributes,
                                    zb_node **out, zb_error *err);

/* What an array is to be. Pointers are borrowed for the call. */
typedef struct zb_array_spec {
    uint32_t ndim;
    const uint64_t *shape;              /* [ndim] */
    const uint64_t *inner_shape;        /* [ndim]: the unit of encoding */
    const uint64_t *shard_shape;        /* [ndim], multiples of inner_shape; NULL: not sharded */
    zb_dtype dtype;                     /* `swapped`: stored in the byte order opposite to the host's */
    const void *fill_value;             /* one element in host order; NULL: zero */
    const char *codecs;                 /* bytes→bytes codecs of the innermost chunk: a JSON list
                                           as text; NULL: zstd level 3; "[]": none */
    const char *const *dimension_names; /* [ndim] or NULL */
    const char *attributes;             /* a JSON object as text, or NULL */
    char separator;                     /* of chunk keys; 0 means '/' */
} zb_array_spec;

/* Creates an array likewise. Documents are valid under 3.0 and 3.1; every codec is written in object form. */
ZB_API enum zb_code zb_array_create(zb_store *store, const char *path, const zb_array_spec *spec,
                                    zb_node **out, zb_error *err);

/* Sets (value: JSON text) or removes (NULL) one attribute. The others keep their order and text; so do members of the
   document that we do not know. *out is the changed node. */
ZB_API enum zb_code zb_node_set_attribute(const zb_node *node, const char *name, const char *value,
                                          zb_node **out, zb_error *err);

/* Changes an array's shape. Chunks that lie beyond it are erased; those cut by it are refilled with the
   fill value there, so that growing again does not bring old elements back. */
ZB_API enum zb_code zb_array_resize(const zb_node *node, const uint64_t *shape, zb_node **out,
                                    zb_error *err);

/* Erases a node and all below it. ZB_ENOTFOUND when there is none. */
ZB_API enum zb_code zb_node_delete(zb_store *store, const char *path, zb_error *err);

/* ---- Writing boxes ------------------------------------------------------------------------ */

/* When what was written is safe from a loss of power. */
enum zb_sync {
    ZB_SYNC_NONE,  /* when the operating system sees fit */
    ZB_SYNC_CLOSE, /* when zb_writer_flush or zb_writer_close has returned */
    ZB_SYNC_ALWAYS /* each object before it replaces the old one */
};

typedef struct zb_write_options {
    enum zb_sync sync;
    bool store_empty;  /* store chunks that are all fill value, too */
    bool without_lock; /* write parts of shards even where no lock can be had: the caller promises
                          to be the only writer */
} zb_write_options;

/* An array open for writing. Gathers parts of chunks until they are complete (write_cache_bytes in
   zb_limits bounds all writers of the process together). One thread at a time uses a writer;
   different writers, also of one array, may be used at once. */
typedef struct zb_writer zb_writer;

/* options may be NULL for the defaults. The writer keeps the node alive. */
ZB_API enum zb_code zb_writer_open(const zb_node *node, const zb_write_options *options,
                                   zb_writer **out, zb_error *err);

/* One box to write, as zb_read: element (i0, ...) comes from data + sum of i_d * strides[d]. */
typedef struct zb_write {
    const uint64_t *start, *count, *step; /* [ndim] or NULL, as in zb_read */
    const void *data;
    zb_dtype dtype;         /* converted to the array's, as zb_array_read does the other way round */
    const int64_t *strides; /* bytes, [ndim]; NULL for C order without gaps */
} zb_write;

/* Writes one box. Chunks and shards that are complete afterwards are encoded and stored at once, without reading the
   old ones; the rest waits in memory for the rest of its chunk, for a flush, or until
   the budget is full. On error nothing of an old object is harmed, and the call may be tried again. */
ZB_API enum zb_code zb_writer_write(zb_writer *writer, const zb_write *write, zb_error *err);

/* Stores all that waits: parts are merged with the stored object under the key's lock. What could
   not be stored keeps waiting. */
ZB_API enum zb_code zb_writer_flush(zb_writer *writer, zb_error *err);

/* Flushes and frees the writer, also when flushing fails. NULL is allowed. */
ZB_API enum zb_code zb_writer_close(zb_writer *writer, zb_error *err);

/* Frees the writer and forgets what waits. NULL is allowed. */
ZB_API void zb_writer_abandon(zb_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
