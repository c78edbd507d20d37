/* SPDX-License-Identifier: MIT */
/*
 * The inside of a writer. The data's way through a write:
 *
 *     zb_write --split by the grid--> chunks
 *
 * - A chunk that the box covers: its inner chunks are encoded in parallel straight from the
 *   caller's memory, and the object is put (encode_chunks.c).
 * - A chunk that it covers partly: gathered in a buffered chunk, by inner chunks (write_buffer.c);
 *   put when it is complete, or merged with the stored object when it has to leave memory
 *   (merge.c).
 *
 * An *inner chunk* is what is encoded on its own: that of a shard, or the whole chunk where it is
 * not a shard or codecs lie around the shard. Elements of an inner chunk are kept as they are
 * serialised (stored dimensions and byte order), so that encoding needs no further pass.
 */
#ifndef ZB_WRITE_WRITER_H
#define ZB_WRITE_WRITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "array/array.h"
#include "codec/chain.h"
#include "codec/chunk_layout.h"
#include "read/encoded.h"
#include "read/leaf.h"
#include "read/piece.h"
#include "store/store.h"
#include "util/map.h"
#include "util/scratch.h"
#include "util/slab.h"
#include "write/encode_blocks.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/error.h"
#include "zarrbridge/hidden_chunks.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/values.h"
#include "zarrbridge/write.h"

/* ---- The inner chunks of chunks, and the copying between pieces and inner chunks
   (write_layout.c). */

/* The layout of a chunk in inner chunks. All in the stored dimensions of the array's pipeline. */
typedef struct zb__write_layout {
    uint32_t ndim;
    const zb__pipeline *outer;     /* of the chunk */
    const zb__chunk_layout *inner; /* of one inner chunk: of the chunk when it is its only one */
    const zb__shard *shard;        /* NULL when the chunk is its only inner chunk */
    const zb__grid *grid;          /* the array's own, in its own dimensions */
    uint64_t shape[ZB_MAX_NDIM];   /* of the array */
    uint64_t inner_shape[ZB_MAX_NDIM];
    uint64_t inner_grid[ZB_MAX_NDIM]; /* inner chunks per chunk along each dimension */
    uint64_t inner_chunks;            /* per chunk */
    uint64_t strides[ZB_MAX_NDIM];    /* of an inner chunk's elements in memory, counted in elements
                                         */
    size_t inner_bytes;               /* decoded */
    size_t inner_bound;               /* encoded, at most; of variable length: what budgets go by */
    bool fixed;    /* an inner chunk's encoding has one possible size, and a checksum: ZB_INPLACE */
    uint8_t *fill; /* one element in stored byte order */
} zb__write_layout;

/* The chunk at an index of the array's grid, along stored dimension d. */
static inline zb__span zb__chunk_span(const zb__write_layout *layout, uint32_t d,
                                      const uint64_t *index) {
    uint32_t array_dim = layout->outer->axis[d];
    return zb__grid_at(layout->grid, array_dim, index[array_dim]);
}

/* The inner chunk of a number, along stored dimension d: begin with the last one. *rest is the
   number at first. All in the chunk's coordinates; `index` in the chunk's grid of inner chunks. */
static inline zb__span zb__inner_span(const zb__write_layout *layout, uint32_t d, uint64_t *rest) {
    uint64_t index = *rest % layout->inner_grid[d], extent = layout->inner_shape[d];
    *rest /= layout->inner_grid[d];
    return (zb__span){.index = index, .start = index * extent, .extent = extent};
}

/* Of the array's largest chunk. The caller frees layout->fill. */
enum zb_code zb__write_layout_init(zb__write_layout *layout, const zb__array *array, zb_error *err);

/* Sets all that follows from the form of the chunk. */
enum zb_code zb__write_layout_shape(zb__write_layout *layout, const zb__chunk_layout *chunk,
                                    zb_error *err);

/* The elements of a chunk's inner chunk that lie inside the array: count[d] from the inner chunk's
   start. Returns their number. origin: the chunk's first element in the array. */
uint64_t zb__inner_inside(const zb__write_layout *layout, const uint64_t *origin, uint64_t inner,
                          uint64_t *count);

