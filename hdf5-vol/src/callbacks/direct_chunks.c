/* SPDX-License-Identifier: MIT */
/* See direct_chunks.h. */
#include "callbacks/direct_chunks.h"

#include "create/creation_list.h"
#include "create/codecs_to_filters.h"
#include "data/transfer.h"
#include "dataset/dataset.h"
#include "hdf5/errors.h"
#include "hdf5/library.h"

#include <stdlib.h>
#include <string.h>

/* One chunk: of the store's dataset, as elements, and of a dataset in memory that has no other
   one. */
typedef struct chunk {
    h5_lib *lib;
    vol_node *node;
    hid_t type;
    hid_t dcpl;                                      /* borrowed from the node */
    hsize_t shape[ZB_MAX_NDIM], inside[ZB_MAX_NDIM]; /* inside: the part within the dataset */
    const hsize_t *offset;
    uint32_t ndim;
    size_t bytes; /* of all elements */
    char *elements;
    hid_t space, memory, file; /* of the chunk; selections of the part inside */
    hid_t scratch, dataset;    /* the one in memory */
} chunk;

bool vol_direct_has(vol_node *dataset) {
    h5_lib *lib = dataset->file->lib;
    const zb_array_info *info = zb_node_array(dataset->zarr);
    for (uint32_t d = 0; d < info->ndim; d++)
        if (zb_array_run_count(dataset->zarr, d) > 0)
            return false;
    if (dataset->is_unreadable || zb_dtype_is_variable(info->dtype))
        return false;
    hid_t type = vol_node_type(dataset);
    const bool has = type >= 0 && lib->H5Tdetect_class(type, H5T_REFERENCE) == 0 &&
                     lib->H5Tdetect_class(type, H5T_VLEN) == 0;
    vol_release_id(lib, type);
    return has;
}

static void chunk_end(chunk *c) {
    const hid_t ids[] = {c->type, c->space, c->memory, c->file, c->dataset, c->scratch};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        vol_release_id(c->lib, ids[i]);
    free(c->elements);
}

static herr_t fail_memory(const chunk *c) {
    return VOL_PUSH(c->lib, DATASET, READERROR, "no memory for a chunk of '%s'", c->node->path);
}

/* The selection of the part inside, in a space of its own: of the chunk, or of the dataset. */
static hid_t select_inside(const chunk *c, hid_t space, const hsize_t *start) {
    if (space >= 0 &&
        c->lib->H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, c->inside, NULL) >= 0)
        return space;
    vol_release_id(c->lib, space);
    return -1;
}

/* What lies beyond the dataset's edge has the fill value. */
static bool fill(const chunk *c) {
    const zb_array_info *info = zb_node_array(c->node->zarr);
    const zb_dtype shown = vol_node_shown(c->node);
    if (!zb_dtype_convert(info->dtype, info->fill_value, shown, c->elements, 1))
        return false;
    for (size_t at = shown.size; at < c->bytes; at += shown.size)
        memcpy(c->elements + at, c->elements, shown.size);
    return true;
}

/* chunk_end is due also after a failure. */
static herr_t chunk_begin(const vol_object *object, const hsize_t *offset, chunk *c) {
    static const hsize_t origin[ZB_MAX_NDIM];
    vol_node *node = object->node;
    h5_lib *lib = object->lib;
    const zb_array_info *info = zb_node_array(node->zarr);
    *c = (chunk){.lib = lib, .node = node, .offset = offset, .ndim = info->ndim};
    c->type = c->space = c->memory = c->file = c->dataset = c->scratch = -1;
    if (!vol_direct_has(node))
        return VOL_PUSH(
            lib, DATASET, UNSUPPORTED,
            "chunks of '%s' cannot be read or written directly, because of its type or of "
            "their several extents: use H5Dread and H5Dwrite",
            node->path);
    c->type = vol_node_type(node);
    c->dcpl = vol_node_dcpl(node);
    c->bytes = vol_node_shown(node).size;
    if (lib->H5Pget_chunk(c->dcpl, ZB_MAX_NDIM, c->shape) != (int)c->ndim)
        return -1;
    for (uint32_t d = 0; d < c->ndim; d++) {
        const hsize_t rest = info->shape[d] - offset[d];
        c->inside[d] = rest < c->shape[d] ? rest : c->shape[d];
        if (__builtin_mul_overflow(c->bytes, c->shape[d], &c->bytes))
            return fail_memory(c);
    }
    c->elements = calloc(1, c->bytes);
    c->space = lib->H5Screate_simple((int)c->ndim, c->shape, NULL);
    c->memory = select_inside(c, lib->H5Scopy(c->space), origin);
    c->file = select_inside(c, vol_node_space(node, false), offset);
    return c->elements && c->space >= 0 && c->memory >= 0 && c->file >= 0 && fill(c)
               ? 0
               : fail_memory(c);
}

/* Elements of the store's dataset, from or to it. */
static herr_t transfer(const chunk *c, bool writing) {
    vol_dxpl list;
    const vol_transfer one = {.node = c->node,
                              .mem_type = c->type,
                              .mem_space = c->memory,
                              .file_space = c->file,
                              .buffer = c->elements};
    if (vol_dxpl_make(c->lib, *c->lib->H5P_LST_DATASET_XFER_ID_g, &list) < 0)
        return -1;
    return writing ? vol_write_datasets(c->lib, &one, 1, &list)
                   : vol_read_datasets(c->lib, &one, 1, &list);
}

/* ---- The dataset in memory ---- */

static herr_t make_scratch(chunk *c, hid_t dcpl) {
    c->scratch = vol_scratch_file(c->lib);
    if (c->scratch >= 0)
        c->dataset = c->lib->H5Dcreate_anon(c->scratch, c->type, c->space, dcpl, H5P_DEFAULT);
    return c->dataset < 0 ? -1 : 0;
}

