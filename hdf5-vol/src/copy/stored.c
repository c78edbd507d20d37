/* SPDX-License-Identifier: MIT */
/* The chunks of HDF5 datasets: see stored.h. */
#include "copy/stored.h"

#include "hdf5/errors.h"

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

/* Libraries before this one passed other offsets to the visitors of chunks. */
static bool tells_chunks(const h5_lib *lib) {
    return h5_lib_is_since(lib, 1, 14, 5);
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
    return layout == H5D_CHUNKED && tells_chunks(lib) &&
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