/* Copies a piece (in the coordinates of an inner chunk) from its memory to the inner chunk's
   elements. */
void zb__inner_put(const zb__write_layout *layout, zb__piece *piece, uint8_t *elements);

/* The same for elements of variable length, whose bytes are copied into `values`. */
enum zb_code zb__inner_keep(const zb__write_layout *layout, zb__piece *piece, uint8_t *elements,
                            zb_values *values, zb_error *err);

/* The bytes that a piece's elements point at: 0 for numbers. ZB_EINVAL for what they must not. */
enum zb_code zb__piece_measure(const zb__write_layout *layout, zb__piece *piece, uint64_t *bytes,
                               zb_error *err);

/* Are a piece's elements what the array takes: text that is UTF-8 and not too long? ZB_EINVAL with
   the first that is not. */
enum zb_code zb__piece_check(const zb__write_layout *layout, zb__piece *piece, zb_error *err);

/* Sets all elements of an inner chunk to the fill value, which points at bytes of the array's. */
void zb__inner_fill(const zb__write_layout *layout, uint8_t *elements);

/* Encodes an inner chunk of fill values. *out is malloc'ed, and the caller's. Uses the scratch's
   `decoded`, too. */
enum zb_code zb__inner_encode_fill(const zb__write_layout *layout, zb__scratch *scratch,
                                   uint8_t **out, size_t *size, zb_error *err);

/* True if no codec changes an inner chunk's elements, so that elements that lie together need not
   be copied. */
static inline bool zb__is_plain(const zb__write_layout *layout) {
    return layout->inner->pipeline->is_raw;
}

/*
 * The layouts of a writer's chunks. Chunks of a regular grid share the writer's own. Where chunks
 * have several extents, those of one shape share one as long as a chunk of that shape is open or
 * encoded; the writer's own is that of the largest chunk, by which budgets and memory go.
 *
 * For the thread that plans; tasks that encode only read the layout of their chunk.
 */

/* The layout of the chunk at an index of the grid, to be given back. ZB_EINVAL for a chunk that the
   grid does not have. */
enum zb_code zb__write_layout_take(zb_writer *writer, const uint64_t *index,
                                   const zb__write_layout **out, zb_error *err);
void zb__write_layout_give(zb_writer *writer, const zb__write_layout *layout); /* NULL is allowed */

/* Frees those that are kept for later; none is in use. */
void zb__write_layouts_free(zb_writer *writer);

/* Refuses arrays that this library can only read (ZB_EUNSUPPORTED). */
enum zb_code zb__array_check_writable(const zb__array *array, zb_error *err);

/* ---- Writers (writer.c). */

typedef struct zb__buffered_inner {
    uint8_t *elements; /* inner_bytes, or NULL while nothing of it is written */
    zb_values *values; /* the bytes that elements of variable length point at; NULL for numbers.
                          What is written again leaves its old bytes here */
    uint64_t *written; /* a bit for each element, in their order; behind them. NULL as long as the
                          first `in_order` elements are written, and no others */
    uint64_t in_order;
    uint64_t missing; /* elements inside the array that are not written yet */
} zb__buffered_inner;

typedef struct zb__buffered_chunk {
    zb__map_link link;                        /* by its index */
    struct zb__buffered_chunk *newer, *older; /* in the order of last use */
    uint64_t index[ZB_MAX_NDIM];              /* in the array's grid, the array's dimension order */
    uint64_t origin[ZB_MAX_NDIM];             /* its first element, in stored dimensions */
    uint64_t missing;                         /* of all inner chunks */
    uint64_t bytes;                           /* of memory, without its inner chunks' elements */
    uint64_t inner_bytes;                     /* of memory, of its inner chunks' elements alone */
    uint64_t value_bytes;             /* of memory, of its inner chunks' values; counted in `bytes`,
                                         too */
    const zb__write_layout *layout;   /* of this chunk */
    zb__buffered_inner *inner_chunks; /* [layout->inner_chunks] */
} zb__buffered_chunk;

