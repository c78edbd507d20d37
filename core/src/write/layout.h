/* SPDX-License-Identifier: MIT */
/* The units of chunks, and the copying between pieces and units. */
#ifndef ZB_WRITE_LAYOUT_H
#define ZB_WRITE_LAYOUT_H

#include "base/scratch.h"
#include "codec/form.h"
#include "model/array.h"
#include "read/piece.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/error.h"
#include "zarrbridge/write.h"

/* The layout of a chunk in units. All in the stored dimensions of the array's chain. */
typedef struct zb__layout {
    uint32_t ndim;
    const zb__chain *outer;      /* of the chunk */
    const zb__form *unit;        /* of one unit: of the chunk when it is its only one */
    const zb__shard *shard;      /* NULL when the chunk is its only unit */
    const zb__grid *grid;        /* the array's own, in its own dimensions */
    uint64_t shape[ZB_MAX_NDIM]; /* of the array */
    uint64_t unit_shape[ZB_MAX_NDIM];
    uint64_t unit_grid[ZB_MAX_NDIM]; /* units per chunk along each dimension */
    uint64_t units;                  /* per chunk */
    uint64_t strides[ZB_MAX_NDIM];   /* of a unit's elements in memory, counted in elements */
    size_t unit_bytes;               /* decoded */
    size_t unit_bound;               /* encoded, at most; of variable length: what budgets go by */
    bool fixed;    /* a unit's encoding has one possible size, and a checksum: ZB_INPLACE */
    uint8_t *fill; /* one element in stored byte order */
} zb__layout;

/* The chunk at an index of the array's grid, along stored dimension d. */
static inline zb__span zb__chunk_span(const zb__layout *layout, uint32_t d, const uint64_t *index) {
    uint32_t array_dim = layout->outer->axis[d];
    return zb__grid_at(layout->grid, array_dim, index[array_dim]);
}

/* The unit of a number, along stored dimension d: begin with the last one. *rest is the number at
   first. All in the chunk's coordinates; `index` in the chunk's grid of units. */
static inline zb__span zb__unit_span(const zb__layout *layout, uint32_t d, uint64_t *rest) {
    uint64_t index = *rest % layout->unit_grid[d], extent = layout->unit_shape[d];
    *rest /= layout->unit_grid[d];
    return (zb__span){.index = index, .start = index * extent, .extent = extent};
}

/* Of the array's largest chunk. The caller frees layout->fill. */
enum zb_code zb__layout_init(zb__layout *layout, const zb__array *array, zb_error *err);

/* Sets all that follows from the form of the chunk. */
enum zb_code zb__layout_shape(zb__layout *layout, const zb__form *chunk, zb_error *err);

/* The elements of a chunk's unit that lie inside the array: count[d] from the unit's start. Returns
   their number. origin: the chunk's first element in the array. */
uint64_t zb__unit_inside(const zb__layout *layout, const uint64_t *origin, uint64_t unit,
                         uint64_t *count);

/* Copies a piece (in the coordinates of a unit) from its memory to the unit's elements. */
void zb__unit_put(const zb__layout *layout, zb__piece *piece, uint8_t *elements);

/* The same for elements of variable length, whose bytes are copied into `values`. */
enum zb_code zb__unit_keep(const zb__layout *layout, zb__piece *piece, uint8_t *elements,
                           zb_values *values, zb_error *err);

/* The bytes that a piece's elements point at: 0 for numbers. ZB_EINVAL for what they must not. */
enum zb_code zb__piece_measure(const zb__layout *layout, zb__piece *piece, uint64_t *bytes,
                               zb_error *err);

/* Are a piece's elements what the array takes: text that is UTF-8 and not too long? ZB_EINVAL with
   the first that is not. */
enum zb_code zb__piece_check(const zb__layout *layout, zb__piece *piece, zb_error *err);

/* Sets all elements of a unit to the fill value, which points at bytes of the array's. */
void zb__unit_fill(const zb__layout *layout, uint8_t *elements);

/* Encodes a unit of fill values. *out is malloc'ed, and the caller's. Uses the scratch's `decoded`,
   too. */
enum zb_code zb__unit_encode_fill(const zb__layout *layout, zb__scratch *scratch, uint8_t **out,
                                  size_t *size, zb_error *err);

/* True if no codec changes a unit's elements, so that elements that lie together need not be
   copied. */
static inline bool zb__is_plain(const zb__layout *layout) {
    return layout->unit->chain->is_raw;
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
enum zb_code zb__chunk_layout_take(zb_writer *writer, const uint64_t *index, const zb__layout **out,
                                   zb_error *err);
void zb__chunk_layout_give(zb_writer *writer, const zb__layout *layout); /* NULL is allowed */

/* Frees those that are kept for later; none is in use. */
void zb__chunk_layouts_free(zb_writer *writer);

/* Refuses arrays that this library can only read (ZB_EUNSUPPORTED). */
enum zb_code zb__array_check_writable(const zb__array *array, zb_error *err);

#endif
