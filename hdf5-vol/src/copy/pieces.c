/* SPDX-License-Identifier: MIT */
/* Walking an array piece by piece, in row-major order: see pieces.h. */
#include "copy/pieces.h"

#include "encoded/hdf5_chunks.h"
#include "hdf5/errors.h"

#include <string.h>

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

vol_pieces vol_pieces_of_box(const zb_node *array, const uint64_t *start, const uint64_t *count) {
    vol_pieces box = {.array = array, .info = zb_node_array(array)};
    for (uint32_t d = 0; d < box.info->ndim; d++) {
        box.start[d] = start[d];
        box.count[d] = count[d];
    }
    return box;
}

/* ---- Some chunks only ---- */

/* A piece of the chunks that follow each other along the last dimension. */
static void go_to_listed(vol_pieces *pieces) {
    const size_t left = pieces->only->count - pieces->only_at;
    const uint32_t last = pieces->info->ndim - 1;
    pieces->done = left == 0;
    if (pieces->done)
        return;
    const vol_stored_chunk *only = pieces->only->chunk + pieces->only_at;
    vol_stored_chunks_index(pieces->only, pieces->only_at, pieces->first);
    const uint64_t row =
        zb_array_chunk_count(pieces->array, ZB_GRID_CHUNKS, last) - pieces->first[last];
    uint64_t run = 1;
    while (run < left && run < row && run < pieces->longest &&
           only[run].number == only[0].number + run)
        run++;
    pieces->chunks[last] = run;
    set_box(pieces);
}

void vol_pieces_only(vol_pieces *pieces, const vol_stored_chunks *only) {
    const uint32_t ndim = pieces->info->ndim;
    pieces->only = only;
    pieces->only_at = 0;
    pieces->longest = pieces->chunks[ndim - 1];
    for (uint32_t d = 0; d < ndim; d++)
        pieces->chunks[d] = 1;
    go_to_listed(pieces);
}

bool vol_pieces_left_out(const zb_node *array, enum zb_grid_level level, const void *list,
                         size_t count, size_t size, vol_pieces *probe) {
    const char *item = list;
    uint64_t number = 0, its, index[ZB_MAX_NDIM];
    for (; number < count; number++, item += size) {
        memcpy(&its, item, sizeof its);
        if (its != number)
            break;
    }
    *probe = (vol_pieces){.array = array, .info = zb_node_array(array)};
    if (!vol_chunk_index(array, level, number, index))
        return false;
    for (uint32_t d = 0; d < probe->info->ndim; d++) {
        probe->start[d] = zb_array_chunk_at(array, level, d, index[d]).start;
        probe->count[d] = 1;
    }
    return true;
}

void vol_pieces_next(vol_pieces *pieces) {
    if (pieces->only) {
        pieces->only_at += (size_t)pieces->chunks[pieces->info->ndim - 1];
        go_to_listed(pieces);
        return;
    }
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

/* ---- The chunks that a copy visits ---- */

/* Adds the chunks that a box touches, as far as it lies in the array. */
static bool add_box(vol_stored_chunks *stored, const uint64_t *start, const uint64_t *count) {
    const zb_node *array = stored->array;
    const zb_array_info *info = zb_node_array(array);
    uint64_t first[ZB_MAX_NDIM], last[ZB_MAX_NDIM], index[ZB_MAX_NDIM];
    uint32_t d = 0;
    for (; d < info->ndim; d++) {
        if (start[d] >= info->shape[d] || count[d] == 0)
            return true;
        const uint64_t inside = info->shape[d] - start[d];
        const uint64_t end = start[d] + (count[d] < inside ? count[d] : inside) - 1;
        first[d] = index[d] = zb_array_chunk_of(array, ZB_GRID_CHUNKS, d, start[d]).index;
        last[d] = zb_array_chunk_of(array, ZB_GRID_CHUNKS, d, end).index;
    }
    do {
        if (vol_stored_chunks_add(stored, index, 0, NULL) != ZB_OK)
            return false;
        for (d = info->ndim; d-- > 0 && ++index[d] > last[d];)
            index[d] = first[d];
    } while (d != UINT32_MAX);
    return true;
}

typedef struct visit {
    vol_stored_chunks *stored;
    hsize_t chunk[ZB_MAX_NDIM];
} visit;

static int take_chunk(const hsize_t *offset, unsigned mask, haddr_t address, hsize_t size,
                      void *context) {
    const visit *v = context;
    uint64_t start[ZB_MAX_NDIM], count[ZB_MAX_NDIM];
    (void)mask;
    (void)address;
    (void)size;
    for (uint32_t d = 0; d < zb_node_array(v->stored->array)->ndim; d++) {
        start[d] = offset[d];
        count[d] = v->chunk[d];
    }
    return add_box(v->stored, start, count) ? H5_ITER_CONT : H5_ITER_ERROR;
}

/* A contiguous dataset has all of its elements or none. */
static bool list_hdf5(h5_lib *lib, hid_t source, hid_t dcpl, vol_stored_chunks *out) {
    const uint32_t ndim = zb_node_array(out->array)->ndim;
    visit v = {.stored = out};
    const H5D_layout_t layout = lib->H5Pget_layout(dcpl);
    if (layout == H5D_CONTIGUOUS)
        return lib->H5Pget_external_count(dcpl) == 0 && lib->H5Dget_storage_size(source) == 0;
    return layout == H5D_CHUNKED && vol_hdf5_tells_chunks(lib) &&
           lib->H5Pget_chunk(dcpl, (int)ndim, v.chunk) == (int)ndim &&
           lib->H5Dchunk_iter(source, H5P_DEFAULT, take_chunk, &v) >= 0;
}

bool vol_stored_of_hdf5(h5_lib *lib, hid_t source, const zb_node *array, vol_stored_chunks *out) {
    *out = (vol_stored_chunks){.array = array, .level = ZB_GRID_CHUNKS};
    if (zb_node_array(array)->ndim == 0)
        return false;
    hid_t saved = vol_stack_save(lib);
    hid_t dcpl = lib->H5Dget_create_plist(source);
    bool known = dcpl >= 0 && list_hdf5(lib, source, dcpl, out);
    vol_release_id(lib, dcpl);
    vol_stack_restore(lib, saved);
    if (known)
        vol_stored_chunks_sort(out);
    else
        vol_stored_chunks_free(out);
    return known;
}
