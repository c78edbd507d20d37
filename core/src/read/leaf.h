/* SPDX-License-Identifier: MIT */
/* Keys and leaves: the stored objects that a read needs, and the chunks in them. */
#ifndef ZB_READ_LEAF_H
#define ZB_READ_LEAF_H

#include "codec/chunk_layout.h"
#include "read/piece.h"
#include "util/lru.h"
#include "util/scratch.h"
#include "zarrbridge/error.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* A window of a stored object, or of memory, that holds a chunk's stored bytes. */
typedef struct zb__source {
    const uint8_t *memory; /* NULL: the object's */
    zb_object *object;     /* NULL: the bytes come from the store some other way (flow.h) */
    uint64_t offset, size; /* of the window */
} zb__source;

struct zb__stored_chunk;

/* A chunk to decode (or to fill), with all pieces that want elements of it. */
typedef struct zb__leaf {
    struct zb__leaf *next;
    struct zb__stored_chunk *chunk;
    const zb__chunk_layout *layout;
    zb__piece *pieces;     /* in the layout's stored dimensions */
    bool missing;          /* not stored: the fill value */
    bool transient;        /* lies in decoded memory: its offset does not identify it */
    uint64_t offset, size; /* in the stored chunk's object */
    uint64_t lo, hi;       /* of a raw chunk: the bytes of it that the pieces want */
    const uint8_t *held;   /* its bytes where they are at hand already, else NULL */
    uint64_t inner; /* for messages and caches: number in the shard, UINT64_MAX unless sharded */
    const struct zb__leaf *around; /* for messages: the inner chunk that is this shard, or NULL */
    zb__lru_item *cached;          /* decoded bytes that cover the pieces, or NULL; one reference */
} zb__leaf;

/* One stored object that the plan needs. */
typedef struct zb__stored_chunk {
    const zb_node *node;
    uint64_t *index;   /* its place in the array's grid */
    uint64_t number;   /* the same, counted in C order; UINT64_MAX when that overflows */
    zb__piece *pieces; /* in the stored dimensions of the array's pipeline */
    zb__arena arena;   /* of the leaves and pieces that expanding it makes */
    const zb__chunk_layout *layout; /* while its leaves are there: of this chunk
                                       (zb__array_chunk_layout) */
    zb_object *object;              /* open while its wave runs, or NULL */
    bool is_missing;                /* when it was opened last, there was no object */
    bool is_fresh;                  /* for a writer: what is read has to lie in the array's home */
    zb_object_info info;
    zb__leaf *leaves; /* after expanding; by offset, missing ones first */
    size_t leaf_count;
    zb__leaf *waiting; /* shards whose index has to come from the store first (expand.c) */
} zb__stored_chunk;

/* The bytes of the stored chunk's object that a leaf needs: all of an encoded chunk, of a raw one
   those that its pieces want. */
static inline uint64_t zb__leaf_begin(const zb__leaf *leaf) {
    return leaf->offset + leaf->lo;
}
static inline uint64_t zb__leaf_length(const zb__leaf *leaf) {
    return leaf->layout->pipeline->is_raw ? leaf->hi - leaf->lo : leaf->size;
}

/* Puts the elements that a leaf's pieces want at their destinations. `stored` holds the bytes that
   the leaf needs, or is NULL when the leaf is missing, cached, or a raw chunk to read from the
   stored chunk's object. */
enum zb_code zb__leaf_run(const zb__leaf *leaf, const uint8_t *stored, zb__scratch *scratch,
                          zb_error *err);

/* Sets lo and hi of a raw leaf. */
void zb__leaf_set_extent(zb__leaf *leaf);

/* Elements that its pieces want, whatever has been read of them. */
uint64_t zb__stored_chunk_wanted(const zb__stored_chunk *chunk);

/* The name that messages give a leaf: prefixes *err with store, array, chunk and inner chunk. */
enum zb_code zb__leaf_add_context(const zb__leaf *leaf, enum zb_code code, zb_error *err);

enum zb_code zb__stored_chunk_add_context(const zb__stored_chunk *chunk, enum zb_code code,
                                          zb_error *err);

/* Sets leaf->cached when the leaf's chunk is worth caching and the cache holds the bytes that its
   pieces want. */
void zb__leaf_look_up(zb__leaf *leaf);

/* Whether the cache has something of the leaf's chunk, which is no inner one, of any version: then
   it pays to ask for the version before the object is opened. */
bool zb__leaf_may_be_cached(const zb__leaf *leaf);

/* Shard indexes: read with one range request, checked, and cached by the version of their
   object. */

/* Two numbers for each inner chunk: offset in the shard and size, ZB__INDEX_EMPTY twice when
   missing. */
typedef struct zb__index {
    const uint64_t *entries;
    zb__lru_item *item; /* keeps entries alive when they are cached */
    uint64_t *own;      /* otherwise they are here */
} zb__index;

/* The place of the stored index in the object or memory of `source`. ZB_EFORMAT when the shard is
   too short to hold it. */
enum zb_code zb__index_place(const zb__shard *shard, const zb__source *source, uint64_t *offset,
                             size_t *size, zb_error *err);

/* Reads the index of the shard whose bytes are `source` into entries[2 * count], past the cache. */
enum zb_code zb__index_read(const zb__shard *shard, const zb__source *source, zb__scratch *scratch,
                            uint64_t *entries, zb_error *err);