struct zb_writer {
    /* The array. All three are owned, and the same one until it grows (grow.c). */
    zb_node *node;  /* as it is now; replaced under document_lock */
    zb_node *known; /* as the caller knows it */
    zb_node *first; /* as it was at first: the layout, and fill values that wait, point into it */
    zb_write_options options;
    zb__write_layout layout;          /* of the largest chunk */
    struct zb__shaped_layout *shaped; /* those of chunks of other shapes */
    zb__block_pool blocks;            /* for encoded inner chunks; guarded by the run that encodes
                                         */
    zb__buffered_chunk *newest, *oldest;
    zb__slabs slabs;                 /* memory of open inner chunks */
    struct zb__spare *spare;         /* memory of inner chunks that are no longer open: idle memory
                                        */
    zb__map buffered;                /* chunks by their index */
    zb_batch batch;                  /* of the objects that are put */
    pthread_mutex_t document_lock;   /* guards the two below, and `node` from other threads */
    zb_validator document;           /* version of the array's document that was last looked at */
    uint64_t shape_now[ZB_MAX_NDIM]; /* the array's shape in it */
    atomic_bool waits;               /* the store has objects of ours that wait for its flush */
    zb__unseen *unseen; /* whole chunks that have still to come, or NULL: see hidden.c */
    size_t unseen_from; /* the length of what their keys begin with */
    bool lost;          /* objects of ours could not be made durable, and are forgotten */
};

/* Opens a writer without the check of allowed.c, as durable as documents are: for a caller that
   holds the hierarchy's lock and reaches beyond the array's shape. Where that lock keeps no other
   program out, the array's document has to stand. */
enum zb_code zb__writer_open_unchecked(const zb_node *node, zb_writer **out, zb_error *err);

/* After a call that has failed: true where another program has changed the array's shape and the
   writer now goes on with that one, so that the call may be made again. grow.c. */
bool zb__writer_follows(zb_writer *writer, enum zb_code code);

/* The error of a writer whose flush has lost something. */
enum zb_code zb__fail_lost(const zb_writer *writer, zb_error *err);

/* ---- Chunks that come together (hidden.c). */

/* As those of the hierarchy; of chunks that are out of sight, out of sight, and nobody asked. */
enum zb_code zb__writer_put(zb_writer *writer, const zb_put *put, zb_error *err);
enum zb_code zb__writer_erase(zb_writer *writer, const zb_erase *erase, zb_error *err);

/* They never come. */
void zb__writer_forget_hidden(zb_writer *writer);

/* ---- Putting the object of a chunk that is made of its inner chunks (put_chunk.c). */

/* The way of a put: as in zb_put. Without ZB__PUT_WAITS the caller has the key's lock. */
enum zb__put_way { ZB__PUT_NOW, ZB__PUT_WAITS, ZB__PUT_EXPECTS_NONE };

/* Puts a chunk made of its inner chunks (one for each of layout->inner_chunks) under the key, or
   erases the key when none is stored, if the batch's check allows it. */
enum zb_code zb__chunk_put(zb_writer *writer, const zb__write_layout *layout, const char *key,
                           const zb__encoded *inner_chunks, enum zb__put_way way,
                           zb__scratch *scratch, zb_error *err);

/* Looks at the object of a chunk that is written as a whole, under the key's lock and before the
   batch's check: where a lock keeps no program out, the put then replaces this object, or none, and
   nothing that comes later. */
enum zb_code zb__chunk_see(const zb_writer *writer, const char *key, zb_error *err);

/* Erases the chunk as it was read (zb_erase), if the batch's check allows it, as safe as the
   writer's puts are. The caller has the key's lock. */
enum zb_code zb__chunk_erase(zb_writer *writer, const char *key, zb_error *err);

/* Takes the key's lock. *lock stays NULL where none can be had and that is allowed: for whole
   chunks, or when the writer promised to be alone. */
enum zb_code zb__chunk_lock(const zb_writer *writer, const char *key, bool whole, zb_lock **lock,
                            zb_error *err);

/* Before another try of a chunk that other programs have replaced since it was read: a pause of
   random length, so that two programs do not go on in step. tries: so far. False: those were
   all. */
bool zb__chunk_pause(unsigned tries);

