/* SPDX-License-Identifier: MIT */
/* Strings on their way between a store and an HDF5 file: see strings.h. */
#include "copy/strings.h"

#include "data/transfer.h"
#include "dataset/dataset.h"
#include "hdf5/errors.h"
#include "hdf5/types.h"

#include "zarrbridge/read.h"

#include <stdlib.h>
#include <string.h>

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
    VOL_PUSH_ZB(node->file->lib, DATASET, READERROR, &err);
    return -1;
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