/* The index from the cache; false when it is not there. Else, and of zb__index_load and
   zb__index_take on success, the caller releases the index. */
bool zb__index_find(const zb__stored_chunk *chunk, const zb__shard *shard, const zb__source *source,
                    zb__index *out);

/* The index from its stored bytes, which it puts into the cache. */
enum zb_code zb__index_take(const zb__stored_chunk *chunk, const zb__shard *shard,
                            const zb__source *source, const uint8_t *encoded, size_t size,
                            zb__scratch *scratch, zb__index *out, zb_error *err);

/* The index from the cache, or read and put there. */
enum zb_code zb__index_load(const zb__stored_chunk *chunk, const zb__shard *shard,
                            const zb__source *source, zb__scratch *scratch, zb__index *out,
                            zb_error *err);
void zb__index_release(zb__index *index);

/* ---- From a stored chunk to its leaves (expand.c). */

/* Opens the stored chunk's object. A missing one gives ZB_OK with chunk->object NULL. */
enum zb_code zb__stored_chunk_open(zb__stored_chunk *chunk, zb_error *err);

/* Opens the stored chunk's object where that pays before its tasks run, reads shard indexes, and
   fills chunk->leaves. Called in parallel for different stored chunks. */
enum zb_code zb__stored_chunk_expand(zb__stored_chunk *chunk, zb__scratch *scratch, zb_error *err);

/* Puts the leaves in the order of their bytes in the object: they are best read so. Those that want
   mostly the same bytes of an uncompressed chunk become one. */
enum zb_code zb__stored_chunk_sort(zb__stored_chunk *chunk, zb_error *err);

/* The same step by step, for bytes that come from the store while others are decoded: nothing is
   read here. First zb__stored_chunk_begin sets chunk->layout. Then zb__leaf_expand is given all of
   the stored chunk (zb__stored_chunk_whole, or the same of another size) when chunk->info is known;
   it adds to chunk->leaves, and puts the shards whose index is not in the cache on chunk->waiting.
   When the stored bytes of such an index have come (zb__index_place), zb__leaf_expand_by goes on
   from there. One thread at a time for each stored chunk. */
enum zb_code zb__stored_chunk_begin(zb__stored_chunk *chunk, zb_error *err);
zb__leaf zb__stored_chunk_whole(zb__stored_chunk *chunk);
enum zb_code zb__leaf_expand(const zb__leaf *leaf, zb__scratch *scratch, zb_error *err);
enum zb_code zb__leaf_expand_by(const zb__leaf *leaf, const uint8_t *encoded, size_t size,
                                zb__scratch *scratch, zb_error *err);

/* Splits the pieces of `shard`, a leaf whose decoded bytes are `source`, calling emit for each
   inner chunk. The arena owns everything that the inner chunks point to. */
typedef enum zb_code (*zb__emit_fn)(void *context, const zb__leaf *leaf, zb_error *err);
enum zb_code zb__shard_expand(const zb__leaf *shard, const zb__source *source, zb__arena *arena,
                              zb__scratch *scratch, zb__emit_fn emit, void *context, zb_error *err);

/* ---- Tasks (ranged_read.c): leaves of one stored chunk that are read with one request. */

typedef struct zb__ranged_read {
    zb__stored_chunk *chunk;
    zb__leaf *first;
    size_t count;
    uint64_t offset, size; /* of the request; size 0 when nothing is to be read for the task */
    uint64_t unwanted;     /* bytes of the request between the leaves */
} zb__ranged_read;

typedef struct zb__ranged_read_list {
    zb__ranged_read *items;
    size_t count, capacity;
} zb__ranged_read_list;

/* How leaves are put together. */
typedef struct zb__coalesce_rule {
    uint64_t gap;    /* bytes that may lie between two leaves of one request */
    uint64_t spare;  /* such bytes of all requests together */
    size_t requests; /* where there are more, `spare` does not count; 0: it always does */
    uint64_t reach;  /* then, bytes between two requests that may become one, where most of it is
                        wanted; 0: none do */
    uint64_t most;   /* of one request; a single leaf may have more */
    bool looks_up;   /* in the cache of decoded chunks: the stored chunk's version is known */
    bool joins_raw;  /* raw leaves, too, which are else read straight to their destination */
} zb__coalesce_rule;

/* Adds the tasks of a stored chunk's leaves, which are in the order of their bytes. */
enum zb_code zb__ranged_reads_add(zb__ranged_read_list *list, zb__stored_chunk *chunk,
                                  const zb__coalesce_rule *rule, zb_error *err);

/* The reach for a store that answers later: as many bytes as come in the time of a round trip, as
   far as the store knows them. */
uint64_t zb__store_coalesce_reach(zb_store *store);

/* Runs a leaf and releases the cached chunk that it held: once evicted from the table, the chunk
   would take room besides those that replaced it. stored: as zb__leaf_run; a leaf whose bytes are
   held needs none. */
enum zb_code zb__ranged_read_run_leaf(zb__leaf *leaf, const uint8_t *stored, zb__scratch *scratch,
                                      zb_error *err);

/* Runs all leaves of a task. bytes: of its request, NULL where it has none. */
enum zb_code zb__ranged_read_run(const zb__ranged_read *task, const uint8_t *bytes,
                                 zb__scratch *scratch, zb_error *err);

#endif