enum zb_code zb__chunk_add_context(const zb_writer *writer, const uint64_t *index,
                                   enum zb_code code, zb_error *err);

/* ---- Changing a stored shard, or sharing its blocks (live.c). */

typedef struct zb__live {
    zb_object *object; /* NULL: the shard has to be replaced */
    uint64_t size;     /* of the object */
    uint64_t *entries; /* its index, [2 * inner_chunks] */
} zb__live;

/* Checks that the array's shards can be changed as the strategy wants; the message of
   ZB_EUNSUPPORTED says why they cannot. */
enum zb_code zb__live_check(const zb_node *node, const zb__write_layout *layout,
                            enum zb_strategy strategy, zb_error *err);

/* Opens the stored shard for the writer's strategy. Called under its lock. */
enum zb_code zb__live_begin(const zb_writer *writer, const char *key,
                            const zb__buffered_chunk *chunk, zb__live *live, zb_error *err);

void zb__live_end(zb__live *live);

/* Puts the encoded inner chunks of the buffered chunk into the shard. */
enum zb_code zb__live_put(zb_writer *writer, const char *key, const zb__buffered_chunk *chunk,
                          const zb__live *live, const zb__encoded *inner_chunks,
                          zb__scratch *scratch, zb_error *err);

/* The stored shard with the inner chunks of a buffered chunk behind its bytes. A new index is to
   follow at the very end. */
typedef struct zb__grown {
    uint64_t *entries;      /* of the new index, [2 * inner_chunks] */
    zb_part *parts;         /* the new inner chunks, and room for one part more */
    uint64_t *inner_chunks; /* of the parts */
    size_t count;           /* of the new inner chunks */
    uint8_t *index;         /* room for the new index, encoded */
    uint64_t end;           /* of the inner chunks */
    bool changed;           /* the new index differs from the old one */
    bool any;               /* the new index has entries */
} zb__grown;

/* The parts lie in `inner_chunks`. ZB_ENOMEM; zb__grown_clear in any case (grown_shard.c). */
enum zb_code zb__grown_make(const zb__buffered_chunk *chunk, const zb__live *live,
                            const zb__encoded *inner_chunks, zb__grown *out, zb_error *err);
void zb__grown_clear(zb__grown *grown);

/* The same by a new object that shares the blocks of the old one (shared_blocks.c), which
   zb__live_begin takes where the store can, and it pays. */
bool zb__shared_blocks_pay(const zb__buffered_chunk *chunk, const zb__live *live);
enum zb_code zb__shared_blocks_put(zb_writer *writer, const char *key,
                                   const zb__buffered_chunk *chunk, const zb__live *live,
                                   const zb__encoded *inner_chunks, zb__scratch *scratch,
                                   zb_error *err);

/* ---- Encoding chunks and storing them (encode_chunks.c). */

/* Bytes for each inner chunk of a chunk besides the inner chunks: lists of the encoded inner
   chunks, of those taken over, and of the object's parts; the entries of its old and new index,
   decoded and encoded. */
#define ZB__INNER_LISTS 112

/* An inner chunk that the caller has encoded already; size 0: all fill, not stored. */
typedef struct zb__given {
    zb__encoded bytes;
    const zb__chain_change *change; /* to the array's chain */
    const uint64_t *place;          /* in the grid of innermost chunks */
} zb__given;

/* A chunk to encode and put. Its inner chunks come from the caller's memory or from a buffered
   chunk, or are encoded already. */
typedef struct zb__job {
    const uint64_t *index;          /* in the array's grid */
    const zb__write_layout *layout; /* of the chunk; the caller's, or that of the buffered chunk */
    zb__piece *piece; /* covers the chunk: stored dimensions, the chunk's coordinates */
    const zb__buffered_chunk *buffered; /* when piece is NULL: complete except for the inner chunks
                                           in `reused` */
    const zb__encoded *reused; /* [inner_chunks] taken over from the stored object, or NULL */
    const zb__given *given;    /* [inner_chunks]; then there is neither piece nor buffered */
    zb_lock *lock;             /* held by the caller; NULL: taken around the put */
    const zb__live *live;      /* the stored object is to be changed instead, or NULL */
    bool stored;               /* result: the chunk was put */
} zb__job;

