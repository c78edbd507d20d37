/* SPDX-License-Identifier: MIT */
/*
 * The choice of the move that suits a box. A box in normal form is walked by the nest of loops;
 * here the element is chosen:
 *
 * - Elements that keep their bytes have no type: where the inner dimension is contiguous on both
 *   sides, the whole run becomes one long element. A run of 2 to 16 bytes is then moved like a
 *   number, a longer one by memcpy or by non-temporal stores.
 * - Byte swaps and conversions work on runs as they are.
 *
 * Non-temporal stores go past the caches: for a destination much larger than these, fetching its
 * lines first is wasted, and evicts data that decoding needs. They pay for runs of whole lines
 * only. A swap or a conversion reaches them through a stage on the stack.
 */
#include "types/scatter.h"

#include <string.h>

#include "types/move.h"

/* ---- The nest of loops -------------------------------------------------------------------- */

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

/* Outermost dimension first. All counts are at least 2, strides are bytes. */
typedef struct nest {
    uint32_t ndim;
    uint64_t count[ZB_MAX_NDIM];
    int64_t src[ZB_MAX_NDIM], dst[ZB_MAX_NDIM];
    int64_t src_offset, dst_offset; /* where the first element lies, from the caller's pointers */
} nest;

/* Edge of a tile in elements; a tile holds at most its square. */
#define TILE 32
/* Elements of this many bytes make good use of the cache lines that they touch in any order. */
#define LONG_ELEMENT 64
/* Inner dimensions shorter than this are not worth a call each. */
#define SHORT_RUN 8

/* Brings a box into normal form: no dimension of count 1, destination strides not negative and
   descending, neighbours merged where both sides allow it. src_strides may be NULL: all zero.
   False when the box is empty. */
