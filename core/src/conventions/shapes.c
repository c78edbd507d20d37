/* SPDX-License-Identifier: MIT */
/*
 * Chunk and shard shapes for arrays whose creator chose none.
 *
 * A chunk is the least that a reader decodes. 512 x 512 elements serve both a viewer's windows and
 * whole reads, whatever the type. Where the roles of the dimensions are not known, about 1 MiB is
 * small enough for a window, and large enough to compress and to decode in one task. Shards keep
 * the number of files low where it would matter, and are small enough to be gathered in memory
 * several at a time; small arrays stay without, since a chunk of its own can be written without
 * reading its neighbours. Shards of planes are longer along rows: most programs make rasters row by
 * row, and what they gather at once is a row of shards.
 */
#include "util/checked.h"
#include "zarrbridge/conventions.h"

#define CHUNK_BYTES (UINT64_C(1) << 20)
#define WINDOW_EDGE UINT64_C(512)
#define WINDOW_ELEMENTS (WINDOW_EDGE * WINDOW_EDGE)
#define WINDOW_BYTES (UINT64_C(16) << 20) /* with all samples */
#define SMALLEST_EDGE UINT64_C(64)        /* of a window that would be larger than that */
#define SHARD_BYTES (UINT64_C(32) << 20)  /* at least; less than twice that */
#define SHARDED_ABOVE (UINT64_C(256) << 20)
#define ROW_CHUNKS 8 /* at most, for each along columns of a plane's shard */

/* Saturates. */
static uint64_t bytes_of(uint32_t ndim, const uint64_t *shape, uint32_t element_size) {
    uint64_t bytes;
    return zb__product_u64(shape, ndim, element_size, &bytes) ? bytes : UINT64_MAX;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* ---- Chunks ---- */

/* The largest power of two that is not above the value, which is not 0. */
static uint64_t power_below(uint64_t value) {
    uint64_t power = 1;
    while (power <= value / 2)
        power *= 2;
    return power;
}

/* A narrow plane gets a longer window, so that none is so small that its overhead counts. */
static void cut_plane(uint64_t height, uint64_t width, uint64_t *y, uint64_t *x) {
    *x = least(width, WINDOW_EDGE);
    *y = least(height, WINDOW_EDGE);
    if (*y < WINDOW_EDGE)
        *x = least(width, power_below(WINDOW_ELEMENTS / *y));
    else if (*x < WINDOW_EDGE)
        *y = least(height, power_below(WINDOW_ELEMENTS / *x));
}

static void cut_windows(uint32_t ndim, uint32_t element_size, const enum zb_role *roles,
                        uint32_t row, uint32_t column, uint64_t *chunk) {
    cut_plane(chunk[row], chunk[column], &chunk[row], &chunk[column]);
    for (uint32_t d = 0; d < ndim; d++)
        if (roles[d] == ZB_ROLE_SERIES)
            chunk[d] = 1;
    while (bytes_of(ndim, chunk, element_size) > WINDOW_BYTES &&
           (chunk[row] > SMALLEST_EDGE || chunk[column] > SMALLEST_EDGE)) {
        const uint32_t longer = chunk[column] > chunk[row] ? column : row;
        chunk[longer] -= chunk[longer] / 2;
    }
}

/* Halves the longest side until it fits: the chunk gets about the same length everywhere. */
static void cut_evenly(uint32_t ndim, uint32_t element_size, uint64_t *chunk) {
    while (bytes_of(ndim, chunk, element_size) > CHUNK_BYTES) {
        uint32_t longest = 0;
        for (uint32_t d = 1; d < ndim; d++)
            if (chunk[d] > chunk[longest])
                longest = d;
        if (ndim == 0 || chunk[longest] == 1)
            return;
        chunk[longest] -= chunk[longest] / 2;
    }
}

void zb_default_chunk(uint32_t ndim, const uint64_t *shape, uint32_t element_size,
                      const enum zb_role *roles, uint64_t *chunk) {
    uint32_t planes = 0, plane[2];
    for (uint32_t d = 0; d < ndim; d++) {
        chunk[d] = shape[d] > 0 ? shape[d] : 1;
        if (roles && roles[d] == ZB_ROLE_PLANE && planes < 2)
            plane[planes++] = d;
    }
    if (planes == 2)
        cut_windows(ndim, element_size, roles, plane[0], plane[1], chunk);
    else
        cut_evenly(ndim, element_size, chunk);
}

/* ---- Shards ---- */

typedef struct growth {
    uint32_t ndim;
    const uint64_t *shape;
    const enum zb_role *roles;
    uint64_t *shard;
    uint64_t times[ZB_MAX_NDIM]; /* the shard in chunks */
} growth;

static bool is_plane(const growth *g, uint32_t d) {
    return g->roles && g->roles[d] == ZB_ROLE_PLANE;
}

/* True if dimension d grows before `other`, which comes before it. Planes grow first, along rows
   until these have eight times as many chunks as columns; then the dimension that has the fewest
   chunks, then the last one, along which elements are neighbours in memory. */
static bool grows_before(const growth *g, uint32_t d, uint32_t other) {
    if (is_plane(g, d) != is_plane(g, other))
        return is_plane(g, d);
    return g->times[d] < (is_plane(g, d) ? ROW_CHUNKS : 2) * g->times[other];
}

static bool grow(growth *g) {
    uint32_t next = g->ndim;
    for (uint32_t d = 0; d < g->ndim; d++)
        if (g->shard[d] < g->shape[d] && (next == g->ndim || grows_before(g, d, next)))
            next = d;
    if (next == g->ndim)
        return false;
    g->times[next] *= 2;
    g->shard[next] *= 2;
    return true;
}

bool zb_default_shard(uint32_t ndim, const uint64_t *shape, uint32_t element_size,
                      const enum zb_role *roles, const uint64_t *chunk, uint64_t *shard) {
    growth g = {.ndim = ndim, .shape = shape, .roles = roles, .shard = shard};
    bool grown = false;
    if (bytes_of(ndim, shape, element_size) <= SHARDED_ABOVE)
        return false;
    for (uint32_t d = 0; d < ndim; d++) {
        g.times[d] = 1;
        shard[d] = chunk[d];
    }
    while (bytes_of(ndim, shard, element_size) < SHARD_BYTES && grow(&g))
        grown = true;
    return grown;
}
