/* SPDX-License-Identifier: MIT */
/*
 * Writing: creating nodes, changing metadata, and writing boxes.
 *
 * The promise: at every instant each key holds its old or its new object, whole. A killed writer
 * loses what it had not flushed, nothing else. Two writers of one shard, threads or processes,
 * never lose each other's data: they take turns under a lock, or one of them gets ZB_ECONFLICT.
 *
 * Nodes stay immutable in memory: a call that changes a node's document gives a new node and leaves
 * the old one as it was. Who holds the old one goes on with the old shape and attributes.
 */
#ifndef ZARRBRIDGE_WRITE_H
#define ZARRBRIDGE_WRITE_H

#include "zarrbridge/zarrbridge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Durability ---------------------------------------------------------------------------- */

/* When what was written is safe from a loss of power. */
enum zb_sync {
    ZB_SYNC_NONE,  /* when the operating system sees fit */
    ZB_SYNC_CLOSE, /* when zb_writer_flush, zb_writer_close or zb_store_flush has returned */
    ZB_SYNC_ALWAYS /* when the call that writes it returns; each object before it replaces the old
                      one */
};

/* From now on changes of documents (creating, attributes, shapes, copying, moving, deleting)
   through this store are as safe as `sync` says. Never less than what an earlier call, or a writer
   that was opened on this store, has asked for. A loss of power leaves the old document or the
   new one, and from ZB_SYNC_CLOSE on, once zb_store_flush or a writer's flush has returned, the new
   one. With ZB_SYNC_NONE a document that did not exist before may be left incomplete until then. */
ZB_API void zb_store_set_sync(zb_store *store, enum zb_sync sync);

/* ---- Creating and changing nodes ---------------------------------------------------------- */

/* Creates a directory for a store unless there is one. */
ZB_API enum zb_code zb_store_create_fs(const char *path, zb_store **out, zb_error *err);

/* About all calls that change nodes: they take turns under one lock for each hierarchy, whichever
   group of it the store was opened at; ZB_EUNSUPPORTED where no locks can be had (ZARRBRIDGE_LOCKS
   in docs/writing.md). Those that take a node give ZB_ECONFLICT when it has been deleted, moved or
   made anew since it was opened. Consolidated metadata in groups above is taken out before the
   change and put back afterwards, current; when that fails it stays out. Groups that were missing
   stay when a call fails later. Texts are JSON; the bare tokens NaN and Infinity are refused in
   them (ZB_EINVAL). */

/* Creates a group, and groups at all ancestors that have no document. ZB_ECONFLICT when the node,
   or an array above it, exists. attributes: a JSON object as text, or NULL. Names are UTF-8 without
   control characters and backslashes; they do not begin with "." or "__" and are not "zarr.json".
 */
ZB_API enum zb_code zb_group_create(zb_store *store, const char *path, const char *attributes,
                                    zb_node **out, zb_error *err);

/* What an array is to be. Pointers are borrowed for the call. */
typedef struct zb_array_spec {
    uint32_t ndim;
    const uint64_t *shape;       /* [ndim] */
    const uint64_t *inner_shape; /* [ndim]: the unit of encoding */
    const uint64_t *shard_shape; /* [ndim], multiples of inner_shape; NULL: not sharded */
    zb_dtype dtype;              /* `swapped`: stored in the byte order opposite to the host's */
    const void *fill_value;      /* one element in host order; NULL: zero */
    const char *codecs;          /* bytes→bytes codecs of the innermost chunk: a JSON list
                                    as text; NULL: zstd level 3; "[]": none. What a
                                    configuration leaves out gets a default */
    const char *const *dimension_names; /* [ndim] or NULL */
    const char *attributes;             /* a JSON object as text, or NULL */
    char separator;                     /* of chunk keys; 0 means '/' */
} zb_array_spec;

/* Creates an array likewise. Documents are valid under 3.0 and 3.1; every codec is written in
   object form. Chunks without a document that lie at the path are erased; nodes below it are
   ZB_ECONFLICT. */
ZB_API enum zb_code zb_array_create(zb_store *store, const char *path, const zb_array_spec *spec,
                                    zb_node **out, zb_error *err);

/* Sets (value: JSON text) or removes (NULL; ZB_ENOTFOUND when there is none) one attribute. The
   others keep their order and text; so do members of the document that we do not know. What is
   changed is the document as it is in the store now. *out is the changed node. */
