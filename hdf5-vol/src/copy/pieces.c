/* SPDX-License-Identifier: MIT */
/* Walking an array piece by piece, in row-major order: see pieces.h. */
#include "copy/pieces.h"

#define PIECE_BYTES ((uint64_t)64 << 20)
#define TEXT_BYTES 256

/* The largest box of at most PIECE_BYTES that covers whole chunks (shards, where there are some):
   chunks are added from the innermost dimension outwards until the next step would be too large. */
static void choose_shape(vol_pieces *pieces) {
    const zb_array_info *info = pieces->info;
    const uint64_t item = zb_dtype_is_variable(info->dtype) ? TEXT_BYTES : info->dtype.size;
    uint64_t longest[ZB_MAX_NDIM], bytes = item;
    for (uint32_t d = 0; d < info->ndim; d++) {
        pieces->chunks[d] = 1;
        longest[d] = info->chunk_shape[d] < info->shape[d] ? info->chunk_shape[d] : info->shape[d];
        if (__builtin_mul_overflow(bytes, longest[d], &bytes))
            bytes = UINT64_MAX; /* no memory will be had for it */
    }
    for (uint32_t d = info->ndim; d-- > 0 && bytes > 0 && bytes < PIECE_BYTES;) {
        uint64_t count = zb_array_chunk_count(pieces->array, ZB_GRID_CHUNKS, d);
        uint64_t times = PIECE_BYTES / bytes;
        pieces->chunks[d] = times < count ? times : count;
        bytes /= longest[d];
        longest[d] *= pieces->chunks[d]; /* at most the extent, and less than a chunk more */
        bytes *= longest[d] < info->shape[d] ? longest[d] : info->shape[d];
        if (pieces->chunks[d] < count)
            break;
    }
    pieces->elements = bytes / item;
    pieces->bytes = pieces->elements * info->dtype.size;
}

/* From the start of the first chunk to the end of the last, which the array's edge may cut. */
static void set_box(vol_pieces *pieces) {
    for (uint32_t d = 0; d < pieces->info->ndim; d++) {
        const uint64_t first = pieces->first[d], chunks = pieces->chunks[d];
        const uint64_t rest = zb_array_chunk_count(pieces->array, ZB_GRID_CHUNKS, d) - first;
        const zb_chunk_span begin = zb_array_chunk_at(pieces->array, ZB_GRID_CHUNKS, d, first);
        const zb_chunk_span end = zb_array_chunk_at(pieces->array, ZB_GRID_CHUNKS, d,
                                                    first + (rest < chunks ? rest : chunks) - 1);
        pieces->start[d] = begin.start;
        pieces->count[d] = end.start + end.inside - begin.start;
    }
}

void vol_pieces_begin(vol_pieces *pieces, const zb_node *array) {
    *pieces = (vol_pieces){.array = array, .info = zb_node_array(array)};
    choose_shape(pieces);
    pieces->done = pieces->bytes == 0;
    if (!pieces->done)
        set_box(pieces);
}

void vol_pieces_next(vol_pieces *pieces) {
    pieces->done = true;
    for (uint32_t d = pieces->info->ndim; d-- > 0 && pieces->done;) {
        pieces->first[d] += pieces->chunks[d];
        pieces->done = pieces->first[d] >= zb_array_chunk_count(pieces->array, ZB_GRID_CHUNKS, d);
        if (pieces->done)
            pieces->first[d] = 0;
    }
    set_box(pieces);
}

size_t vol_pieces_elements(const vol_pieces *pieces) {
    size_t elements = 1;
    for (uint32_t d = 0; d < pieces->info->ndim; d++)
        elements *= (size_t)pieces->count[d];
    return elements;
}

void vol_pieces_place(const vol_pieces *pieces, size_t number, uint64_t place[ZB_MAX_NDIM]) {
    for (uint32_t d = pieces->info->ndim; d-- > 0;) {
        place[d] = pieces->start[d] + number % pieces->count[d];
        number /= pieces->count[d];
    }
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
