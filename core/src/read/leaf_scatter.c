/* SPDX-License-Identifier: MIT */
#include "read/leaf_scatter.h"

#include <string.h>

#include "types/bands.h"
#include "types/scatter.h"
#include "types/values.h"
#include "node/node.h"
#include "read/piece.h"
#include "zarrbridge/dtype.h"

/* Byte strides of the chunk's stored dimensions. */
static void stored_strides(const zb__form *form, int64_t *strides) {
    int64_t stride = form->chain->dtype.size;
    for (uint32_t d = form->chain->ndim; d-- > 0;) {
        strides[d] = stride;
        stride *= (int64_t)form->stored_shape[d];
    }
}

/* How a piece is copied from a decoded chunk, in whose bytes it begins at `first`. The strides are
   kept in an array of the caller. */
static inline zb__box_copy copy_of(const zb__form *form, zb__piece *piece, int64_t *strides,
                                   uint64_t *first) {
    uint32_t ndim = form->chain->ndim;
    stored_strides(form, strides);
    int64_t at = 0;
    for (uint32_t d = 0; d < ndim; d++) {
        at += (int64_t)zb__piece_start(piece)[d] * strides[d];
        if (zb__piece_count(piece, ndim)[d] > 1)
            strides[d] *= (int64_t)zb__piece_step(piece, ndim)[d];
    }
    *first = (uint64_t)at;
    return (zb__box_copy){.ndim = ndim,
                          .count = zb__piece_count(piece, ndim),
                          .src_strides = strides,
                          .dst_strides = zb__piece_stride(piece, ndim),
                          .src_dtype = form->chain->dtype,
                          .dst_dtype = piece->target->dtype,
                          .stream = piece->target->stream};
}

/* Scatters one piece. data[0] is byte `lo` of the decoded chunk. */
static void scatter_piece(const zb__form *form, zb__piece *piece, const uint8_t *data,
                          uint64_t lo) {
    int64_t strides[ZB_MAX_NDIM];
    uint64_t first;
    zb__box_copy copy = copy_of(form, piece, strides, &first);
    zb__scatter(&copy, data + (first - lo), piece->dst);
}

/* True if the pieces are the same but for their last index and their destination. */
static bool differ_in_band(zb__piece *a, zb__piece *b, uint32_t ndim) {
    const size_t words = 3 * (size_t)ndim; /* count, step, stride */
    return zb_dtype_equal(a->target->dtype, b->target->dtype) &&
           memcmp(zb__piece_start(a), zb__piece_start(b), (ndim - 1) * sizeof(uint64_t)) == 0 &&
           memcmp(zb__piece_count(a, ndim), zb__piece_count(b, ndim), words * sizeof(uint64_t)) ==
               0;
}

/* The number of pieces if each has another element of the last dimension, which has no more: the
   bands of a picture that lies by pixel. Sets dst[] to their destinations, and *first to the piece
   of element 0. Otherwise 0. */
static size_t find_bands(const zb__leaf *leaf, zb__piece **first, char **dst) {
    const uint32_t ndim = leaf->form->chain->ndim;
    const uint64_t bands = ndim > 0 ? leaf->form->stored_shape[ndim - 1] : 0;
    size_t n = 0;
    if (bands < 2 || bands > ZB__BANDS_MAX || zb__piece_count(leaf->pieces, ndim)[ndim - 1] != 1)
        return 0;
    memset(dst, 0, ZB__BANDS_MAX * sizeof *dst);
    for (zb__piece *piece = leaf->pieces; piece; piece = piece->next, n++) {
        const uint64_t band = zb__piece_start(piece)[ndim - 1];
        if (n == bands || dst[band] || !differ_in_band(leaf->pieces, piece, ndim))
            return 0;
        dst[band] = piece->dst;
        *first = band == 0 ? piece : *first;
    }
    return n == bands ? n : 0;
}

static bool scatter_bands(const zb__leaf *leaf, const uint8_t *data, uint64_t lo) {
    zb__piece *first = NULL;
    char *dst[ZB__BANDS_MAX];
    const size_t bands = find_bands(leaf, &first, dst);
    if (bands == 0)
        return false;
    int64_t strides[ZB_MAX_NDIM];
    uint64_t from;
    zb__box_copy copy = copy_of(leaf->form, first, strides, &from);
    zb__scatter_bands(&copy, bands, data + (from - lo), dst);
    return true;
}

void zb__leaf_scatter(const zb__leaf *leaf, const uint8_t *data, uint64_t lo) {
    if (leaf->pieces->next && scatter_bands(leaf, data, lo))
        return;
    for (zb__piece *piece = leaf->pieces; piece; piece = piece->next)
        scatter_piece(leaf->form, piece, data, lo);
}

static inline zb__box_copy fill_of(const zb__leaf *leaf, zb__piece *piece) {
    uint32_t ndim = leaf->form->chain->ndim;
    return (zb__box_copy){.ndim = ndim,
                          .count = zb__piece_count(piece, ndim),
                          .dst_strides = zb__piece_stride(piece, ndim),
                          .src_dtype = leaf->chunk->node->array->info.dtype,
                          .dst_dtype = piece->target->dtype,
                          .stream = piece->target->stream};
}

/* The element of a missing chunk. */
static const void *missing_element(const zb__leaf *leaf) {
    const void *missing = leaf->form->chain->missing;
    return missing ? missing : leaf->chunk->node->array->info.fill_value;
}

void zb__leaf_fill(const zb__leaf *leaf) {
    for (zb__piece *piece = leaf->pieces; piece; piece = piece->next) {
        zb__box_copy copy = fill_of(leaf, piece);
        zb__scatter_fill(&copy, missing_element(leaf), piece->dst);
    }
}

enum zb_code zb__leaf_copy(const zb__leaf *leaf, const uint8_t *elements, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (zb__piece *piece = leaf->pieces; piece && !code; piece = piece->next) {
        int64_t strides[ZB_MAX_NDIM];
        uint64_t first;
        zb__box_copy copy = copy_of(leaf->form, piece, strides, &first);
        code = zb__values_copy(piece->target->values, &copy, elements + first, piece->dst, err);
    }
    return code;
}

enum zb_code zb__leaf_copy_fill(const zb__leaf *leaf, zb_error *err) {
    const void *fill = leaf->chunk->node->array->info.fill_value;
    enum zb_code code = ZB_OK;
    for (zb__piece *piece = leaf->pieces; piece && !code; piece = piece->next) {
        zb__box_copy copy = fill_of(leaf, piece);
        code = zb__values_fill(piece->target->values, &copy, fill, piece->dst, err);
    }
    return code;
}