ZB_API enum zb_code zb_node_set_attribute(const zb_node *node, const char *name, const char *value,
                                          zb_node **out, zb_error *err);

/* Sets (entries may be NULL) or removes (names NULL) the names of an array's dimensions, likewise.
 */
ZB_API enum zb_code zb_array_set_dimension_names(const zb_node *node, const char *const *names,
                                                 zb_node **out, zb_error *err);

/* Changes an array's shape, from the node's own to this one: ZB_ECONFLICT when the array has
   another shape by now, or another node is there. (Appending beside others is a loop: resize, on
   ZB_ECONFLICT zb_node_refresh and again, then write.) Chunks that lie beyond the new shape are
   erased; those cut by it are refilled with the fill value there, so that growing again does not
   bring old elements back. Growing clears what other programs have left there. When erasing or
   refilling fails, the array has the new shape already; resizing it again, also to the same shape,
   does the rest. Chunks that a writer still holds are not seen: flush first. */
ZB_API enum zb_code zb_array_resize(const zb_node *node, const uint64_t *shape, zb_node **out,
                                    zb_error *err);

/* Erases a node and all below it, also what a killed deletion has left of them. ZB_ENOTFOUND when
   there is none. At the root, what belongs to no node stays. */
ZB_API enum zb_code zb_node_delete(zb_store *store, const char *path, zb_error *err);

/* Copies a node and all nodes below it to a path where there is none (ZB_ECONFLICT), in the same
   store or another; groups above are created. Documents and chunks are the same bytes. The node
   appears when all of it is there; after an error nothing of it stays, as far as it can be erased.
   One object after the other passes through memory (ZB_ELIMIT above shard_bytes). */
ZB_API enum zb_code zb_node_copy(zb_store *from, const char *from_path, zb_store *to,
                                 const char *to_path, zb_error *err);

/* Moves a node with all below it within a store. Directories are renamed, in one step and with all
   that lies in them. Where a store cannot do that, the node is copied and the source deleted; a
   process that is killed between leaves both. */
ZB_API enum zb_code zb_node_move(zb_store *store, const char *from, const char *to, zb_error *err);

/* ---- Writing boxes ------------------------------------------------------------------------ */

/* What happens to a stored shard of which a part is written; never recorded in metadata. What
   covers a whole shard replaces it under every strategy.

   ZB_APPEND and ZB_INPLACE change the stored object while others may read it, which gives up one
   half of the promise above: a writer that is killed in the middle can leave a damaged shard. That
   is always detected - readers get ZB_ECHECKSUM or ZB_EFORMAT, never wrong elements - and undone:
   a journal beside the object, put before it is touched, lets the next writer of the shard, or
   zb_store_repair, bring back the old shard (append) or the old inner chunks (inplace). Readers at
   the same time find the old or the new elements, try again by themselves when they meet a mixture,
   and get an error when it lasts. After a loss of power the same holds when `sync` is not
   ZB_SYNC_NONE.

   Both need a store whose objects can be changed, locks, and shards whose index has a crc32c; else
   zb_writer_open gives ZB_EUNSUPPORTED. A shard that cannot be changed in place (it has hard links,
   or is not there yet) is replaced. */
enum zb_strategy {
    ZB_REWRITE, /* the object is replaced by a new one with what it holds besides */
    ZB_APPEND,  /* the inner chunks that were written, and a new index, are put behind the old ones,
                   which stay as garbage until zb_array_compact. Needs the index at the end */
    ZB_INPLACE /* inner chunks are overwritten where they are. Needs inner chunks of fixed size with
                  a crc32c and no compression. Stores all inner chunks of a shard, also those that
                  are all fill; a shard that lacks some is replaced, once */
};

typedef struct zb_write_options {
    enum zb_sync sync;
    enum zb_strategy strategy;
    bool store_empty;  /* store chunks that are all fill value, too */
    bool without_lock; /* write parts of shards even where no lock can be had: the caller promises
                          to be the only writer */
} zb_write_options;

