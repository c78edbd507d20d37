/* SPDX-License-Identifier: MIT */
/*
 * Writing boxes.
 *
 * The promise: at every instant each key holds its old or its new object, whole. A killed writer
 * loses only the data that it had not flushed. Two writers of one shard, threads or processes,
 * never lose each other's data: they take turns under a lock, or one of them gets ZB_ECONFLICT.
 */
#ifndef ZARRBRIDGE_WRITE_H
#define ZARRBRIDGE_WRITE_H

#include "zarrbridge/encoded.h"
#include "zarrbridge/node.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The treatment of a stored shard of which a part is written; never recorded in metadata. A write
   that covers a whole shard replaces it under every strategy.

   ZB_APPEND and ZB_INPLACE change the stored object while other programs may read it, which gives
   up one half of the promise above: a writer that is killed in the middle can leave a damaged
   shard. That is always detected - readers get ZB_ECHECKSUM or ZB_EFORMAT, never wrong elements -
   and undone: a journal beside the object, put before it is touched, lets the next writer of the
   shard, or zb_hierarchy_repair, bring back the old shard (append) or the old inner chunks
   (inplace). Readers at the same time find the old or the new elements, try again by themselves
   when they meet a mixture, and get an error when it lasts. After a loss of power the same holds
   when `sync` is not ZB_SYNC_NONE.

   Both need a store whose objects can be changed, locks, and shards whose index has a crc32c; else
   zb_writer_open gives ZB_EUNSUPPORTED. A shard that cannot be changed in place (it has hard links,
   or is not there yet) is replaced. */
enum zb_strategy {
    ZB_REWRITE, /* the object is replaced by a new one, which keeps the rest of the old content */
    ZB_APPEND,  /* the inner chunks that were written, and a new index, are put behind the old ones,
                   which stay as garbage until zb_array_compact. Needs the index at the end */
    ZB_INPLACE /* inner chunks are overwritten where they are. Needs inner chunks of fixed size with
                  a crc32c and no compression. Stores all inner chunks of a shard, also those that
                  are all fill; a shard that lacks some that are in the array by now is replaced */
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

