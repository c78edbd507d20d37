/* SPDX-License-Identifier: MIT */
/* Chunks as native programs ask for them: see chunks.h. */
#include "callbacks/chunks.h"

#include "callbacks/direct_chunks.h"
#include "create/creation_list.h"
#include "dataset/dataset.h"
#include "dataset/edit_dataset.h"
#include "dataset/stored_chunks.h"
#include "dataset/writers.h"
#include "hdf5/errors.h"
#include "hdf5/library.h"
#include "objects/open_ids.h"

#include "zarrbridge/hdf5.h"

#include <stdlib.h>

bool vol_is_about_chunks(int operation) {
    switch (operation) {
    case H5VL_NATIVE_DATASET_GET_CHUNK_INDEX_TYPE:
    case H5VL_NATIVE_DATASET_GET_NUM_CHUNKS:
    case H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_IDX:
    case H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_COORD:
    case H5VL_NATIVE_DATASET_GET_CHUNK_STORAGE_SIZE:
    case H5VL_NATIVE_DATASET_CHUNK_ITER:
    case H5VL_NATIVE_DATASET_CHUNK_READ:
    case H5VL_NATIVE_DATASET_CHUNK_WRITE:
        return true;
    default:
        return false;
    }
}

static herr_t list_chunks(const vol_object *object, const vol_stored_chunks **out) {
    zb_error err;
    if (vol_writer_flush(object->node, &err) == ZB_OK &&
        vol_node_stored_chunks(object->node, out, &err) == ZB_OK)
        return 0;
    return VOL_PUSH(object->lib, DATASET, CANTGET, "%s", err.message);
}

/* The chunks that are stored, as HDF5's own files count those that they keep places for. */
static herr_t get_num_chunks(const vol_object *object, hsize_t *count) {
    const vol_stored_chunks *list;
    if (list_chunks(object, &list) < 0)
        return -1;
    *count = list->count;
    return 0;
}

/* ---- Single chunks ---- */

/* The bytes of a chunk that takes so many in the store: those that H5Dread_chunk gives, where it
   does, as programs size its buffer by them. */
static herr_t tell_size(const vol_object *object, const uint64_t *index, uint64_t bytes,
                        hsize_t *size) {
    hsize_t offset[ZB_MAX_NDIM] = {0};
    *size = bytes;
    if (bytes == 0 || !vol_direct_has(object->node))
        return 0;
    for (uint32_t d = 0; d < zb_node_array(object->node->zarr)->ndim; d++)
        offset[d] = zb_array_chunk_at(object->node->zarr, ZB_GRID_INNER, d, index[d]).start;
    return vol_direct_size(object, offset, size);
}

/* 0 when the chunk is not stored. */
static herr_t get_chunk_size(const vol_object *object, const uint64_t *index, hsize_t *size) {
    zb_error err;
    uint64_t bytes = 0;
    enum zb_code code = vol_writer_flush(object->node, &err);
    if (!code)
        code = zb_array_chunk_stored(object->node->zarr, index, &bytes, &err);
    if (code)
        return VOL_PUSH(object->lib, DATASET, CANTGET, "%s", err.message);
    return size ? tell_size(object, index, bytes, size) : 0;
}

/* The same of a chunk of a list, which may tell it. */
static herr_t get_listed_size(const vol_object *object, const vol_stored_chunks *list, size_t i,
                              hsize_t *size) {
    uint64_t index[ZB_MAX_NDIM];
    const uint64_t bytes = list->chunk[i].bytes;
    vol_stored_chunks_index(list, i, index);
    return bytes > 0 ? tell_size(object, index, bytes, size) : get_chunk_size(object, index, size);
}

