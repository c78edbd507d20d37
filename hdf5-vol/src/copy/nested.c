/* SPDX-License-Identifier: MIT */
/* See nested.h. */
#include "copy/nested.h"

#include "attributes/elements.h"
#include "data/transfer.h"
#include "dataset/dataset.h"
#include "hdf5/errors.h"
#include "tree/tree.h"

#include <stdlib.h>
#include <string.h>

void *vol_nested_buffer(const vol_pieces *pieces, vol_node *node) {
    h5_lib *lib = node->file->lib;
    hid_t type = vol_node_type(node);
    const size_t size = lib->H5Tget_size(type);
    vol_release_id(lib, type);
    void *buffer =
        size > 0 && size <= VOL_ATTR_LARGEST ? calloc((size_t)pieces->elements, size) : NULL;
    if (!buffer)
        VOL_PUSH(lib, DATASET, READERROR, "no memory for a piece of %llu elements",
                 (unsigned long long)pieces->elements);
    return buffer;
}

static enum zb_code new_form(vol_node *node, vol_form **out, zb_error *err) {
    hid_t type = vol_node_type(node);
    enum zb_code code = vol_form_new(node->file, type, out, err);
    vol_release_id(node->file->lib, type);
    return code;
}

/* Drops what a piece's elements point at. */
static void drop(const vol_pieces *pieces, vol_node *node, void *buffer) {
    const size_t count = vol_pieces_elements(pieces);
    hid_t saved = vol_stack_save(node->file->lib);
    vol_form *form;
    if (new_form(node, &form, NULL) == ZB_OK) {
        vol_elements_drop(form, count, buffer, NULL);
        memset(buffer, 0, count * form->size);
        vol_form_free(form);
    }
    vol_stack_restore(node->file->lib, saved);
}

static bool make_null(const vol_form *form, uint64_t *token, void *context) {
    (void)form;
    (void)context;
    *token = 0;
    return true;
}

const vol_reference_map vol_references_null = {.visit = make_null};

static herr_t map_references(const vol_pieces *pieces, vol_node *node, const vol_reference_map *map,
                             void *buffer) {
    vol_form *form;
    zb_error err = {0};
    if (new_form(node, &form, &err) != ZB_OK) {
        VOL_PUSH_ZB(node->file->lib, DATASET, CANTCOPY, &err);
        return -1;
    }
    const bool good = vol_elements_references(form, vol_pieces_elements(pieces), buffer, map->visit,
                                              map->context);
    hid_t saved = vol_stack_save(node->file->lib);
    vol_form_free(form);
    vol_stack_restore(node->file->lib, saved);
    return good ? 0 : -1;
}

/* The node's part of a piece: between the store and the buffer. */
static herr_t transfer(const vol_pieces *pieces, vol_node *node, void *buffer, bool writing) {
    h5_lib *lib = node->file->lib;
    hsize_t dims[ZB_MAX_NDIM];
    for (uint32_t d = 0; d < pieces->info->ndim; d++)
        dims[d] = pieces->info->shape[d];
    hid_t space = pieces->info->ndim > 0
                      ? lib->H5Screate_simple((int)pieces->info->ndim, dims, NULL)
                      : lib->H5Screate(H5S_SCALAR);
    hid_t memory = space < 0 ? -1 : vol_pieces_select(pieces, lib, space);
    const vol_dxpl plain = {.id = *lib->H5P_LST_DATASET_XFER_ID_g};
    const vol_transfer args = {.node = node,
                               .mem_type = vol_node_type(node),
                               .mem_space = memory,
                               .file_space = space,
                               .buffer = buffer};
    herr_t result = -1;
    if (memory >= 0)
        result = writing ? vol_write_datasets(lib, &args, 1, &plain)
                         : vol_read_datasets(lib, &args, 1, &plain);
    vol_release_id(lib, args.mem_type);
    vol_release_id(lib, memory);
    vol_release_id(lib, space);
    return result;
}

/* Stores elements in memory, which are dropped, with references of the copy. */
static herr_t store(const vol_pieces *pieces, vol_node *node, const vol_reference_map *map,
                    void *buffer) {
    herr_t result = map_references(pieces, node, map, buffer);
    if (result >= 0)
        result = transfer(pieces, node, buffer, true);
    drop(pieces, node, buffer);
    return result;
}

herr_t vol_nested_import(const vol_pieces *pieces, hid_t source, hid_t space, vol_node *node,
                         hid_t dxpl, const vol_reference_map *map, void *buffer) {
    h5_lib *lib = node->file->lib;
    hid_t type = vol_node_type(node), memory = vol_pieces_select(pieces, lib, space);
    herr_t result = -1;
    if (type >= 0 && memory >= 0)
        result = lib->H5Dread(source, type, memory, space, dxpl, buffer);
    vol_release_id(lib, type);
    vol_release_id(lib, memory);
    return result < 0 ? -1 : store(pieces, node, map, buffer);
}

herr_t vol_nested_change(const vol_pieces *pieces, vol_node *node, const vol_reference_map *map,
                         void *buffer) {
    herr_t result = transfer(pieces, node, buffer, false);
    return result < 0 ? -1 : store(pieces, node, map, buffer);
}

herr_t vol_nested_export(const vol_pieces *pieces, vol_node *node, void *dataset, hid_t space,
                         hid_t dxpl, const vol_reference_map *map, void *buffer) {
    h5_lib *lib = node->file->lib;
    hid_t type = vol_node_type(node), memory = vol_pieces_select(pieces, lib, space);
    const void *data = buffer;
    herr_t result = type < 0 || memory < 0 ? -1 : transfer(pieces, node, buffer, false);
    if (result >= 0) {
        result = map_references(pieces, node, map, buffer);
        if (result >= 0)
            result = lib->H5VLdataset_write(1, &dataset, lib->native, &type, &memory, &space, dxpl,
                                            &data, NULL);
        drop(pieces, node, buffer);
    }
    vol_release_id(lib, type);
    vol_release_id(lib, memory);
    return result;
}