static bool loops_init(nest *loops, uint32_t ndim, const uint64_t *count,
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

/* Takes a dimension out of the loops, which then go through its first index only. */
static void loops_remove(nest *loops, uint32_t d) {
    for (loops->ndim--; d < loops->ndim; d++) {
        loops->count[d] = loops->count[d + 1];
        loops->src[d] = loops->src[d + 1];
        loops->dst[d] = loops->dst[d + 1];
    }
}

/* Two dimensions a and b of the loops, walked in tiles. */
static void run_tiles(const nest *loops, uint32_t a, uint32_t b, const zb__move *move,
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
static uint32_t tile_partner(const nest *loops, size_t element_size) {
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

/* True if a box of elements of that size will be walked in tiles, that is by short pieces of
   rows. */
static bool loops_tiled(const nest *loops, size_t element_size) {
    return tile_partner(loops, element_size) < loops->ndim;
}

/* One step of an odometer over the dimensions that are neither inner nor partner; false at its end.
   Pointers go back to the start of a dimension when its digit wraps, so nothing is multiplied on
   the way. */
static inline bool step(const nest *loops, uint32_t partner, uint64_t *digit, const char **src,
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

/* Calls the move for all elements of the box. */
static void loops_run(const nest *loops, const zb__move *move, const char *src, char *dst) {
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

/* ---- The kernel --------------------------------------------------------------------------- */

/* Bytes from which rows that are not made of whole lines are worth non-temporal stores. */
#define RAGGED_STREAM_MIN 2048
/* Bytes of the buffers on the stack through which runs are staged or filled; must stay well inside
   the first-level cache. */
#define STAGE 4096

/* The number of whole elements that fit `limit` bytes, less those that would end past a line: a
   first piece that ends on a line makes all later ones whole lines, when elements are aligned. */
static size_t piece_elements(const char *dst, size_t limit, size_t size) {
    const size_t past_line = (uintptr_t)dst % ZB__LINE;
    return limit >= past_line + size ? (limit - past_line) / size : limit / size;
}

/* Moves the run into the stage and streams it from there. */
static void run_staged(const zb__move *move, const char *src, int64_t src_stride, char *dst,
                       int64_t dst_stride, size_t n) {
    (void)dst_stride; /* contiguous: worth_streaming has seen to it */
    _Alignas(ZB__LINE) char stage[STAGE];
    while (n > 0) {
        size_t piece = piece_elements(dst, STAGE, move->size);
        piece = piece < n ? piece : n;
        move->inner->run(move->inner, src, src_stride, stage, (int64_t)move->size, piece);
        zb__stream_row(dst, stage, piece * move->size);
        src += (int64_t)piece * src_stride;
        dst += piece * move->size;
        n -= piece;
    }
}

/* Takes the inner dimension into the element if it is contiguous on both sides. */
static size_t merge_element(nest *loops, size_t size) {
    if (loops->ndim == 0)
        return size;
    const uint32_t inner = loops->ndim - 1;
    if (loops->src[inner] != (int64_t)size || loops->dst[inner] != (int64_t)size)
        return size;
    loops->ndim--;
    return size * (size_t)loops->count[inner];
}

/* Bytes of the longest contiguous runs at the destination. */
static size_t run_bytes(const nest *loops, size_t size) {
    if (loops->ndim == 0 || loops->dst[loops->ndim - 1] != (int64_t)size)
        return size;
    return size * (size_t)loops->count[loops->ndim - 1];
}

/* True if the rows of the box can be stored non-temporally and it pays. Rows that share lines with
   their neighbours must be fetched there; when they are short, that is most of their lines, and
   plain stores with the rows ahead asked for in time are the faster ones. */
static bool worth_streaming(const nest *loops, size_t size, const char *dst) {
    const size_t row = run_bytes(loops, size);
    if (row < ZB__LINE || row == size || loops_tiled(loops, size))
        return false;
    uint64_t ragged = (uintptr_t)dst + (uint64_t)loops->dst_offset;
    ragged |= row;
    for (uint32_t d = 0; d + 1 < loops->ndim; d++)
        ragged |= (uint64_t)loops->dst[d];
    return row >= RAGGED_STREAM_MIN || ragged % ZB__LINE == 0;
}

/* ---- Pixels ------------------------------------------------------------------------------- */

/* True if the rows of the loops are bands of pixels that lie side by side. */
static bool walks_pixels(const nest *loops, size_t size, uint64_t bands) {
    const uint32_t inner = loops->ndim - 1;
    return loops->ndim > 0 && zb__bands_suit(size, bands) &&
           loops->src[inner] == (int64_t)(size * bands) && loops->dst[inner] == (int64_t)size;
}

/* The dimension that goes through the bands of pixels, all of them, or ndim. */
static uint32_t find_bands(const nest *loops, size_t size) {
    uint32_t d = 0;
    while (d < loops->ndim &&
           (loops->src[d] != (int64_t)size || !walks_pixels(loops, size, loops->count[d])))
        d++;
    return d;
}

/* Takes pixels apart in one pass, if they are that: *loops stays as it is otherwise. */
static bool scatter_pixels(nest *loops, size_t size, const char *src, char *dst) {
    const uint32_t d = find_bands(loops, size);
    if (d >= loops->ndim)
        return false;
    const size_t bands = (size_t)loops->count[d];
    int64_t apart[ZB__BANDS_MAX];
    for (size_t i = 0; i < bands; i++)
        apart[i] = (int64_t)i * loops->dst[d];
    loops_remove(loops, d);
    const zb__move move = zb__move_split(size, bands, apart);
    loops_run(loops, &move, src, dst);
    return true;
}

void zb__scatter_bands(const zb__box_copy *copy, size_t bands, const void *src, char *const *dst) {
    const size_t size = copy->src_dtype.size;
    nest loops;
    if (!loops_init(&loops, copy->ndim, copy->count, copy->src_strides, copy->dst_strides))
        return;
    if (!zb__dtype_copies(copy->src_dtype, copy->dst_dtype) || !walks_pixels(&loops, size, bands)) {
        for (size_t i = 0; i < bands; i++)
            zb__scatter(copy, (const char *)src + i * size, dst[i]);
        return;
    }
    int64_t apart[ZB__BANDS_MAX];
    for (size_t i = 0; i < bands; i++)
        apart[i] = (int64_t)((uintptr_t)dst[i] - (uintptr_t)dst[0]);
    const zb__move move = zb__move_split(size, bands, apart);
    loops_run(&loops, &move, src, dst[0]);
}

/* ---- All boxes ---------------------------------------------------------------------------- */

void zb__scatter(const zb__box_copy *copy, const void *src, void *dst) {
    nest loops;
    if (!loops_init(&loops, copy->ndim, copy->count, copy->src_strides, copy->dst_strides))
        return;

    const bool copies = zb__dtype_copies(copy->src_dtype, copy->dst_dtype);
    if (copies && scatter_pixels(&loops, copy->dst_dtype.size, src, dst))
        return;
    /* Only short elements go through the stage, which holds many, and none with gaps. */
    const bool stream =
        copy->stream &&
        (copies || (copy->dst_dtype.size < ZB__LINE && copy->dst_dtype.kind != ZB_KIND_STRUCT)) &&
        worth_streaming(&loops, copy->dst_dtype.size, dst);
    const size_t size = copies ? merge_element(&loops, copy->dst_dtype.size) : 0;
    if (copies && loops.ndim == 0 && !stream) { /* one run, of which a row may have very many */
        memcpy((char *)dst + loops.dst_offset, (const char *)src + loops.src_offset, size);
        return;
    }
    zb__move move =
        copies ? zb__move_copy(size) : zb__move_convert(copy->src_dtype, copy->dst_dtype);
    const zb__move plain = move;
    if (stream && move.size >= ZB__LINE) {
        move = zb__move_stream(move.size);
    } else if (stream) {
        move.run = run_staged;
        move.inner = &plain;
        move.streams = true;
    }
    loops_run(&loops, &move, src, dst);
    if (stream)
        zb__stream_end();
}

/* The source of a fill is a pattern of pattern_size bytes, made of equal elements. */
static void run_fill(const zb__move *move, const char *pattern, int64_t zero, char *dst,
                     int64_t dst_stride, size_t n) {
    if (dst_stride != (int64_t)move->size) {
        move->inner->run(move->inner, pattern, zero, dst, dst_stride, n);
        return;
    }
    for (size_t left = n * move->size, piece; left > 0; left -= piece, dst += piece) {
        piece = left < move->pattern_size ? left : move->pattern_size;
        memcpy(dst, pattern, piece);
    }
}

static void run_fill_stream(const zb__move *move, const char *pattern, int64_t zero, char *dst,
                            int64_t dst_stride, size_t n) {
    (void)zero;
    (void)dst_stride;
    for (size_t left = n * move->size, piece; left > 0; left -= piece, dst += piece) {
        piece = piece_elements(dst, move->pattern_size, move->size) * move->size;
        piece = left < piece ? left : piece;
        zb__stream_row(dst, pattern, piece);
    }
}

/* All bytes of the element are equal. */
static void run_fill_bytes(const zb__move *move, const char *pattern, int64_t zero, char *dst,
                           int64_t dst_stride, size_t n) {
    if (dst_stride != (int64_t)move->size)
        move->inner->run(move->inner, pattern, zero, dst, dst_stride, n);
    else
        memset(dst, *pattern, n * move->size);
}

/* Makes the pattern: one converted element, repeated as often as it fits and a run of so many bytes
   can use. Returns its length. */
static size_t make_pattern(const zb__box_copy *copy, const zb__move *plain, const void *value,
                           size_t run, char *stage) {
    const size_t size = plain->size, repeats = (run < STAGE ? run : STAGE) / size;
    zb__convert(copy->src_dtype, value, 0, copy->dst_dtype, stage, 0, 1);
    plain->run(plain, stage, 0, stage + size, (int64_t)size, repeats - 1);
    return repeats * size;
}

void zb__scatter_fill(const zb__box_copy *copy, const void *value, void *dst) {
    nest loops;
    if (!loops_init(&loops, copy->ndim, copy->count, NULL, copy->dst_strides))
        return;

    /* Between the fields of a struct the destination stays as it is. */
    const bool is_long = copy->dst_dtype.size > STAGE;
    const bool has_gaps = copy->dst_dtype.kind == ZB_KIND_STRUCT;
    if ((is_long || has_gaps) && !zb__dtype_copies(copy->src_dtype, copy->dst_dtype)) {
        const zb__move convert = zb__move_convert(copy->src_dtype, copy->dst_dtype);
        loops_run(&loops, &convert, value, dst);
        return;
    }
    _Alignas(ZB__LINE) char stage[STAGE];
    const char *pattern = is_long ? value : stage; /* a long element is used as it is */
    const zb__move plain = zb__move_copy(copy->dst_dtype.size);
    const size_t size = plain.size;
    const bool stream = copy->stream && worth_streaming(&loops, size, dst);
    zb__move move = plain;
    move.inner = &plain;
    move.streams = stream;
    move.pattern_size =
        is_long ? size : make_pattern(copy, &plain, value, run_bytes(&loops, size), stage);
    if (stream)
        move.run = run_fill_stream;
    else if (memcmp(pattern, pattern + 1, size - 1) == 0)
        move.run = run_fill_bytes;
    else
        move.run = run_fill;
    loops_run(&loops, &move, pattern, dst);
    if (stream)
        zb__stream_end();
}
