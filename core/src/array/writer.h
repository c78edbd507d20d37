/* SPDX-License-Identifier: MIT */
/*
 * The inside of a writer. The data's way through a write:
 *
 *     zb_write --split by the grid--> chunks
 *
 * - A chunk that the box covers: its units are encoded in parallel straight from the caller's
 *   memory, and the object is put (encode_chunks.c).
 * - A chunk that it covers partly: gathered in an open chunk, unit by unit (gather.c); put when it
 *   is complete, or merged with the stored object when it has to leave memory (merge.c).
 *
 * A *unit* is what is encoded on its own: an inner chunk, or the whole chunk where it is not a
 * shard or codecs lie around the shard. Elements of a unit are kept as they are serialised (stored
 * dimensions and byte order), so that encoding needs no further pass.
 */
#ifndef ZB_ARRAY_WRITER_H
#define ZB_ARRAY_WRITER_H

#include <pthread.h>

#include "array/budget.h"
#include "array/piece.h"
#include "array/room.h"
#include "base/scratch.h"
#include "base/slab.h"
#include "meta/array.h"
#include "zarrbridge/write.h"

/* How the array's chunks are made of units. All in the stored dimensions of the array's chain. */
typedef struct zb__layout {
    uint32_t ndim;
    const zb__chain *outer;      /* of the chunk */
    const zb__chain *unit;       /* of one unit; == outer when the chunk is its only unit */
    const zb__shard *shard;      /* NULL when the chunk is its only unit */
    uint64_t shape[ZB_MAX_NDIM]; /* of the array */
    uint64_t chunk_shape[ZB_MAX_NDIM];
    uint64_t unit_shape[ZB_MAX_NDIM];
    uint64_t unit_grid[ZB_MAX_NDIM]; /* units per chunk along each dimension */
    uint64_t units;                  /* per chunk */
    uint64_t strides[ZB_MAX_NDIM];   /* of a unit's elements in memory, counted in elements */
    size_t unit_bytes;               /* decoded */
    size_t unit_bound;               /* encoded, at most */
    bool fixed;    /* a unit's encoding has one possible size, and a checksum: ZB_INPLACE */
    uint8_t *fill; /* one element in stored byte order */
} zb__layout;

enum zb_code zb__layout_init(zb__layout *layout, const zb__array *array, zb_error *err);

/* The elements of a chunk's unit that lie inside the array: count[d] from the unit's start. Returns
   their number. origin: the chunk's first element in the array. */
uint64_t zb__unit_inside(const zb__layout *layout, const uint64_t *origin, uint64_t unit,
                         uint64_t *count);

/* Copies a piece (in the coordinates of a unit) from its memory to the unit's elements. */
void zb__unit_put(const zb__layout *layout, zb__piece *piece, uint8_t *elements);

/* Sets all elements of a unit to the fill value. */
void zb__unit_fill(const zb__layout *layout, uint8_t *elements);

/* ---- Objects ---- */

/* An encoded unit; size 0: all fill, not stored. */
typedef struct zb__encoded {
    const uint8_t *data;
    size_t size;
} zb__encoded;

/* Puts a chunk made of its units (one for each of layout->units) under the key, or erases the key
   when none is stored, if the batch's check allows it. Called under the key's lock, but with
   ZB_DURABLE_FLUSH. */
enum zb_code zb__object_put(const zb__layout *layout, zb_batch *batch, const char *key,
                            const zb__encoded *units, enum zb_durability durability,
                            zb__scratch *scratch, zb_error *err);

/* ---- Open chunks ---- */

typedef struct zb__open_unit {
    uint8_t *elements; /* unit_bytes, or NULL while nothing of it is written */
    uint64_t *written; /* a bit for each element, in their order; behind them. NULL as long as the
                          first `in_order` elements are written, and no others */
    uint64_t in_order;
    uint64_t missing; /* elements inside the array that are not written yet */
} zb__open_unit;

typedef struct zb__open_chunk {
    struct zb__open_chunk *newer, *older; /* by last use */
    struct zb__open_chunk *chain;         /* in its bucket */
    uint64_t index[ZB_MAX_NDIM];          /* in the array's grid, the array's dimension order */
    uint64_t origin[ZB_MAX_NDIM];         /* its first element, in stored dimensions */
    uint64_t missing;                     /* of all units */
    uint64_t bytes;                       /* of memory, units' elements apart */
    uint64_t unit_bytes;                  /* of memory, units' elements alone */
    zb__open_unit *units;                 /* [layout->units] */
} zb__open_chunk;

struct zb_writer {
    zb_node *node; /* one reference */
    zb_write_options options;
    zb__layout layout;
    zb__block_pool blocks; /* for encoded units; guarded by the run that encodes */
    zb__open_chunk *newest, *oldest;
    zb__slabs slabs;          /* memory of open units */
    struct zb__spare *spare;  /* of units that are no longer open: idle memory */
    zb__open_chunk **buckets; /* by hash of the index; as many as open chunks, or more */
    size_t bucket_count, open_count;
    zb_batch batch;                  /* of what is put */
    pthread_mutex_t document_lock;   /* of the two below */
    zb_validator document;           /* version of the array's document that was last looked at */
    uint64_t shape_now[ZB_MAX_NDIM]; /* the array's shape in it */
    atomic_bool waits; /* something of ours is with the store and waits for its flush */
    bool lost;         /* that could not be made durable, and is forgotten */
};

