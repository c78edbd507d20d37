/* SPDX-License-Identifier: MIT */
/* See data_to_hdf5.h. */
#include "copy/data_to_hdf5.h"

#include "copy/nested.h"
#include "copy/pieces.h"
#include "create/creation_list.h"
#include "dataset/dataset.h"
#include "dataset/writers.h"
#include "hdf5/errors.h"
#include "hdf5/types.h"
#include "objects/token_search.h"

#include <stdlib.h>
#include <string.h>

/* In compounds and sequences HDF5 itself leaves addresses of the other file, which mean nothing. */
bool vol_export_reference(const vol_form *form, uint64_t *token, void *context) {
    const vol_export *all = context;
    h5_lib *lib = all->copies->lib;
    const vol_node *node = vol_node_by_token(form->file, *token, NULL);
    if (!node || all->are_null) {
        *token = 0;
        return true;
    }
    *token = all->expands ? vol_copies_address(all->copies, node) : 0;
    if (*token)
        return true;
    if (all->expands)
        VOL_PUSH(lib, SYM, CANTCOPY,
                 "a reference in '%s' leads to '%s', which is not copied: copy a group that holds "
                 "both",
                 all->node->path, node->path);
    else
        VOL_PUSH(
            lib, SYM, CANTCOPY,
            "the references in '%s' lead to places in the store: copy a group that holds their "
            "objects, too, with H5O_COPY_EXPAND_REFERENCE_FLAG (h5copy -f ref)",
            all->node->path);
    return false;
}

/* Reads and writes one piece. `space` is the dataset's dataspace. */
static herr_t copy_piece(const vol_copies *copies, const vol_pieces *pieces, vol_node *node,
                         void *dataset, hid_t space, void *buffer) {
    h5_lib *lib = copies->lib;
    hid_t mem_space = vol_pieces_select(pieces, lib, space);
    const void *data = buffer;
    if (mem_space < 0)
        return -1;
    hid_t type = vol_node_type(node);
    herr_t result = type < 0 ? -1 : vol_strings_read(pieces, node, buffer);
    if (result >= 0) {
        result = lib->H5VLdataset_write(1, &dataset, lib->native, &type, &mem_space, &space,
                                        copies->dxpl, &data, NULL);
        vol_strings_free(pieces, buffer);
    }
    vol_release_id(lib, type);
    vol_release_id(lib, mem_space);
    return result;
}

/* Whether an element that nobody has written is the same on both sides. */
static bool fills_alike(const vol_copies *copies, vol_node *node, void *dataset, hid_t space,
                        const vol_pieces *probe) {
    h5_lib *lib = copies->lib;
    const size_t size = vol_node_shown(node).size;
    hid_t type = vol_node_type(node), saved = vol_stack_save(lib);
    hid_t memory = vol_pieces_select(probe, lib, space);
    unsigned char *both = calloc(2, size);
    void *made = both;
    bool alike = both && type >= 0 && memory >= 0 &&
                 lib->H5VLdataset_read(1, &dataset, lib->native, &type, &memory, &space,
                                       copies->dxpl, &made, NULL) >= 0 &&
                 vol_strings_read(probe, node, both + size) >= 0 &&
                 memcmp(both, both + size, size) == 0;
    vol_release_id(lib, type);
    vol_release_id(lib, memory);
    vol_stack_restore(lib, saved);
    free(both);
    return alike;
}

/* Leaves out chunks that the store does not have. Only a chunked dataset gives the fill value for
   what is not written, in every file. */
static void leave_out(const vol_copies *copies, vol_node *node, void *dataset, hid_t space,
                      vol_pieces *pieces, vol_stored_chunks *stored) {
    vol_pieces probe;
    if (!zb_dtype_is_variable(pieces->info->dtype) &&
        copies->lib->H5Pget_layout(vol_node_dcpl(node)) == H5D_CHUNKED && pieces->info->ndim > 0 &&
        vol_stored_chunks_of(node->zarr, ZB_GRID_CHUNKS, stored, NULL) == ZB_OK &&
        vol_pieces_left_out(pieces, stored, &probe) &&
        fills_alike(copies, node, dataset, space, &probe))
        vol_pieces_only(pieces, stored);
}

/* Elements that are texts in the store go the way of a program's own. */
static herr_t copy_nested(const vol_copies *copies, bool expands, vol_node *node, void *dataset,
                          hid_t space, vol_pieces *pieces) {
    const bool is_plain = vol_node_held_type(node)->class == H5T_REFERENCE;
    vol_export references = {
        .copies = copies, .node = node, .expands = expands, .are_null = is_plain && !expands};
    const vol_reference_map map = {.visit = vol_export_reference, .context = &references};
    herr_t result = 0;
    void *buffer = vol_nested_buffer(pieces, node);
    if (!buffer)
        return -1;
    for (; !pieces->done && result >= 0; vol_pieces_next(pieces))
        result = vol_nested_export(pieces, node, dataset, space, copies->dxpl, &map, buffer);
    free(buffer);
    return result;
}

herr_t vol_data_to_hdf5(const vol_copies *copies, bool expands, vol_node *node, void *dataset,
                        hid_t space) {
    vol_pieces pieces;
    zb_error err = {0};
    if (vol_writer_flush(node, &err) != ZB_OK) {
        VOL_PUSH_ZB(copies->lib, DATASET, CANTFLUSH, &err);
        return -1;
    }
    vol_pieces_begin(&pieces, node->zarr);
    if (pieces.done)
        return 0; /* an empty array */
    if (vol_node_is_nested(node))
        return copy_nested(copies, expands, node, dataset, space, &pieces);
    /* Elements are copied in the form in which programs see them. */
    const uint64_t bytes =
        pieces.bytes / pieces.info->dtype.size * (uint64_t)vol_node_shown(node).size;
    void *buffer = bytes > 0 ? calloc(1, bytes) : NULL; /* gaps between members are zeros */
    if (!buffer) {
        VOL_PUSH(copies->lib, DATASET, READERROR, "no memory for a piece of %llu bytes",
                 (unsigned long long)bytes);
        return -1;
    }
    herr_t result = 0;
    vol_stored_chunks stored = {.array = NULL};
    leave_out(copies, node, dataset, space, &pieces, &stored);
    for (; !pieces.done && result >= 0; vol_pieces_next(&pieces))
        result = copy_piece(copies, &pieces, node, dataset, space, buffer);
    vol_stored_chunks_free(&stored);
    free(buffer);
    return result;
}
