/* SPDX-License-Identifier: MIT */
/* The in-memory model of an array's metadata. Immutable after open. */
#ifndef ZB_MODEL_ARRAY_H
#define ZB_MODEL_ARRAY_H

#include "codec/form.h"
#include "model/keys.h"
#include "zarrbridge/array.h"

typedef struct zb__array {
    zb_array_info info;
    zb__key_encoding keys;
    zb__chain *chain;
    const zb__form *form; /* of each of its chunks */
    uint64_t cache_id;    /* equal only for equal store, path and document: part of cache keys */
} zb__array;

/* Chunks of one extent that an array of another one has, the last of them maybe in part. Rounded up
   without adding first, which could overflow. */
static inline uint64_t zb__chunks_along(uint64_t extent, uint64_t chunk) {
    return extent / chunk + (extent % chunk != 0);
}

/* Chunks of the grid along each dimension: grid[ndim]; 0 where the extent is 0. */
void zb__array_grid(const zb__array *array, uint64_t *grid);

/* Parses a zarr.json of kind array into a model. `document` must outlive it. */
enum zb_code zb__array_parse(const zb_json *document, zb__array **out, zb_error *err);
void zb__array_free(zb__array *array); /* NULL is allowed */

#endif
