/* SPDX-License-Identifier: MIT */
/*
 * The chunks (with shards, the shards) that the ranks of a collective H5Dwrite write, and which
 * rank stores each: a calculation that comes to the same on all ranks, from what all know. No store
 * is asked, and nothing is said to others.
 *
 * A chunk has one *owner* where several ranks have elements in it and all of them together cover
 * it: that rank gets the others' elements, and encodes it once. It is one of those that write in
 * the chunk, the one that has got the fewest elements so far. Any other chunk has none: either one
 * rank alone writes in it, or it stays incomplete, and its parts wait with the ranks that have
 * written them.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_EXCHANGE_SHARED_CHUNKS_H
#define ZARRBRIDGE_HDF5_VOL_EXCHANGE_SHARED_CHUNKS_H

#include "zarrbridge/node.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VOL_SHARED_NDIM 8 /* most dimensions: each rank sends the others its box */

/* What one rank writes: a box with steps. */
typedef struct vol_box {
    bool is_empty;
    uint64_t start[VOL_SHARED_NDIM], count[VOL_SHARED_NDIM], step[VOL_SHARED_NDIM];
} vol_box;

typedef struct vol_shared {
    const zb_node *array;
    uint32_t ndim;
    size_t ranks;
    vol_box *boxes;  /* [ranks] */
    uint64_t *given; /* [ranks]: elements of the chunks that each owns, so far */
    uint64_t most;   /* a chunk of more elements has no owner */
    uint64_t low[VOL_SHARED_NDIM], high[VOL_SHARED_NDIM]; /* the grid's part; high is not in it */
    bool ended;
    /* The chunk at which a walk is. */
    uint64_t index[VOL_SHARED_NDIM];
    zb_chunk_span span[VOL_SHARED_NDIM];
    uint64_t *elements; /* [ranks]: that each writes in it */
    size_t owner;       /* VOL_SHARED_NOBODY, or a rank */
} vol_shared;

#define VOL_SHARED_NOBODY SIZE_MAX

/* Memory for so many ranks; false: there is none. Freed with the second, also after a failure. */
bool vol_shared_make(vol_shared *shared, size_t ranks);
void vol_shared_free(vol_shared *shared);

/* With the boxes in place, which lie in the array: goes to the first chunk of a walk in the order
   of the grid, and to the next. False at the end. Chunks in which nobody writes are passed over. A
   walk that would take long (many chunks for many ranks) has none. */
bool vol_shared_first(vol_shared *shared, const zb_node *array, uint64_t most);
bool vol_shared_next(vol_shared *shared);

/* Goes to a chunk that a walk has passed. Its owner is not told again. */
void vol_shared_at(vol_shared *shared, const uint64_t *index);

/* The part of a rank's box in the chunk: `first` and `count` of its elements along each
   dimension. */
void vol_shared_part(const vol_shared *shared, size_t rank, uint64_t *first, uint64_t *count);

#endif