static herr_t ask_native(const chunk *c, int operation, void *native) {
    H5VL_optional_args_t args = {.op_type = operation, .args = native};
    return c->lib->H5VLdataset_optional(c->lib->H5VLobject(c->dataset), c->lib->native, &args,
                                        *c->lib->H5P_LST_DATASET_XFER_ID_g, NULL);
}

static herr_t filter_elements(chunk *c, hsize_t *size) {
    static const hsize_t origin[ZB_MAX_NDIM];
    H5VL_native_dataset_optional_args_t native = {
        .get_chunk_storage_size = {.offset = origin, .size = size}};
    if (make_scratch(c, c->dcpl) < 0 ||
        c->lib->H5Dwrite(c->dataset, c->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, c->elements) < 0)
        return -1;
    return ask_native(c, H5VL_NATIVE_DATASET_GET_CHUNK_STORAGE_SIZE, &native);
}

static herr_t take_filtered(const chunk *c, void *buffer, size_t *buffer_size, uint32_t *mask) {
    static const hsize_t origin[ZB_MAX_NDIM];
    h5_chunk_read args = {.offset = origin, .buffer = buffer, .buffer_size = buffer_size};
    if (ask_native(c, H5VL_NATIVE_DATASET_CHUNK_READ, &args) < 0)
        return -1;
    *mask = args.filters;
    return 0;
}

/* HDF5's own account of what failed, "filter returned failure", would hide ours. */
static herr_t read_elements(const chunk *c) {
    hid_t saved = vol_stack_save(c->lib);
    herr_t result =
        c->lib->H5Dread(c->dataset, c->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, c->elements);
    vol_stack_restore(c->lib, saved);
    if (result < 0)
        VOL_PUSH(c->lib, DATASET, BADVALUE,
                 "these bytes are no chunk of '%s': its filters do not make the chunk's %zu bytes "
                 "of them",
                 c->node->path, c->bytes);
    return result;
}

static herr_t unfilter(chunk *c, uint32_t mask, size_t size, const void *bytes) {
    static const hsize_t origin[ZB_MAX_NDIM];
    h5_chunk_write args = {.offset = origin, .size = size, .buffer = bytes};
    h5_chunk_write_v1 old;
    const hid_t checked = vol_size_checked(c->lib, c->dcpl, mask, c->bytes);
    herr_t result = checked < 0 ? -1 : make_scratch(c, checked);
    vol_release_id(c->lib, checked);
    if (result < 0 ||
        ask_native(c, H5VL_NATIVE_DATASET_CHUNK_WRITE, h5_chunk_write_for(c->lib, &args, &old)) < 0)
        return -1;
    return read_elements(c);
}

/* ---- The calls ---- */

static bool has_filters(const chunk *c) {
    return c->lib->H5Pget_nfilters(c->dcpl) > 0;
}

/* The elements of the chunk, and the bytes that they come to. */
static herr_t measure(const vol_object *object, const hsize_t *offset, chunk *c, hsize_t *size) {
    if (chunk_begin(object, offset, c) < 0)
        return -1;
    *size = c->bytes;
    if (has_filters(c))
        return transfer(c, false) < 0 || filter_elements(c, size) < 0 ? -1 : 0;
    return 0;
}

herr_t vol_direct_size(const vol_object *object, const hsize_t *offset, hsize_t *size) {
    chunk c;
    herr_t result = measure(object, offset, &c, size);
    chunk_end(&c);
    return result;
}

/* Only a program that has told the size of its buffer can have too little. */
static herr_t give(chunk *c, hsize_t size, void *buffer, size_t *buffer_size, uint32_t *mask) {
    const size_t given = buffer_size ? *buffer_size : (size_t)size;
    size_t taken = (size_t)size;
    *mask = 0;
    if (buffer_size)
        *buffer_size = (size_t)size;
    if (!buffer)
        return 0;
    if (given < size)
        return VOL_PUSH(c->lib, DATASET, READERROR,
                        "a chunk of '%s' has %llu bytes, the buffer %zu", c->node->path,
                        (unsigned long long)size, given);
    if (has_filters(c))
        return take_filtered(c, buffer, &taken, mask);
    if (transfer(c, false) < 0)
        return -1;
    memcpy(buffer, c->elements, c->bytes);
    return 0;
}

herr_t vol_direct_read(const vol_object *object, const hsize_t *offset, void *buffer,
                       size_t *buffer_size, uint32_t *mask) {
    chunk c;
    hsize_t size = 0;
    herr_t result = measure(object, offset, &c, &size);
    if (result >= 0)
        result = give(&c, size, buffer, buffer_size, mask);
    chunk_end(&c);
    return result;
}

/* Bytes that the filters cannot take back change nothing. Those of the mask have not been
   applied. */
static herr_t take(chunk *c, uint32_t mask, size_t size, const void *bytes) {
    if (has_filters(c))
        return unfilter(c, mask, size, bytes);
    if (size == c->bytes) {
        memcpy(c->elements, bytes, size);
        return 0;
    }
    return VOL_PUSH(c->lib, DATASET, BADVALUE, "a chunk of '%s' has %zu bytes, not %zu",
                    c->node->path, c->bytes, size);
}

herr_t vol_direct_write(const vol_object *object, const hsize_t *offset, uint32_t mask, size_t size,
                        const void *bytes) {
    chunk c;
    if (!vol_may_write(object, "write a chunk"))
        return -1;
    herr_t result = chunk_begin(object, offset, &c);
    if (result >= 0)
        result = take(&c, mask, size, bytes);
    if (result >= 0)
        result = transfer(&c, true);
    chunk_end(&c);
    return result;
}
