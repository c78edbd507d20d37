/* SPDX-License-Identifier: MIT */
/* See data_from_hdf5.h. */
#include "copy/data_from_hdf5.h"

#include "copy/nested.h"
#include "copy/pieces.h"
#include "copy/zarr_types.h"
#include "dataset/dataset.h"
#include "dataset/writers.h"
#include "hdf5/errors.h"
#include "hdf5/types.h"

#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

#include <stdlib.h>
#include <string.h>

herr_t vol_import_failed(h5_lib *lib, const char *name, zb_error *err) {
    zb_error_prefix(err, err->code, "cannot copy '%s'", name);
    VOL_PUSH_ZB(lib, SYM, CANTCOPY, err);
    return -1;
}

static herr_t copy_piece(const vol_import *import, const vol_pieces *pieces, hid_t source,
                         const vol_import_form *form, hid_t space, zb_writer *writer,
                         void *buffer) {
    h5_lib *lib = import->lib;
    zb_error err = {0};
    hid_t memory = vol_pieces_select(pieces, lib, space);
    if (memory < 0)
        return -1;
    herr_t result = lib->H5Dread(source, form->type, memory, space, import->dxpl, buffer);
    vol_release_id(lib, memory);
    if (result < 0)
        return -1;
    const zb_write write = {
        .start = pieces->start, .count = pieces->count, .data = buffer, .dtype = form->dtype};
    vol_strings_to_slices(pieces, vol_type_item(lib, form->type), buffer);
    const bool fits =
        form->narrow.size == 0 ||
        vol_zarr_type_holds(form->dtype, buffer, vol_pieces_elements(pieces), form->narrow);
    enum zb_code code = fits ? zb_writer_write(writer, &write, &err) : vol_fail_narrow(&err);
    vol_slices_free(pieces, buffer);
    if (code == ZB_OK)
        return 0;
    VOL_PUSH_ZB(lib, DATASET, WRITEERROR, &err);
    return -1;
}

/* Whether an element that the source has not written is the new array's fill value: HDF5 reads
   both. */
static bool fills_alike(const vol_import *import, hid_t source, const vol_import_form *form,
                        hid_t space, const vol_node *node, const vol_pieces *probe) {
    h5_lib *lib = import->lib;
    const size_t size = form->dtype.size;
    unsigned char *both = calloc(2, size);
    hid_t saved = vol_stack_save(lib), memory = vol_pieces_select(probe, lib, space);
    const zb_read read = {.node = node->zarr,
                          .start = probe->start,
                          .count = probe->count,
                          .view = {.data = both ? both + size : NULL, .dtype = form->dtype}};
    bool alike = both && memory >= 0 &&
                 lib->H5Dread(source, form->type, memory, space, import->dxpl, both) >= 0 &&
                 zb_array_read(&read, 1, NULL) == ZB_OK && memcmp(both, both + size, size) == 0;
    vol_release_id(lib, memory);
    vol_stack_restore(lib, saved);
    free(both);
    return alike;
}

/* Leaves out chunks that the source has not written. */
static void leave_out(const vol_import *import, hid_t source, const vol_import_form *form,
                      hid_t space, const vol_node *node, vol_pieces *pieces,
                      vol_stored_chunks *stored) {
    vol_pieces probe;
    if (!zb_dtype_is_variable(pieces->info->dtype) &&
        vol_stored_of_hdf5(import->lib, source, node->zarr, stored) &&
        vol_pieces_left_out(pieces, stored, &probe) &&
        fills_alike(import, source, form, space, node, &probe))
        vol_pieces_only(pieces, stored);
}

/* Elements that are texts in the store go the way of a program's own. */
static herr_t copy_nested(const vol_import *import, vol_pieces *pieces, hid_t source, hid_t space,
                          vol_node *node) {
    zb_error err = {0};
    herr_t result = 0;
    void *buffer = vol_nested_buffer(pieces, node);
    if (!buffer)
        return -1;
    for (; !pieces->done && result >= 0; vol_pieces_next(pieces))
        result = vol_nested_import(pieces, source, space, node, import->dxpl, import->references,
                                   buffer);
    free(buffer);
    if (result >= 0 && vol_writer_close(node, &err) != ZB_OK)
        result = vol_import_failed(import->lib, node->path, &err);
    return result;
}

static herr_t copy_visited(const vol_import *import, hid_t source, const vol_import_form *form,
                           hid_t space, vol_node *node, vol_pieces *pieces) {
    zb_writer *writer;
    zb_error err = {0};
    herr_t result = 0;
    if (vol_writer_get(node, &writer, &err) != ZB_OK)
        return vol_import_failed(import->lib, node->path, &err);
    const uint64_t bytes = pieces->elements * (uint64_t)form->dtype.size;
    void *buffer = malloc(bytes);
    if (!buffer) {
        zb_fail(&err, ZB_ENOMEM, "no memory for a piece of %llu bytes", (unsigned long long)bytes);
        return vol_import_failed(import->lib, node->path, &err);
    }
    for (; !pieces->done && result >= 0; vol_pieces_next(pieces))
        result = copy_piece(import, pieces, source, form, space, writer, buffer);
    free(buffer);
    if (result >= 0 && vol_writer_close(node, &err) != ZB_OK)
        result = vol_import_failed(import->lib, node->path, &err);
    return result;
}

herr_t vol_data_from_hdf5(const vol_import *import, hid_t source, const vol_import_form *form,
                          hid_t space, vol_node *node) {
    vol_pieces pieces;
    vol_pieces_begin(&pieces, node->zarr);
    if (pieces.done)
        return 0;
    if (vol_node_is_nested(node))
        return copy_nested(import, &pieces, source, space, node);
    vol_stored_chunks stored = {.array = NULL};
    leave_out(import, source, form, space, node, &pieces, &stored);
    herr_t result = copy_visited(import, source, form, space, node, &pieces);
    vol_stored_chunks_free(&stored);
    return result;
}