   Memory: the data that wait in all writers of the process together take at most write_cache_bytes
   of zb_limits, and with the memory for encoding and merging at most one and a half times that,
   besides some MiB of scratch for each thread. One chunk or shard that needs more by itself is
   still written, one at a time: a chunk that is not a shard is gathered whole; of a shard, inner
   chunks that were written in part are merged with the stored ones as often as the budget is full.
   A call waits while other writers have the memory that it needs. */
typedef struct zb_writer zb_writer;

/* options may be NULL for the defaults. The writer keeps the array's node alive. Nothing is asked
   of the store, and nothing changes in it. ZB_EINVAL for a group; ZB_EUNSUPPORTED for a node of
   version 2, a store that cannot be written and a strategy that the array does not allow; ZB_ELIMIT
   for chunks above shard_bytes; ZB_ENOMEM. The caller ends *out with zb_writer_close or
   zb_writer_abandon. Any thread. */
ZB_API enum zb_code zb_writer_open(const zb_node *array, const zb_write_options *options,
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
   until the budget is full. On error nothing of an old object is harmed, and the call may be
   tried again. Bytes that elements point at are copied, and may change after the call. ZB_EINVAL
   for a box that leaves the array, and for strings that are not UTF-8 (nothing is written then);
   ZB_EUNSUPPORTED for types that do not convert, and where no lock can be had for a part of a
   shard; ZB_ELIMIT for strings that would make a chunk larger than the limit chunk_bytes, with all
   that was written of it before (nothing more of that chunk waits then); chunk errors of stored
   chunks that are merged; ZB_ECONFLICT when another process holds a lock for longer
   than lock_seconds, when the array has been deleted, moved or made anew since the writer's node
   was opened, and for chunks of which less lies within its shape now than then. (Where another
   program has made the array larger, chunks on the old edge are merged with what that has written
   there, unless they have several extents: then that is ZB_ECONFLICT, too.) */
ZB_API enum zb_code zb_writer_write(zb_writer *writer, const zb_write *write, zb_error *err);

/* Writes the chunks, or shards, that the encoded chunks lie in: each is replaced as a whole, and
   has those that are given, from their chain changed to the array's and checked. Those not given,
   and those of nothing but fill values, are not stored. What waits in the writer of these chunks is
   forgotten. Chunks of one shard come in one call, in any order: the caller has all of them in
   memory, so shards should not be too large. Memory besides: budgets as zb_writer_write. The data
   must stay until the call returns. Errors as zb_writer_write, and as above; shards whose errors
   come first may have been stored, or not. ZB_ECONFLICT for chunks on the edge of an array that
   another program has made longer: their elements have to be merged, by zb_writer_write. */
ZB_API enum zb_code zb_writer_put_encoded(zb_writer *writer, const zb_encoded *chunks, size_t count,
                                          zb_error *err);

/* Stores all that waits: parts are merged with the stored object under the key's lock. Parts that
   could not be stored keep waiting, so that flushing can be tried again. (Strings that wait and
   those that are stored in the rest of their chunk may be too large only together: that is
   ZB_ELIMIT here, until some of them are written anew, and shorter.) Not so with ZB_SYNC_CLOSE
   for chunks that were stored whole and could then not be made durable: they have their old
   content, this writer's flushes fail from now on (those of other writers do not), and another
   writer has to write them again. Errors as zb_writer_write. Unless `sync` is ZB_SYNC_NONE, all
   changes of documents through the store are durable afterwards, too. */
ZB_API enum zb_code zb_writer_flush(zb_writer *writer, zb_error *err);

/* Stores the parts that wait in the chunks that a box touches, so that zb_array_read of the box
   gives the written elements; all else goes on waiting, and nothing becomes durable. Parts of the
   box outside the array touch no chunk. Errors are those of zb_writer_flush, and ZB_EIO after a
   flush that lost something. */
ZB_API enum zb_code zb_writer_store_box(zb_writer *writer, const uint64_t *start,
                                        const uint64_t *count, zb_error *err);

/* True if anything waits in the chunks that a box touches: zb_array_read of the box would not give
   all that was written. Nothing is stored. */
ZB_API bool zb_writer_waits(const zb_writer *writer, const uint64_t *start, const uint64_t *count);

/* The memory of all that waits in the writers of the process: what the limit write_cache_bytes is
   of. */
ZB_API uint64_t zb_writers_waiting_bytes(void);

/* For an array that only grows: what waits need not be stored before, and the writer goes on.

       if (!zb_writer_can_grow(writer, shape))
           zb_writer_close(...); else
       zb_array_resize(node, shape, &grown, &err); zb_writer_grow(writer, grown, &err);

   can_grow tells whether the writer's array may get a shape and the writer then go on: not where a
   dimension shrinks, where chunks have several extents, and after a flush that lost something. */
ZB_API bool zb_writer_can_grow(const zb_writer *writer, const uint64_t *shape);

/* Lets a writer go on with `grown`, the array as it is now, which it keeps alive. Elements that
   wait stay; new ones count as not written. Nothing changes on error: ZB_ECONFLICT for another
   array, ZB_EINVAL for a shape that zb_writer_can_grow refuses. Boxes beyond the shape of before
   can be written from then on. */
ZB_API enum zb_code zb_writer_grow(zb_writer *writer, const zb_node *grown, zb_error *err);

/* Flushes and frees the writer, also when flushing fails. Errors as zb_writer_flush. NULL is
   allowed. */
ZB_API enum zb_code zb_writer_close(zb_writer *writer, zb_error *err);

/* Frees the writer and forgets all that waits. NULL is allowed. */
ZB_API void zb_writer_abandon(zb_writer *writer);

/* The part of a region that lies in one chunk, or one shard, or in several that make a box: the
   share that one worker can write by itself. */
typedef struct zb_piece {
    const uint64_t *index;         /* [ndim], of its first chunk in the array's grid */
    const uint64_t *start, *count; /* [ndim], elements of the region in the chunks */
    bool is_whole; /* covers its chunks as far as they lie in the array: nothing stored is read */
} zb_piece;

/* Called for each piece, whose pointers last as long as the call. Returns 0 to go on, anything else
   to stop. */
typedef int (*zb_piece_fn)(void *context, const zb_piece *piece);

/* Cuts a region (start, count: NULL as in zb_read) along the chunks, or shards, of an array, and
   calls fn for each piece, in C order: a plan for schedulers. No chunk is in two pieces, so that
   workers which each write pieces of their own never wait for each other. `most`: at most so many
   pieces, of about as many chunks each; 0: one for each chunk. The same arguments give the same
   pieces wherever they are asked for. No store is asked. ZB_OK also when fn stops it; ZB_EINVAL for
   a group and for a region that leaves the array; ZB_ENOMEM. Any thread. */
ZB_API enum zb_code zb_array_piece_each(const zb_node *array, const uint64_t *start,
                                        const uint64_t *count, uint64_t most, zb_piece_fn fn,
                                        void *context, zb_error *err);

/* Replaces each shard that carries garbage, as ZB_APPEND leaves it, by one without. One shard after
   the other passes through memory, and others may read and write meanwhile. *reclaimed (may be
   NULL) are the bytes won. Errors as zb_writer_open and zb_writer_write. Any thread. */
ZB_API enum zb_code zb_array_compact(const zb_node *array, enum zb_sync sync, uint64_t *reclaimed,
                                     zb_error *err);

#ifdef __cplusplus
}
#endif
#endif