/* The chunk that begins at an offset. */
static herr_t find_chunk(const vol_object *object, const hsize_t *offset, uint64_t *index) {
    const zb_node *array = object->node->zarr;
    for (uint32_t d = 0; d < zb_node_array(array)->ndim; d++) {
        const zb_chunk_span span = zb_array_chunk_of(array, ZB_GRID_INNER, d, offset[d]);
        index[d] = span.index;
        if (span.inside == 0 || span.start != offset[d])
            return VOL_PUSH(object->lib, DATASET, BADVALUE,
                            "no chunk of '%s' begins at %llu in dimension %u", object->node->path,
                            (unsigned long long)offset[d], d);
    }
    return 0;
}

/* Chunks have no addresses, and with an undefined one h5py hides where they begin. So each has
   another one, beyond the end of any file, where nothing can be read: with the chunk's number in
   the grid. */
static haddr_t address_of(const zb_node *array, const uint64_t *index) {
    const haddr_t beyond = (haddr_t)1 << 62;
    haddr_t number = 0;
    for (uint32_t d = 0; d < zb_node_array(array)->ndim; d++)
        number = number * zb_array_chunk_count(array, ZB_GRID_INNER, d) + index[d];
    return beyond | (number & (beyond - 1));
}

/* The filters of a stored chunk are all applied. */
static void tell_place(const zb_node *array, const uint64_t *index, bool is_stored,
                       unsigned *filter_mask, haddr_t *address) {
    if (filter_mask)
        *filter_mask = 0;
    if (address)
        *address = is_stored ? address_of(array, index) : HADDR_UNDEF;
}

/* By the place of a chunk among those that are stored. */
static herr_t get_chunk_info(const vol_object *object,
                             const H5VL_native_dataset_get_chunk_info_by_idx_t *args) {
    const zb_node *array = object->node->zarr;
    const vol_stored_chunks *list;
    uint64_t index[ZB_MAX_NDIM];
    if (list_chunks(object, &list) < 0)
        return -1;
    if (args->chk_index >= list->count)
        return VOL_PUSH(object->lib, DATASET, BADVALUE,
                        "'%s' has %zu stored chunks, and no chunk %llu", object->node->path,
                        list->count, (unsigned long long)args->chk_index);
    vol_stored_chunks_index(list, (size_t)args->chk_index, index);
    for (uint32_t d = 0; d < zb_node_array(array)->ndim && args->offset; d++)
        args->offset[d] = zb_array_chunk_at(array, ZB_GRID_INNER, d, index[d]).start;
    tell_place(array, index, true, args->filter_mask, args->addr);
    return args->size ? get_listed_size(object, list, (size_t)args->chk_index, args->size) : 0;
}

static herr_t get_chunk_info_at(const vol_object *object,
                                const H5VL_native_dataset_get_chunk_info_by_coord_t *args) {
    uint64_t index[ZB_MAX_NDIM];
    hsize_t size;
    if (find_chunk(object, args->offset, index) < 0 || get_chunk_size(object, index, &size) < 0)
        return -1;
    tell_place(object->node->zarr, index, size > 0, args->filter_mask, args->addr);
    if (args->size)
        *args->size = size;
    return 0;
}

static herr_t get_chunk_size_at(const vol_object *object,
                                const H5VL_native_dataset_get_chunk_storage_size_t *args) {
    uint64_t index[ZB_MAX_NDIM];
    return find_chunk(object, args->offset, index) < 0 ? -1
                                                       : get_chunk_size(object, index, args->size);
}

/* True if the array has the chunk; false where the program has cut it off. */
static bool has_chunk(const zb_node *array, const uint64_t *index) {
    for (uint32_t d = 0; d < zb_node_array(array)->ndim; d++)
        if (index[d] >= zb_array_chunk_count(array, ZB_GRID_INNER, d))
            return false;
    return true;
}