/* Encodes all inner chunks of all jobs in parallel and puts each object. is_reserved: the caller
   has reserved memory for their encoded inner chunks (zb__work_begin); else the calling thread may
   have to wait for some, and must hold no lock. */
enum zb_code zb__jobs_run(zb_writer *writer, zb__job *jobs, size_t count, bool is_reserved,
                          zb_error *err);

/* True for a chunk that is whole only because the array ends in it, in a store where another
   program may make the array longer and write the rest while this one holds the lock. */
bool zb__chunk_is_open_edge(const zb_writer *writer, const zb__write_layout *layout,
                            const uint64_t *index);

/* ---- Gathering parts of chunks (write_buffer.c). */

/* Adds a piece (stored dimensions, the chunk's coordinates) to the chunk at this index of the grid.
   part: a scratch piece. */
enum zb_code zb__write_buffer_add(zb_writer *writer, const uint64_t *index, zb__piece *piece,
                                  zb__piece *part, zb__buffered_chunk **out, zb_error *err);

/* Forgets a buffered chunk, because it was stored or is about to be overwritten whole. */
void zb__buffered_chunk_drop(zb_writer *writer, zb__buffered_chunk *chunk);

zb__buffered_chunk *zb__buffered_chunk_find(const zb_writer *writer, const uint64_t *index);

/* Makes the bits of `written` for an inner chunk that has elements. */
void zb__inner_need_bits(const zb__write_layout *layout, zb__buffered_inner *inner);

/* The bytes that gathering this piece will add to those that wait, if these are more than `most`;
   else any number up to `most`. layout: of the chunk. `text`: the bytes that the piece's elements
   point at. */
uint64_t zb__write_buffer_bytes(const zb_writer *writer, const zb__write_layout *layout,
                                const uint64_t *index, zb__piece *piece, uint64_t text,
                                uint64_t most);

/* The number of the inner chunk in its chunk that a walk over a piece's inner chunks is at. */
uint64_t zb__inner_number(const zb__write_layout *layout, const zb__cells *cells);

/* Counts what the chunk's values hold by now, after something was read into them. */
void zb__buffered_chunk_count(zb__buffered_chunk *chunk);

/* Gives back the memory that is kept for the next buffered chunks. */
void zb__spare_free(zb_writer *writer);

/* ---- Storing buffered chunks (merge.c). */

/* Sorts the list of buffered chunks, stores them, and drops those that it could store. Incomplete
   ones are merged with the stored objects under their locks. The first error is returned. */
enum zb_code zb__merge(zb_writer *writer, zb__buffered_chunk **chunks, size_t count, zb_error *err);

/* ---- The chunks that a writer may put (allowed.c). */

/* True if a part of the chunk lies outside the array. */
bool zb__chunk_is_cut(const zb__write_layout *layout, const uint64_t *index);

/* The check of a writer's batch, which is the context: ZB_ECONFLICT when the array is gone, another
   one has taken its place, or the chunk is not as far inside it as the writer believes. Any
   thread. */
enum zb_code zb__chunk_allowed(void *context, const char *key, zb_error *err);

/* ---- Reading encoded inner chunks of a stored shard, to store them again as they are
   (reused_inner.c). */

/* Inner chunks of a stored shard. All zeros: none. */
typedef struct zb__reused_inner {
    zb__stored_chunk key;
    zb__index index;
    zb__encoded *reused; /* [inner_chunks]; size 0: nothing to take over */
    uint8_t *bytes;      /* of kept */
    uint64_t size;       /* of bytes */
    uint8_t *fill;       /* an encoded inner chunk that is all fill, see take_fill */
} zb__reused_inner;

/* Opens the stored shard and takes over those of its inner chunks that are not in the buffered
   chunk. Called under the shard's lock; zb__reused_inner_free in any case. */
enum zb_code zb__reused_inner_read(const zb_writer *writer, const zb__buffered_chunk *chunk,
                                   zb__reused_inner *t, zb_error *err);
void zb__reused_inner_free(zb__reused_inner *t);

#endif
