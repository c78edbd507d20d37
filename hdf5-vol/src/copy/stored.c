/* SPDX-License-Identifier: MIT */
/* The chunks that a copy has to visit: see stored.h. */
#include "copy/stored.h"

#include "hdf5/errors.h"

#include "zarrbridge/read.h"

#include <stdlib.h>
#include <string.h>

/* A look at a chunk of a store costs microseconds, a visit many of them. The list of chunks takes 8
   bytes for each: this limits it to 128 MiB. */
#define MOST_LOOKS ((uint64_t)1 << 24)

void vol_stored_free(vol_stored *stored) {
    free(stored->numbers);
    *stored = (vol_stored){.array = NULL};
}

/* ---- The list ---- */

static bool append(vol_stored *stored, uint64_t number) {
    if (stored->count > 0 && stored->numbers[stored->count - 1] == number)
        return true;
    if (stored->count == stored->room) {
        size_t room = stored->room ? 2 * stored->room : 64, bytes;
        uint64_t *numbers = __builtin_mul_overflow(room, sizeof *numbers, &bytes)
                                ? NULL
                                : realloc(stored->numbers, bytes);
        if (!numbers)
            return false;
        stored->numbers = numbers;
        stored->room = room;
    }
    stored->numbers[stored->count++] = number;
    return true;
}

static int by_number(const void *a, const void *b) {
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void put_in_order(vol_stored *stored) {
    size_t kept = 0;
    if (stored->count > 1)
        qsort(stored->numbers, stored->count, sizeof *stored->numbers, by_number);
    for (size_t i = 0; i < stored->count; i++)
        if (kept == 0 || stored->numbers[kept - 1] != stored->numbers[i])
            stored->numbers[kept++] = stored->numbers[i];
    stored->count = kept;
}

static bool number_of(const zb_node *array, const uint64_t *index, uint64_t *number) {
    *number = 0;
    for (uint32_t d = 0; d < zb_node_array(array)->ndim; d++)
        if (__builtin_mul_overflow(*number, zb_array_chunk_count(array, ZB_GRID_CHUNKS, d),
                                   number) ||
            __builtin_add_overflow(*number, index[d], number))
            return false;
    return true;
}

/* Adds the chunks that a box touches, as far as it lies in the array. */
static bool add_box(vol_stored *stored, const uint64_t *start, const uint64_t *count) {
    const zb_node *array = stored->array;
    const zb_array_info *info = zb_node_array(array);
    uint64_t first[ZB_MAX_NDIM], last[ZB_MAX_NDIM], index[ZB_MAX_NDIM], number;
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
        if (!number_of(array, index, &number) || !append(stored, number))
            return false;
        for (d = info->ndim; d-- > 0 && ++index[d] > last[d];)
            index[d] = first[d];
    } while (d != UINT32_MAX);
    return true;
}

/* ---- Datasets of HDF5 ---- */

/* Libraries before this one passed other offsets to the visitors of chunks. */
static bool tells_chunks(h5_lib *lib) {
    unsigned major, minor, release;
    if (lib->H5get_libversion(&major, &minor, &release) < 0)
        return false;
    return major > 1 || minor > 14 || (minor == 14 && release >= 5);
}

typedef struct visit {
    vol_stored *stored;
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
static bool list_hdf5(h5_lib *lib, hid_t source, hid_t dcpl, vol_stored *out) {
    const uint32_t ndim = zb_node_array(out->array)->ndim;
    visit v = {.stored = out};
    const H5D_layout_t layout = lib->H5Pget_layout(dcpl);
    if (layout == H5D_CONTIGUOUS)
        return lib->H5Pget_external_count(dcpl) == 0 && lib->H5Dget_storage_size(source) == 0;
    return layout == H5D_CHUNKED && tells_chunks(lib) &&
           lib->H5Pget_chunk(dcpl, (int)ndim, v.chunk) == (int)ndim &&
           lib->H5Dchunk_iter(source, H5P_DEFAULT, take_chunk, &v) >= 0;
}

bool vol_stored_of_hdf5(h5_lib *lib, hid_t source, const zb_node *array, vol_stored *out) {
    *out = (vol_stored){.array = array};
    if (zb_node_array(array)->ndim == 0)
        return false;
    hid_t saved = vol_stack_save(lib);
    hid_t dcpl = lib->H5Dget_create_plist(source);
    bool told = dcpl >= 0 && list_hdf5(lib, source, dcpl, out);
    vol_release_id(lib, dcpl);
    vol_stack_restore(lib, saved);
    if (told)
        put_in_order(out);
    else
        vol_stored_free(out);
    return told;
}

/* ---- Arrays of stores ---- */

static bool next_chunk(const zb_node *array, uint64_t *index) {
    for (uint32_t d = zb_node_array(array)->ndim; d-- > 0;) {
        if (++index[d] < zb_array_chunk_count(array, ZB_GRID_INNER, d))
            return true;
        index[d] = 0;
    }
    return false;
}

/* A chunk that cannot be looked at is one to visit, for the error. */
static bool list_array(vol_stored *out) {
    const zb_node *array = out->array;
    const uint32_t ndim = zb_node_array(array)->ndim;
    uint64_t index[ZB_MAX_NDIM] = {0}, start[ZB_MAX_NDIM], count[ZB_MAX_NDIM], looks = 1, bytes;
    for (uint32_t d = 0; d < ndim; d++)
        if (__builtin_mul_overflow(looks, zb_array_chunk_count(array, ZB_GRID_INNER, d), &looks))
            return false;
    if (looks == 0 || looks > MOST_LOOKS)
        return false;
    do {
        if (zb_array_chunk_stored(array, index, &bytes, NULL) == ZB_OK && bytes == 0)
            continue;
        for (uint32_t d = 0; d < ndim; d++) {
            const zb_chunk_span span = zb_array_chunk_at(array, ZB_GRID_INNER, d, index[d]);
            start[d] = span.start;
            count[d] = span.inside;
        }
        if (!add_box(out, start, count))
            return false;
    } while (next_chunk(array, index));
    return true;
}

bool vol_stored_of_array(const zb_node *array, vol_stored *out) {
    *out = (vol_stored){.array = array};
    bool told = zb_node_array(array)->ndim > 0 && list_array(out);
    if (told)
        put_in_order(out);
    else
        vol_stored_free(out);
    return told;
}
