/* SPDX-License-Identifier: MIT */
/* Encoded chunks as the store has them, and chains of codecs over arrays (zarrbridge/encoded.h). */
#ifndef ZB_READ_ENCODED_H
#define ZB_READ_ENCODED_H

#include <stdatomic.h>

#include "codec/chain.h"
#include "codec/chunk_layout.h"
#include "zarrbridge/encoded.h"
#include "zarrbridge/sys/store.h"

struct zb_chain {
    zb_node *node;                  /* of an array, which has the layout; or NULL */
    zb__pipeline *own;              /* else */
    const zb__chunk_layout *layout; /* of an innermost chunk */
};

/* Whether the array's edge cuts an innermost chunk, and where. The edge borrows from the node. */
bool zb__encoded_is_cut(const zb_node *array, const uint64_t *inner_index, zb__chain_edge *edge);

/* Encoded chunks in the order of their places. */
typedef struct zb__placed {
    uint64_t index[ZB_MAX_NDIM]; /* of the chunk or shard */
    uint64_t number;             /* in it */
    size_t at;                   /* in the caller's list */
} zb__placed;

/* *out is malloc'ed, [count], and the caller's after an error, too. ZB_EINVAL for chunks outside
   the grid, and those that are given twice. */
enum zb_code zb__encoded_sort(const zb_node *array, const zb_encoded *chunks, size_t count,
                              zb__placed **out, zb_error *err);

/* The end of the run of places in one chunk or shard that begins at `first`. */
size_t zb__placed_end(const zb__placed *placed, size_t first, size_t count, uint32_t ndim);

/* An encoded inner chunk; size 0: all fill, not stored. */
typedef struct zb__encoded {
    const uint8_t *data;
    size_t size;
} zb__encoded;

/* Memory that reads take one after the other, so that its pages are touched once. What finds no
   place there gets memory of its own. */
typedef struct zb__encoded_room {
    uint8_t *bytes;
    size_t capacity;
    atomic_size_t used;
} zb__encoded_room;

/* zb_array_get_encoded without a chain, into the room, which may be NULL. The caller sets its
   `used` to 0 when what was read there has been used. */
enum zb_code zb__encoded_read(const zb_node *array, zb_encoded *chunks, size_t count,
                              zb__encoded_room *room, zb_error *err);

/* Reads those of the inner_chunks[0..count) that have a size, which is that of their index entry,
   one after the other into bytes[0..their sum), and sets their data. Inner chunks that lie together
   in the shard are asked for together. The caller has checked the entries
   (zb__inner_chunk_check). */
enum zb_code zb__inner_chunks_read(zb_object *object, const uint64_t *entries,
                                   zb__encoded *inner_chunks, uint64_t count, uint8_t *bytes,
                                   zb_error *err);

#endif
