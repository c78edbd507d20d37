/* SPDX-License-Identifier: MIT */
/*
 * Normal form: boxes come with any order of dimensions and any strides, but most of them describe
 * something simple. Turning descending dimensions round, sorting by destination stride and merging
 * neighbours leaves one to three loops in practice, and makes a Fortran-ordered copy of a
 * Fortran-ordered chunk the same thing as its C-ordered twin.
 *
 * Order of the walk: normally the innermost dimension is one run, and the others count like an
 * odometer. Two cases are bad for that:
 * - a transpose: the destination's inner dimension jumps from line to line at the source, and each
 *   line would be fetched once for every element in it;
 * - a very short inner dimension: the call would cost more than its elements.
 * Both are walked in tiles over two dimensions, small enough that both sides of a tile stay in the
 * first-level cache, with the runs along the tile's longer edge.
 */
#include "types/loops.h"

/* Edge of a tile in elements; a tile holds at most its square. */
#define TILE 32
/* Elements of this many bytes make good use of the cache lines that they touch in any order. */
#define LONG_ELEMENT 64
/* Inner dimensions shorter than this are not worth a call each. */
#define SHORT_RUN 8

bool zb__loops_init(zb__loops *loops, uint32_t ndim, const uint64_t *count,
                    const int64_t *src_strides, const int64_t *dst_strides) {
    loops->ndim = 0;
    loops->src_offset = loops->dst_offset = 0;
    for (uint32_t d = 0; d < ndim; d++) {
        if (count[d] == 0)
            return false;
        if (count[d] == 1)
            continue;
        int64_t src = src_strides != NULL ? src_strides[d] : 0, dst = dst_strides[d];
        if (dst < 0) {
            loops->src_offset += src * (int64_t)(count[d] - 1);
            loops->dst_offset += dst * (int64_t)(count[d] - 1);
            src = -src;
            dst = -dst;
        }
        /* Insertion sort: there are few dimensions, and most come sorted. */
        uint32_t at = loops->ndim++;
        for (; at > 0 && loops->dst[at - 1] < dst; at--) {
            loops->count[at] = loops->count[at - 1];
            loops->src[at] = loops->src[at - 1];
            loops->dst[at] = loops->dst[at - 1];
        }
        loops->count[at] = count[d];
        loops->src[at] = src;
        loops->dst[at] = dst;
    }

    uint32_t kept = 0; /* dimensions [0, kept) are done; the last of them may still grow */
    for (uint32_t d = 0; d < loops->ndim; d++) {
        int64_t n = (int64_t)loops->count[d];
        if (kept > 0 && loops->src[kept - 1] == loops->src[d] * n &&
            loops->dst[kept - 1] == loops->dst[d] * n) {
            loops->count[kept - 1] *= loops->count[d];
            kept--;
        } else {
            loops->count[kept] = loops->count[d];
        }
        loops->src[kept] = loops->src[d];
        loops->dst[kept] = loops->dst[d];
        kept++;
    }
    loops->ndim = kept;
    return true;
}

void zb__loops_remove(zb__loops *loops, uint32_t d) {
    for (loops->ndim--; d < loops->ndim; d++) {
        loops->count[d] = loops->count[d + 1];
        loops->src[d] = loops->src[d + 1];
        loops->dst[d] = loops->dst[d + 1];
    }
}

