/* SPDX-License-Identifier: MIT */
/* Walking an array piece by piece, in row-major order: see pieces.h. */
#include "copy/pieces.h"

#define PIECE_BYTES ((uint64_t)64 << 20)

/* The largest box of at most PIECE_BYTES that covers whole chunks (shards, where there are some):
   chunks are added from the innermost dimension outwards until the next step would be too large. */
static void choose_shape(vol_pieces *pieces) {
    const zb_array_info *info = pieces->info;
    uint64_t *piece = pieces->shape, bytes = info->dtype.size;
    for (uint32_t d = 0; d < info->ndim; d++) {
        piece[d] = info->chunk_shape[d] < info->shape[d] ? info->chunk_shape[d] : info->shape[d];
        if (__builtin_mul_overflow(bytes, piece[d], &bytes))
            bytes = UINT64_MAX; /* no memory will be had for it */
    }
    for (uint32_t d = info->ndim; d-- > 0 && bytes > 0 && bytes < PIECE_BYTES;) {
        uint64_t times = PIECE_BYTES / bytes, chunk = piece[d];
        if (times > info->shape[d] / chunk)
            times = info->shape[d] / chunk + 1;
        bytes = bytes / chunk;
        piece[d] = chunk * times < info->shape[d] ? chunk * times : info->shape[d];
        bytes *= piece[d];
        if (piece[d] < info->shape[d])
            break;
    }
    pieces->bytes = bytes;
}

/* A piece at the end of a dimension is smaller. */
static void set_count(vol_pieces *pieces) {
    for (uint32_t d = 0; d < pieces->info->ndim; d++) {
        uint64_t left = pieces->info->shape[d] - pieces->start[d];
        pieces->count[d] = left < pieces->shape[d] ? left : pieces->shape[d];
    }
}

void vol_pieces_begin(vol_pieces *pieces, const zb_array_info *info) {
    *pieces = (vol_pieces){.info = info};
    choose_shape(pieces);
    pieces->done = pieces->bytes == 0;
    set_count(pieces);
}

void vol_pieces_next(vol_pieces *pieces) {
    pieces->done = true;
    for (uint32_t d = pieces->info->ndim; d-- > 0 && pieces->done;) {
        pieces->start[d] += pieces->shape[d];
        pieces->done = pieces->start[d] >= pieces->info->shape[d];
        if (pieces->done)
            pieces->start[d] = 0;
    }
    set_count(pieces);
}

hid_t vol_pieces_select(const vol_pieces *pieces, h5_lib *lib, hid_t space) {
    const uint32_t ndim = pieces->info->ndim;
    hsize_t start[ZB_MAX_NDIM], count[ZB_MAX_NDIM], elements = 1;
    for (uint32_t d = 0; d < ndim; d++) {
        start[d] = pieces->start[d];
        count[d] = pieces->count[d];
        elements *= count[d];
    }
    if (ndim > 0 && lib->H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0)
        return -1;
    return lib->H5Screate_simple(1, &elements, NULL);
}
