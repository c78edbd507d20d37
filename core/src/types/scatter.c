/* SPDX-License-Identifier: MIT */
/*
 * The choice of the move that suits a box. A box in normal form (loops.h) is walked by loops.c;
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
#include "types/bands.h"
#include "types/loops.h"

#include <string.h>

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
static size_t merge_element(zb__loops *loops, size_t size) {
    if (loops->ndim == 0)
        return size;
    const uint32_t inner = loops->ndim - 1;
    if (loops->src[inner] != (int64_t)size || loops->dst[inner] != (int64_t)size)
        return size;
    loops->ndim--;
    return size * (size_t)loops->count[inner];
}

/* Bytes of the longest contiguous runs at the destination. */
static size_t run_bytes(const zb__loops *loops, size_t size) {
    if (loops->ndim == 0 || loops->dst[loops->ndim - 1] != (int64_t)size)
        return size;
    return size * (size_t)loops->count[loops->ndim - 1];
}

/* True if the rows of the box can be stored non-temporally and it pays. Rows that share lines with
   their neighbours must be fetched there; when they are short, that is most of their lines, and
   plain stores with the rows ahead asked for in time are the faster ones. */
static bool worth_streaming(const zb__loops *loops, size_t size, const char *dst) {
    const size_t row = run_bytes(loops, size);
    if (row < ZB__LINE || row == size || zb__loops_tiled(loops, size))
        return false;
    uint64_t ragged = (uintptr_t)dst + (uint64_t)loops->dst_offset;
    ragged |= row;
    for (uint32_t d = 0; d + 1 < loops->ndim; d++)
        ragged |= (uint64_t)loops->dst[d];
    return row >= RAGGED_STREAM_MIN || ragged % ZB__LINE == 0;
}

/* ---- Pixels --------------------------------------------------------------------------------- */

/* True if the rows of the loops are bands of pixels that lie side by side. */
static bool walks_pixels(const zb__loops *loops, size_t size, uint64_t bands) {
    const uint32_t inner = loops->ndim - 1;
    return loops->ndim > 0 && zb__bands_suit(size, bands) &&
           loops->src[inner] == (int64_t)(size * bands) && loops->dst[inner] == (int64_t)size;
}

/* The dimension that goes through the bands of pixels, all of them, or ndim. */
static uint32_t find_bands(const zb__loops *loops, size_t size) {
    uint32_t d = 0;
    while (d < loops->ndim &&
           (loops->src[d] != (int64_t)size || !walks_pixels(loops, size, loops->count[d])))
        d++;
    return d;
}

/* Takes pixels apart in one pass, if they are that: *loops stays as it is otherwise. */
static bool scatter_pixels(zb__loops *loops, size_t size, const char *src, char *dst) {
    const uint32_t d = find_bands(loops, size);
    if (d >= loops->ndim)
        return false;
    const size_t bands = (size_t)loops->count[d];
    int64_t apart[ZB__BANDS_MAX];
    for (size_t i = 0; i < bands; i++)
        apart[i] = (int64_t)i * loops->dst[d];
    zb__loops_remove(loops, d);
    const zb__move move = zb__move_split(size, bands, apart);
    zb__loops_run(loops, &move, src, dst);
    return true;
}

void zb__scatter_bands(const zb__box_copy *copy, size_t bands, const void *src, char *const *dst) {
    const size_t size = copy->src_dtype.size;
    zb__loops loops;
    if (!zb__loops_init(&loops, copy->ndim, copy->count, copy->src_strides, copy->dst_strides))
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
    zb__loops_run(&loops, &move, src, dst[0]);
}

/* ---- All boxes ------------------------------------------------------------------------------ */

void zb__scatter(const zb__box_copy *copy, const void *src, void *dst) {
    zb__loops loops;
    if (!zb__loops_init(&loops, copy->ndim, copy->count, copy->src_strides, copy->dst_strides))
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
    zb__loops_run(&loops, &move, src, dst);
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
    zb__loops loops;
    if (!zb__loops_init(&loops, copy->ndim, copy->count, NULL, copy->dst_strides))
        return;

    /* Between the fields of a struct the destination stays as it is. */
    const bool is_long = copy->dst_dtype.size > STAGE;
    const bool has_gaps = copy->dst_dtype.kind == ZB_KIND_STRUCT;
    if ((is_long || has_gaps) && !zb__dtype_copies(copy->src_dtype, copy->dst_dtype)) {
        const zb__move convert = zb__move_convert(copy->src_dtype, copy->dst_dtype);
        zb__loops_run(&loops, &convert, value, dst);
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
    zb__loops_run(&loops, &move, pattern, dst);
    if (stream)
        zb__stream_end();
}