/* Tells the program of chunk i, unless it has gone meanwhile. */
static int visit_chunk(const vol_object *object, const vol_stored_chunks *list, size_t i,
                       H5D_chunk_iter_op_t visit, void *context) {
    hsize_t offset[ZB_MAX_NDIM] = {0}, size = 0;
    uint64_t index[ZB_MAX_NDIM];
    vol_stored_chunks_index(list, i, index);
    if (has_chunk(object->node->zarr, index) && get_listed_size(object, list, i, &size) < 0)
        return -1;
    for (uint32_t d = 0; d < zb_node_array(list->array)->ndim; d++)
        offset[d] = zb_array_chunk_at(list->array, ZB_GRID_INNER, d, index[d]).start;
    return size > 0 ? visit(offset, 0, address_of(list->array, index), size, context)
                    : H5_ITER_CONT;
}

static herr_t read_chunk(const vol_object *object, h5_chunk_read *args) {
    uint64_t index[ZB_MAX_NDIM];
    hsize_t size = 0;
    size_t *buffer_size = h5_chunk_buffer_size(object->lib, args);
    if (find_chunk(object, args->offset, index) < 0 || get_chunk_size(object, index, &size) < 0)
        return -1;
    if (size > 0)
        return vol_direct_read(object, args->offset, args->buffer, buffer_size, &args->filters);
    return VOL_PUSH(object->lib, DATASET, NOTFOUND, "this chunk of '%s' has not been written",
                    object->node->path);
}

static herr_t write_chunk(const vol_object *object, const void *args) {
    uint64_t index[ZB_MAX_NDIM];
    const h5_chunk_write chunk = h5_chunk_write_from(object->lib, args);
    return find_chunk(object, chunk.offset, index) < 0
               ? -1
               : vol_direct_write(object, chunk.offset, chunk.filters, chunk.size, chunk.buffer);
}

/* The program may resize and write the dataset meanwhile: the chunks are those of the array as it
   was, and is still. The list is the walk's own, as the node forgets its list then. */
static herr_t iterate_chunks(const vol_object *object, H5D_chunk_iter_op_t visit, void *context) {
    zb_error err;
    int result = H5_ITER_CONT;
    zb_node *array = zb_node_retain(object->node->zarr);
    vol_stored_chunks list = {.array = NULL};
    enum zb_code code = vol_writer_flush(object->node, &err);
    if (!code)
        code = vol_stored_chunks_of(array, vol_stored_level(array), &list, &err);
    if (code) {
        VOL_PUSH(object->lib, DATASET, CANTGET, "%s", err.message);
        result = -1;
    }
    for (size_t i = 0; i < list.count && result == H5_ITER_CONT; i++)
        result = visit_chunk(object, &list, i, visit, context);
    vol_stored_chunks_free(&list);
    zb_node_release(array);
    return result;
}

/* ---- The operations ---- */

/* Questions about chunks are for datasets that show some. */
static bool has_chunks(const vol_object *object) {
    if (object->node->is_unreadable || vol_list_member_layout(object->node) == H5D_CHUNKED)
        return true;
    VOL_PUSH(object->lib, DATASET, BADVALUE, "dataset '%s' is not chunked", object->node->path);
    return false;
}

/* Shards that are shown as chunks (show=shards) are in no list of stored chunks, and the places of
   inner chunks would be taken for theirs. */
static bool are_chunks_shown(const vol_object *object) {
    const vol_node *node = object->node;
    if (!node->file->options.shows_shards || node->is_unreadable ||
        zb_node_array(node->zarr)->shard_depth == 0)
        return true;
    VOL_PUSH(
        object->lib, DATASET, UNSUPPORTED,
        "with the option show=shards the chunks of '%s' are neither told nor moved one by one: "
        "open the store without it",
        node->path);
    return false;
}