/* Adds a piece (stored dimensions, the chunk's coordinates) to the chunk at this index of the grid.
   part: a piece to work with. */
enum zb_code zb__gather(zb_writer *writer, const uint64_t *index, zb__piece *piece, zb__piece *part,
                        zb__open_chunk **out, zb_error *err);

/* Forgets an open chunk, because it was stored or is about to be overwritten whole. */
void zb__open_chunk_drop(zb_writer *writer, zb__open_chunk *chunk);
zb__open_chunk *zb__open_chunk_find(const zb_writer *writer, const uint64_t *index);

/* Lets `written` tell what is written of a unit that has elements. */
void zb__unit_need_bits(const zb__layout *layout, zb__open_unit *unit);

/* Bytes that gathering this piece will add to what waits, if that is more than `most`; else any
   number up to `most`. */
uint64_t zb__gather_bytes(const zb_writer *writer, const uint64_t *index, zb__piece *piece,
                          uint64_t most);

/* Gives memory back that is kept for the next open chunks. */
void zb__spare_free(zb_writer *writer);

/* Stores open chunks, whose list it sorts, and drops those that it could store. Incomplete ones are
   merged with the stored objects under their locks. The first error is returned. */
enum zb_code zb__merge(zb_writer *writer, zb__open_chunk **chunks, size_t count, zb_error *err);

/* ---- Changing a stored shard (live.c) ---- */

typedef struct zb__live {
    zb_object *object; /* NULL: the shard has to be replaced */
    uint64_t size;     /* of the object */
    uint64_t *entries; /* its index, [2 * units] */
} zb__live;

/* Can the array's shards be changed as the strategy wants? ZB_EUNSUPPORTED says why not. */
enum zb_code zb__live_check(const zb_node *node, const zb__layout *layout,
                            enum zb_strategy strategy, zb_error *err);

/* Opens the stored shard for the writer's strategy. Called under its lock. */
enum zb_code zb__live_begin(const zb_writer *writer, const char *key, const zb__open_chunk *chunk,
                            zb__live *live, zb_error *err);
void zb__live_end(zb__live *live);

/* Puts the encoded units of the open chunk into the shard. */
enum zb_code zb__live_put(const zb_writer *writer, const char *key, const zb__open_chunk *chunk,
                          const zb__live *live, const zb__encoded *units, zb__scratch *scratch,
                          zb_error *err);

/* Reads the index of a shard whose last byte is before `end`. What is wrong with it is an error. */
enum zb_code zb__live_index(const zb__layout *layout, zb_object *object, uint64_t end,
                            uint64_t *entries, zb__scratch *scratch, zb_error *err);

/* ---- Encoding and storing ---- */

/* Bytes for each unit of a chunk besides the units: lists of the encoded ones, of those taken over,
   and of the object's parts; the entries of its old and new index, decoded and encoded. */
#define ZB__UNIT_LISTS 112

/* A chunk to encode and put. Its units come from the caller's memory or from an open chunk. */
typedef struct zb__job {
    const uint64_t *index;      /* in the array's grid */
    zb__piece *piece;           /* covers the chunk: stored dimensions, the chunk's coordinates */
    const zb__open_chunk *open; /* when piece is NULL: complete but for the units in `kept` */
    const zb__encoded *kept;    /* [units] taken over from the stored object, or NULL */
    zb_lock *lock;              /* held by the caller; NULL: taken around the put */
    const zb__live *live;       /* the stored object is to be changed instead, or NULL */
    bool stored;                /* result: the chunk was put */
} zb__job;

/* Encodes all units of all jobs in parallel and puts each object. is_reserved: the caller has
   reserved memory for their encoded units (zb__work_begin); else the calling thread may have to
   wait for some, and must hold no lock. */
enum zb_code zb__jobs_run(zb_writer *writer, zb__job *jobs, size_t count, bool is_reserved,
                          zb_error *err);

/* No codec changes a unit's elements, so that what lies together need not be copied. */
static inline bool zb__is_plain(const zb__layout *layout) {
    return !layout->unit->shard && layout->unit->codec_count == 0;
}

/* ---- Helpers that both ways share ---- */

/* Is a part of the chunk outside the array? allowed.c. */
bool zb__is_on_edge(const zb__layout *layout, const uint64_t *index);

/* The check of a writer's batch, which is the context: ZB_ECONFLICT when the array is gone, another
   one has taken its place, or the chunk is not as far inside it as the writer believes. Any thread.
 */
enum zb_code zb__chunk_allowed(void *context, const char *key, zb_error *err);

/* Opens a writer without that check, as durable as documents are: for a caller that holds the
   hierarchy's lock and reaches beyond the array's shape. */
enum zb_code zb__writer_open_unchecked(const zb_node *node, zb_writer **out, zb_error *err);

/* Takes the key's lock. *lock stays NULL where none can be had and that is allowed: for whole
   chunks, or when the writer promised to be alone. */
enum zb_code zb__chunk_lock(const zb_writer *writer, const char *key, bool whole, zb_lock **lock,
                            zb_error *err);
/* The error of a writer whose flush has lost something. */
enum zb_code zb__fail_lost(const zb_writer *writer, zb_error *err);

/* held: by one who has the key's lock. */
enum zb_durability zb__durability(const zb_writer *writer, bool held);
enum zb_code zb__chunk_blame(const zb_writer *writer, const uint64_t *index, enum zb_code code,
                             zb_error *err);

#endif
