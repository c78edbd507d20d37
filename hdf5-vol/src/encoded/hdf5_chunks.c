/* SPDX-License-Identifier: MIT */
/* See hdf5_chunks.h. */
#include "encoded/hdf5_chunks.h"

#include <stdlib.h>

typedef struct visit {
    vol_hdf5_chunks *list;
    bool are_edges_plain; /* chunks that the edge cuts go through no filter */
} visit;

static bool add(vol_hdf5_chunks *list, const vol_hdf5_chunk *chunk) {
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 256;
        vol_hdf5_chunk *more = realloc(list->chunk, capacity * sizeof *more);
        if (!more)
            return false;
        list->chunk = more;
        list->capacity = capacity;
    }
    list->chunk[list->count++] = *chunk;
    return true;
}

static int take_chunk(const hsize_t *offset, unsigned mask, haddr_t address, hsize_t size,
                      void *context) {
    const visit *v = context;
    const zb_node *array = v->list->array;
    vol_hdf5_chunk chunk = {.address = address, .size = size, .mask = mask};
    bool is_cut = false;
    for (uint32_t d = 0; d < zb_node_array(array)->ndim; d++) {
        const zb_chunk_span inner = zb_array_chunk_of(array, ZB_GRID_INNER, d, offset[d]);
        const zb_chunk_span outer = zb_array_chunk_of(array, ZB_GRID_CHUNKS, d, offset[d]);
        if (inner.inside == 0)
            return H5_ITER_CONT; /* left behind the edge by a dataset that became smaller */
        is_cut = is_cut || inner.inside < inner.extent;
        chunk.number = chunk.number * zb_array_chunk_count(array, ZB_GRID_INNER, d) + inner.index;
        chunk.target = chunk.target * zb_array_chunk_count(array, ZB_GRID_CHUNKS, d) + outer.index;
    }
    chunk.is_plain = is_cut && v->are_edges_plain;
    return add(v->list, &chunk) ? H5_ITER_CONT : H5_ITER_ERROR;
}

bool vol_hdf5_tells_chunks(const h5_lib *lib) {
    return h5_lib_is_since(lib, 1, 14, 5);
}

bool vol_hdf5_chunks_list(h5_lib *lib, hid_t source, hid_t dcpl, vol_hdf5_chunks *list) {
    visit v = {.list = list};
    unsigned options = 0;
    if (!vol_hdf5_tells_chunks(lib) || lib->H5Pget_chunk_opts(dcpl, &options) < 0)
        return false;
    v.are_edges_plain =
        (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) && lib->H5Pget_nfilters(dcpl) > 0;
    return lib->H5Dchunk_iter(source, H5P_DEFAULT, take_chunk, &v) >= 0;
}