herr_t vol_chunks_optional(const vol_object *object, H5VL_optional_args_t *args) {
    H5VL_native_dataset_optional_args_t *native = args->args;
    if (!has_chunks(object) || !are_chunks_shown(object))
        return -1;
    switch (args->op_type) {
    case H5VL_NATIVE_DATASET_GET_CHUNK_INDEX_TYPE:
        *native->get_chunk_idx_type.idx_type = H5D_CHUNK_IDX_BTREE;
        return 0;
    case H5VL_NATIVE_DATASET_GET_NUM_CHUNKS:
        return get_num_chunks(object, native->get_num_chunks.nchunks);
    case H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_IDX:
        return get_chunk_info(object, &native->get_chunk_info_by_idx);
    case H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_COORD:
        return get_chunk_info_at(object, &native->get_chunk_info_by_coord);
    case H5VL_NATIVE_DATASET_GET_CHUNK_STORAGE_SIZE:
        return get_chunk_size_at(object, &native->get_chunk_storage_size);
    case H5VL_NATIVE_DATASET_CHUNK_READ:
        return read_chunk(object, args->args);
    case H5VL_NATIVE_DATASET_CHUNK_WRITE:
        return write_chunk(object, args->args);
    case H5VL_NATIVE_DATASET_CHUNK_ITER:
        return iterate_chunks(object, native->chunk_iter.op, native->chunk_iter.op_data);
    default:
        return vol_refuse(object->lib, "this operation of the native file format");
    }
}

/* ---- Appending ---- */

void vol_append_register(h5_lib *lib) {
    if (lib->append == 0 &&
        lib->H5VLregister_opt_operation(H5VL_SUBCLS_DATASET, ZB_HDF5_APPEND, &lib->append) < 0)
        lib->append = 0;
}

bool vol_is_append(const h5_lib *lib, int operation) {
    return lib->append != 0 && operation == lib->append;
}

/* Whether a dataset can grow along a dimension. */
static bool check(const vol_object *object, const vol_object *of, unsigned dim) {
    h5_lib *lib = of->lib;
    if (!object || object->under || object->type != H5I_DATASET || object->file != of->file) {
        VOL_PUSH(lib, DATASET, BADVALUE, "what grows together are datasets of one file");
        return false;
    }
    if (!vol_may_write(object, "append to a dataset"))
        return false;
    vol_node *node = object->node;
    if (node->loose || vol_node_is_null(node) || dim >= zb_node_array(node->zarr)->ndim ||
        vol_list_member_layout(node) != H5D_CHUNKED) {
        VOL_PUSH(lib, DATASET, BADVALUE, "dataset '%s' has no dimension %u that can grow",
                 node->path, dim);
        return false;
    }
    return true;
}

static bool fill(const vol_object *object, const zb_hdf5_append *args, vol_growth *all) {
    bool good = check(object, object, args->dim);
    all[0] = (vol_growth){.dataset = object->node, .dim = args->dim};
    for (unsigned i = 0; i < args->with_count && good; i++) {
        const unsigned dim = args->with_dim ? args->with_dim[i] : 0;
        const vol_object *other = vol_object_of_id(object->lib, args->with[i]);
        good = check(other, object, dim);
        if (good)
            all[i + 1] = (vol_growth){.dataset = other->node, .dim = dim};
    }
    return good;
}

herr_t vol_append_optional(const vol_object *object, H5VL_optional_args_t *args) {
    h5_lib *lib = object->lib;
    zb_hdf5_append *append = args->args;
    zb_error err = {0};
    uint64_t start;
    const size_t count = (size_t)append->with_count + 1;
    vol_growth *all = calloc(count, sizeof *all);
    if (!all)
        return VOL_PUSH(lib, DATASET, WRITEERROR, "no memory for %zu datasets", count);
    herr_t result = fill(object, append, all) ? 0 : -1;
    if (result >= 0 && vol_edit_append(all, count, append->count, &start, &err) != ZB_OK) {
        VOL_PUSH_ZB(lib, DATASET, WRITEERROR, &err);
        result = -1;
    }
    for (size_t i = 0; i < count && result >= 0; i++)
        vol_node_tell_shape(all[i].dataset);
    free(all);
    if (result >= 0)
        append->start = start;
    return result;
}
