/* SPDX-License-Identifier: MIT */
/* See nested.h. */
#include "copy/nested.h"

#include "attributes/elements.h"
#include "data/transfer.h"
#include "dataset/dataset.h"
#include "hdf5/errors.h"
#include "types/types.h"
#include "tree/tree.h"

#include "zarrbridge/read.h"

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

/* Drops what a piece's elements point at. */
static void drop(const vol_pieces *pieces, vol_node *node, void *buffer) {
    const size_t count = vol_pieces_elements(pieces);
    hid_t saved = vol_stack_save(node->file->lib), type = vol_node_type(node);
    vol_form *form;
    if (vol_form_new(node->file, type, &form, NULL) == ZB_OK) {
        vol_elements_drop(form, count, buffer, NULL);
        memset(buffer, 0, count * form->size);
        vol_form_free(form);
    }
    vol_release_id(node->file->lib, type);
    vol_stack_restore(node->file->lib, saved);
}

static bool make_null(const vol_form *form, uint64_t *token, void *context) {
    (void)form;
    (void)context;
    *token = 0;
    return true;
}

const vol_reference_map vol_references_null = {.visit = make_null};

herr_t vol_references_map(vol_file *file, hid_t type, size_t count, void *elements,
                          const vol_reference_map *map) {
    vol_form *form;
    zb_error err = {0};
    if (vol_form_new(file, type, &form, &err) != ZB_OK)
        return VOL_PUSH_ZB(file->lib, DATASET, CANTCOPY, &err);
    const bool good = vol_elements_references(form, count, elements, map->visit, map->context);
    hid_t saved = vol_stack_save(file->lib);
    vol_form_free(form);
    vol_stack_restore(file->lib, saved);
    return good ? 0 : -1;
}

static herr_t map_references(const vol_pieces *pieces, vol_node *node, const vol_reference_map *map,
                             void *buffer) {
    hid_t type = vol_node_type(node);
    const herr_t result =
        vol_references_map(node->file, type, vol_pieces_elements(pieces), buffer, map);
    vol_release_id(node->file->lib, type);
    return result;
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

/* ---- Strings ---- */

static bool are_strings(const vol_pieces *pieces) {
    const enum zb_kind kind = pieces->info->dtype.kind;
    return kind == ZB_KIND_STRING || kind == ZB_KIND_BYTES;
}

/* item: the bytes of an item of a sequence. */
static vol_text_form form_of(const vol_pieces *pieces, size_t item) {
    const bool is_bytes = pieces->info->dtype.kind == ZB_KIND_BYTES;
    return (vol_text_form){.is_variable = true,
                           .is_bytes = is_bytes,
                           .item = item,
                           .size = is_bytes ? sizeof(hvl_t) : sizeof(char *)};
}

/* An element in HDF5's form is not longer, so the first one is the first to be changed. */
static herr_t make_texts(const vol_pieces *pieces, vol_node *node, void *buffer) {
    const zb_slice *slices = buffer;
    const size_t count = vol_pieces_elements(pieces);
    hid_t type = vol_node_type(node);
    const vol_text_form form = form_of(pieces, vol_type_item(node->file->lib, type));
    vol_release_id(node->file->lib, type);
    zb_error err = {0};
    for (size_t i = 0; i < count; i++) {
        const zb_slice slice = slices[i];
        uint64_t place[ZB_MAX_NDIM];
        if (vol_text_put(&form, slice, (char *)buffer + i * form.size, &err) == ZB_OK)
            continue;
        vol_text_free(&form, buffer, i);
        vol_pieces_place(pieces, i, place);
        return vol_push_element(node, place, &err);
    }
    return 0;
}

herr_t vol_strings_read(const vol_pieces *pieces, vol_node *node, void *buffer) {
    zb_error err = {0};
    zb_read read = {.node = node->zarr,
                    .start = pieces->start,
                    .count = pieces->count,
                    .view = {.data = buffer, .dtype = vol_node_shown(node)}};
    enum zb_code code = are_strings(pieces) ? zb_values_new(&read.view.values, &err) : ZB_OK;
    herr_t result = 0;
    if (code == ZB_OK)
        code = zb_array_read(&read, 1, &err);
    if (code == ZB_OK && are_strings(pieces))
        result = make_texts(pieces, node, buffer);
    zb_values_free(read.view.values);
    if (code == ZB_OK)
        return result;
    return VOL_PUSH_ZB(node->file->lib, DATASET, READERROR, &err);
}

void vol_strings_free(const vol_pieces *pieces, void *buffer) {
    const vol_text_form form = form_of(pieces, 1); /* of which the memory does not depend */
    if (are_strings(pieces))
        vol_text_free(&form, buffer, vol_pieces_elements(pieces));
}

void vol_strings_to_slices(const vol_pieces *pieces, size_t item, void *buffer) {
    const vol_text_form form = form_of(pieces, item);
    zb_slice *slices = buffer;
    for (size_t i = are_strings(pieces) ? vol_pieces_elements(pieces) : 0; i-- > 0;)
        slices[i] = vol_text_get(&form, (const char *)buffer + i * form.size);
}

void vol_slices_free(const vol_pieces *pieces, void *buffer) {
    const zb_slice *slices = buffer;
    for (size_t i = are_strings(pieces) ? vol_pieces_elements(pieces) : 0; i-- > 0;)
        free((void *)(uintptr_t)slices[i].data);
}
