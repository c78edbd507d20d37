/* SPDX-License-Identifier: MIT */
/* The in-memory model of an array's metadata. Immutable after open. */
#ifndef ZB_ARRAY_ARRAY_H
#define ZB_ARRAY_ARRAY_H

#include "array/grid.h"
#include "array/keys.h"
#include "codec/chunk_layout.h"
#include "zarrbridge/array.h"
#include "zarrbridge/json.h"

typedef struct zb__array {
    zb_array_info info;
    zb__grid grid;         /* of the chunks or shards that keys hold */
    zb__grid inner;        /* of the innermost chunks; equal to `grid` when there are no shards */
    uint32_t inner_depth;  /* levels of shards above `inner`: all, but where inner chunks do not
                              divide their shard, the levels above that shard */
    bool is_cut;           /* there is such a shard: the array is only read */
    uint64_t *chunk_count; /* [ndim] chunks of `grid` that reach into the array */
    zb__key_encoding keys;
    zb__pipeline *pipeline;
    const zb__chunk_layout *layout; /* of its largest chunk; of each one, see zb__array_chunk_layout
                                       */
    uint64_t cache_id;              /* part of cache keys, see node/cache_id.h */
} zb__array;

/* Parses a zarr.json of kind array into a model. `document` must outlive it. */
enum zb_code zb__array_parse(const zb_json *document, zb__array **out, zb_error *err);
void zb__array_free(zb__array *array); /* NULL is allowed */

/* The number of chunks of the grid in the array; UINT64_MAX for more than a number holds. */
uint64_t zb__array_count_chunks(const zb__array *array);

/* Moves the index on to the next of them in C order, from that of the first one, all zeros; behind
   the last one to the first one again. */
void zb__array_next_chunk(const zb__array *array, uint64_t *index);

/* The layout of one chunk of an array: the same for all chunks of a regular grid, by its shape in a
   grid of several extents. */

enum zb_code zb__uneven_chunk_layout(const zb__array *array, const uint64_t *index,
                                     const zb__chunk_layout **out, zb_error *err);

/* The layout of the chunk at an index of the array's grid, to be given back by
   zb__array_chunk_layout_end while the array is there. ZB_EINVAL for a chunk that the grid does not
   have. Any thread. */
static inline enum zb_code zb__array_chunk_layout(const zb__array *array, const uint64_t *index,
                                                  const zb__chunk_layout **out, zb_error *err) {
    *out = array->layout;
    return __builtin_expect(array->grid.runs != NULL, 0)
               ? zb__uneven_chunk_layout(array, index, out, err)
               : ZB_OK;
}

/* NULL is allowed. */
static inline void zb__array_chunk_layout_end(const zb__array *array,
                                              const zb__chunk_layout *layout) {
    if (layout != array->layout)
        zb__chunk_layout_release(layout);
}

/* Refuses shapes of shards that the codecs do not take. All chunks that the document names count,
   also those behind the array's edge. */
enum zb_code zb__array_chunk_layouts_check(const zb__array *array, zb_error *err);

#endif