/* An array open for writing. Gathers parts of chunks until they are complete. One thread at a time
   uses a writer; different writers, also of one array, may be used at once.

   Memory: what waits in all writers of the process together is at most write_cache_bytes of
   zb_limits, and with what encoding and merging need while they run at most one and a half times
   that, besides some MiB of scratch for each thread. One chunk or shard that needs more by itself
   is still written, one at a time: a chunk that is no shard is gathered whole; of a shard, inner
   chunks that were written in part are merged with the stored ones as often as the budget is full.
   A call waits when other writers have what it needs. */
typedef struct zb_writer zb_writer;

/* options may be NULL for the defaults. The writer keeps the node alive. */
ZB_API enum zb_code zb_writer_open(const zb_node *node, const zb_write_options *options,
                                   zb_writer **out, zb_error *err);

/* One box to write, as zb_read: element (i0, ...) comes from data + sum of i_d * strides[d]. */
typedef struct zb_write {
    const uint64_t *start, *count, *step; /* [ndim] or NULL, as in zb_read */
    const void *data;
    zb_dtype dtype; /* converted to the array's, as zb_array_read does the other way round */
    const int64_t *strides; /* bytes, [ndim]; NULL for C order without gaps */
} zb_write;

/* Writes one box. Chunks and shards that are complete afterwards are encoded and stored at once,
   without reading the old ones; the rest waits in memory for the rest of its chunk, for a flush, or
   until the budget is full. On error nothing of an old object is harmed, and the    call may be
   tried again. ZB_ECONFLICT when the array has been deleted, moved or made anew since the writer's
   node was opened, and for chunks of which another part lies within its shape now than then: they
   may hold elements that the writer does not know of. */
ZB_API enum zb_code zb_writer_write(zb_writer *writer, const zb_write *write, zb_error *err);

/* Stores all that waits: parts are merged with the stored object under the key's lock. What could
   not be stored keeps waiting, so that flushing can be tried again. Not so with ZB_SYNC_CLOSE for
   chunks that were stored whole and could then not be made durable: they have their old content,
   and this writer's flushes fail from now on, other writers' do not. Open another one and write
   them again. Unless `sync` is ZB_SYNC_NONE, all changes of documents through the store are durable
   afterwards, too. */
ZB_API enum zb_code zb_writer_flush(zb_writer *writer, zb_error *err);

/* Stores what waits in the chunks that a box touches, so that zb_array_read of the box gives what
   was written; all else goes on waiting, and nothing becomes durable. Parts of the box outside the
   array touch no chunk. Errors are those of zb_writer_flush, and ZB_EIO after a flush that lost
   something. */
ZB_API enum zb_code zb_writer_settle(zb_writer *writer, const uint64_t *start,
                                     const uint64_t *count, zb_error *err);

/* Flushes and frees the writer, also when flushing fails. NULL is allowed. */
ZB_API enum zb_code zb_writer_close(zb_writer *writer, zb_error *err);

/* Frees the writer and forgets what waits. NULL is allowed. */
ZB_API void zb_writer_abandon(zb_writer *writer);

/* A part of a region that lies in one chunk, or one shard: what one worker can write by itself. */
typedef struct zb_shard_piece {
    const uint64_t *index;         /* [ndim], of the chunk in the array's grid */
    const uint64_t *start, *count; /* [ndim], elements of the region in the chunk */
    bool is_whole; /* covers the chunk as far as it lies in the array: nothing stored is read, and
                      no other piece touches it */
} zb_shard_piece;

/* Called for each piece, whose pointers last as long as the call. Anything but 0 ends the plan. */
typedef int (*zb_shard_fn)(void *context, const zb_shard_piece *piece);

/* Cuts a region (start, count: NULL as in zb_read) along the chunks, or shards, of an array, in C
   order: a plan for schedulers. Workers that each write whole pieces never wait for each other. No
   store is asked. */
ZB_API enum zb_code zb_plan_shards(const zb_node *node, const uint64_t *start,
                                   const uint64_t *count, zb_shard_fn fn, void *context,
                                   zb_error *err);

/* Replaces each shard that carries garbage, as ZB_APPEND leaves it, by one without. One shard after
   the other passes through memory. *reclaimed (may be NULL) are the bytes won. */
ZB_API enum zb_code zb_array_compact(const zb_node *node, enum zb_sync sync, uint64_t *reclaimed,
                                     zb_error *err);

#ifdef __cplusplus
}
#endif
#endif