/* Two dimensions a and b of the loops, walked in tiles. */
static void run_tiles(const zb__loops *loops, uint32_t a, uint32_t b, const zb__move *move,
                      const char *src, char *dst) {
    const uint64_t na = loops->count[a], nb = loops->count[b];
    const int64_t src_a = loops->src[a], dst_a = loops->dst[a];
    const int64_t src_b = loops->src[b], dst_b = loops->dst[b];
    /* A short edge lets the other be longer. */
    const uint64_t tile_a = na < TILE ? na : nb < TILE ? TILE * TILE / nb : TILE;
    const uint64_t tile_b = na < TILE ? TILE * TILE / na : TILE;

    for (uint64_t b0 = 0; b0 < nb; b0 += tile_b) {
        const uint64_t length_b = nb - b0 < tile_b ? nb - b0 : tile_b;
        for (uint64_t a0 = 0; a0 < na; a0 += tile_a) {
            const uint64_t length_a = na - a0 < tile_a ? na - a0 : tile_a;
            const char *s = src + (int64_t)a0 * src_a + (int64_t)b0 * src_b;
            char *d = dst + (int64_t)a0 * dst_a + (int64_t)b0 * dst_b;
            if (length_a >= length_b) {
                for (uint64_t i = 0; i < length_b; i++)
                    move->run(move, s + (int64_t)i * src_b, src_a, d + (int64_t)i * dst_b, dst_a,
                              length_a);
            } else {
                for (uint64_t i = 0; i < length_a; i++)
                    move->run(move, s + (int64_t)i * src_a, src_b, d + (int64_t)i * dst_a, dst_b,
                              length_b);
            }
        }
    }
}

static uint64_t magnitude(int64_t stride) {
    return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

/* The dimension to be tiled together with the innermost, or ndim when a plain walk is better. */
static uint32_t tile_partner(const zb__loops *loops, size_t element_size) {
    if (loops->ndim < 2 || element_size >= LONG_ELEMENT)
        return loops->ndim;
    const uint32_t inner = loops->ndim - 1;
    uint32_t best = inner; /* the source's own inner dimension */
    for (uint32_t d = 0; d < inner; d++) {
        if (magnitude(loops->src[d]) < magnitude(loops->src[best]))
            best = d;
    }
    if (best != inner)
        return best;
    return loops->count[inner] < SHORT_RUN ? inner - 1 : loops->ndim;
}

bool zb__loops_tiled(const zb__loops *loops, size_t element_size) {
    return tile_partner(loops, element_size) < loops->ndim;
}

/* One step of an odometer over the dimensions that are neither inner nor partner; false at its end.
   Pointers go back to the start of a dimension when its digit wraps, so nothing is multiplied on
   the way. */
static inline bool step(const zb__loops *loops, uint32_t partner, uint64_t *digit, const char **src,
                        char **dst) {
    for (uint32_t d = loops->ndim - 1; d-- > 0;) {
        if (d == partner)
            continue;
        if (++digit[d] < loops->count[d]) {
            *src += loops->src[d];
            *dst += loops->dst[d];
            return true;
        }
        digit[d] = 0;
        *src -= loops->src[d] * (int64_t)(loops->count[d] - 1);
        *dst -= loops->dst[d] * (int64_t)(loops->count[d] - 1);
    }
    return false;
}

void zb__loops_run(const zb__loops *loops, const zb__move *move, const char *src, char *dst) {
    src += loops->src_offset;
    dst += loops->dst_offset;
    if (loops->ndim == 0) {
        move->run(move, src, (int64_t)move->src_size, dst, (int64_t)move->size, 1);
        return;
    }
    const uint32_t inner = loops->ndim - 1;
    /* A split goes along its pixels, and along nothing else. */
    const uint32_t partner = move->bands > 0 ? loops->ndim : tile_partner(loops, move->size);
    const size_t row = (size_t)loops->count[inner] * move->size;
    const bool prefetch = inner > 0 && !move->streams && loops->dst[inner] == (int64_t)move->size;
    uint64_t digit[ZB_MAX_NDIM] = {0};
    do {
        if (partner < inner) {
            run_tiles(loops, inner, partner, move, src, dst);
        } else {
            if (prefetch && loops->count[inner - 1] - digit[inner - 1] > ZB__ROWS_AHEAD)
                zb__prefetch_row(dst + ZB__ROWS_AHEAD * loops->dst[inner - 1], row);
            move->run(move, src, loops->src[inner], dst, loops->dst[inner], loops->count[inner]);
        }
    } while (step(loops, partner, digit, &src, &dst));
}
