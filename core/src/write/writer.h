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
#ifndef ZB_WRITE_WRITER_H
#define ZB_WRITE_WRITER_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "base/slab.h"
#include "write/layout.h"
#include "write/unit_blocks.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/values.h"
#include "zarrbridge/write.h"

typedef struct zb__open_unit {
    uint8_t *elements; /* unit_bytes, or NULL while nothing of it is written */
    zb_values *values; /* the bytes that elements of variable length point at; NULL for numbers.
                          What is written again leaves its old bytes here */
    uint64_t *written; /* a bit for each element, in their order; behind them. NULL as long as the
                          first `in_order` elements are written, and no others */
    uint64_t in_order;
    uint64_t missing; /* elements inside the array that are not written yet */
} zb__open_unit;

typedef struct zb__open_chunk {
    zb__map_link link;                    /* by its index */
    struct zb__open_chunk *newer, *older; /* in the order of last use */
    uint64_t index[ZB_MAX_NDIM];          /* in the array's grid, the array's dimension order */
    uint64_t origin[ZB_MAX_NDIM];         /* its first element, in stored dimensions */
    uint64_t missing;                     /* of all units */
    uint64_t bytes;                       /* of memory, without its units' elements */
    uint64_t unit_bytes;                  /* of memory, of its units' elements alone */
    uint64_t value_bytes;     /* of memory, of its units' values; counted in `bytes`, too */
    const zb__layout *layout; /* of this chunk (layout.h) */
    zb__open_unit *units;     /* [layout->units] */
} zb__open_chunk;

struct zb_writer {
    /* The array. All three are owned, and the same one until it grows (grow.c). */
    zb_node *node;  /* as it is now; replaced under document_lock */
    zb_node *known; /* as the caller knows it */
    zb_node *first; /* as it was at first: the layout, and fill values that wait, point into it */
    zb_write_options options;
    zb__layout layout;                /* of the largest chunk */
    struct zb__shaped_layout *shaped; /* those of chunks of other shapes (layout.h) */
    zb__block_pool blocks;            /* for encoded units; guarded by the run that encodes */
    zb__open_chunk *newest, *oldest;
    zb__slabs slabs;                 /* memory of open units */
    struct zb__spare *spare;         /* memory of units that are no longer open: idle memory */
    zb__map open;                    /* chunks by their index */
    zb_batch batch;                  /* of the objects that are put */
    pthread_mutex_t document_lock;   /* guards the two below, and `node` from other threads */
    zb_validator document;           /* version of the array's document that was last looked at */
    uint64_t shape_now[ZB_MAX_NDIM]; /* the array's shape in it */
    atomic_bool waits;               /* the store has objects of ours that wait for its flush */
    bool lost; /* objects of ours could not be made durable, and are forgotten */
};

/* Opens a writer without the check of allowed.h, as durable as documents are: for a caller that
   holds the hierarchy's lock and reaches beyond the array's shape. Where that lock keeps no other
   program out, the array's document has to stand. */
enum zb_code zb__writer_open_unchecked(const zb_node *node, zb_writer **out, zb_error *err);

/* After a call that has failed: true where another program has changed the array's shape and the
   writer now goes on with that one, so that the call may be made again. grow.c. */
bool zb__writer_follows(zb_writer *writer, enum zb_code code);

/* The error of a writer whose flush has lost something. */
enum zb_code zb__fail_lost(const zb_writer *writer, zb_error *err);

#endif
