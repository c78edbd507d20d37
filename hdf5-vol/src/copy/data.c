/* SPDX-License-Identifier: MIT */
/* The elements of datasets in copies: see data.h. */
#include "copy/data.h"

#include "encoded/moved_chunks.h"
#include "copy/nested.h"
#include "copy/pieces.h"
#include "create/creation_list.h"
#include "dataset/dataset.h"
#include "dataset/writers.h"
#include "hdf5/errors.h"
#include "hdf5/shown.h"
#include "hdf5/times.h"
#include "types/types.h"
#include "objects/token_search.h"

#include "zarrbridge/conventions.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Types that only Zarr has ---- */

/* The text of an attribute that is one string; malloc'ed, or NULL. */
static char *text_of(h5_lib *lib, hid_t attr) {
    hid_t type = lib->H5Aget_type(attr), space = lib->H5Aget_space(attr);
    char *text = NULL;
    if (lib->H5Tget_class(type) == H5T_STRING && lib->H5Sget_select_npoints(space) == 1) {
        const size_t size = lib->H5Tget_size(type);
        char *element = calloc(1, size);
        if (element && lib->H5Aread(attr, type, element) >= 0) {
            text = vol_attr_text(lib, type, element);
            if (lib->H5Tis_variable_str(type) > 0)
                lib->H5Treclaim(type, space, H5P_DEFAULT, element);
        }
        free(element);
    }
    vol_release_id(lib, type);
    vol_release_id(lib, space);
    return text;
}

/* ---- The type ---- */

/* As zb_dtype_print says it; the size has to be that of the elements. */
static bool text_named(const char *name, zb_dtype *out) {
    unsigned size;
    int end = 0;
    if (sscanf(name, "fixed_length_utf32[%9u]%n", &size, &end) != 1 || end == 0 ||
        name[end] != '\0' || size == 0 || size % sizeof(uint32_t) != 0)
        return false;
    *out = (zb_dtype){.kind = ZB_KIND_UTF32, .size = size};
    return true;
}

/* A type that shows as another one, whatever it is. */
static bool shown_type_named(const char *name, zb_dtype *out) {
    return zb_dtype_from_name(name, out) && !zb_dtype_equal(zb_dtype_shown(*out), *out);
}

static bool parse(const char *name, zb_dtype_detail *detail, zb_dtype *out) {
    return vol_time_named(name, detail, out) || text_named(name, out) ||
           shown_type_named(name, out);
}

bool vol_zarr_type_of(h5_lib *lib, hid_t source, hid_t type, zb_dtype_detail *detail,
                      zb_dtype *out) {
    vol_silence silence;
    vol_silence_begin(lib, &silence);
    hid_t attr = lib->H5Aopen(source, VOL_DATA_TYPE, H5P_DEFAULT); /* most have none */
    char *name = attr >= 0 ? text_of(lib, attr) : NULL;
    const bool good = name && parse(name, detail, out) && vol_type_shows(lib, type, *out);
    free(name);
    vol_release_id(lib, attr);
    vol_silence_end(lib, &silence);
    return good;
}

/* ---- Elements ---- */

/* A float that is no number may be another such. */
static bool are_same(zb_dtype dtype, const char *a, const char *b, size_t count) {
    if (memcmp(a, b, count * dtype.size) == 0)
        return true;
    if (dtype.kind != ZB_KIND_FLOAT && dtype.kind != ZB_KIND_COMPLEX)
        return false;
    for (size_t i = 0; i < count * dtype.size / sizeof(float); i++) {
        float left, right;
        memcpy(&left, a + i * sizeof left, sizeof left);
        memcpy(&right, b + i * sizeof right, sizeof right);
        if (memcmp(&left, &right, sizeof left) != 0 && !(isnan(left) && isnan(right)))
            return false;
    }
    return true;
}

bool vol_zarr_type_holds(zb_dtype from, const void *elements, size_t count, zb_dtype to) {
    enum { PART = 4096 };
    const char *at = elements;
    char *there = malloc(PART * (size_t)to.size), *back = malloc(PART * (size_t)from.size);
    bool good = there && back;
    for (size_t i = 0; i < count && good; i += PART, at += PART * (size_t)from.size) {
        const size_t some = count - i < PART ? count - i : PART;
        good = zb_dtype_convert(from, at, to, there, some) &&
               zb_dtype_convert(to, there, from, back, some) && are_same(from, at, back, some);
    }
    free(there);
    free(back);
    return good;
}

enum zb_code vol_fail_narrow(zb_error *err) {
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "an element does not fit into the type that the attribute '" VOL_DATA_TYPE
                   "' names; delete the attribute to keep the type that the elements have");
}

/* ---- Elements on their way ---- */

/* Between an array of a store and a dataset of an HDF5 file. */
typedef struct elements {
    const struct direction *to;
    h5_lib *lib;
    hid_t dxpl;
    vol_node *node;
    hid_t source;      /* the dataset, where elements come from it, */
    void *dataset;     /* and as native object */
    hid_t type, space; /* of its elements in memory, and of all of it */
    zb_dtype dtype;    /* as `type` */
    zb_dtype narrow;   /* see vol_import_form */
    const vol_reference_map *references;
} elements;

/* What differs between both ways. All push errors, but `list`. */
typedef struct direction {
    /* Copies the piece by way of a buffer of zeros: elements as they are; such as are texts in the
       store. */
    herr_t (*copy)(const elements *e, const vol_pieces *pieces, void *buffer);
    herr_t (*copy_nested)(const elements *e, const vol_pieces *pieces, void *buffer);
    /* Moves encoded chunks. *all: nothing is left to do. */
    herr_t (*move)(const elements *e, const vol_moves *moves, bool *all);
    /* Lists the chunks of the array that the source has written, if others may be left out. */
    bool (*list)(const elements *e, vol_stored_chunks *out);
} direction;

/* Whether an element that the source has not written, the first of the piece, is the same on both
   sides. */
static bool fills_alike(void *context, const vol_pieces *probe) {
    const elements *e = context;
    h5_lib *lib = e->lib;
    void *dataset = e->dataset;
    hid_t type = e->type, space = e->space;
    const size_t size = e->dtype.size;
    unsigned char *both = calloc(2, size);
    void *first = both;
    hid_t saved = vol_stack_save(lib), memory = vol_pieces_select(probe, lib, e->space);
    const zb_read read = {.node = e->node->zarr,
                          .start = probe->start,
                          .count = probe->count,
                          .view = {.data = both ? both + size : NULL, .dtype = e->dtype}};
    bool alike = both && memory >= 0 &&
                 lib->H5VLdataset_read(1, &dataset, lib->native, &type, &memory, &space, e->dxpl,
                                       &first, NULL) >= 0 &&
                 zb_array_read(&read, 1, NULL) == ZB_OK && memcmp(both, both + size, size) == 0;
    vol_release_id(lib, memory);
    vol_stack_restore(lib, saved);
    free(both);
    return alike;
}

/* Gaps between members are zeros. */
static void *new_buffer(const elements *e, uint64_t count) {
    void *buffer = calloc(count, e->dtype.size);
    if (!buffer)
        VOL_PUSH(e->lib, DATASET, CANTCOPY, "cannot copy '%s': no memory for %llu elements",
                 e->node->path, (unsigned long long)count);
    return buffer;
}

static herr_t copy_box(void *context, const uint64_t *start, const uint64_t *count) {
    const elements *e = context;
    const vol_pieces box = vol_pieces_of_box(e->node->zarr, start, count);
    void *buffer = new_buffer(e, vol_pieces_elements(&box));
    const herr_t result = buffer ? e->to->copy(e, &box, buffer) : -1;
    free(buffer);
    return result;
}

static herr_t copy_pieces(const elements *e, vol_pieces *pieces) {
    const bool is_nested = vol_node_is_nested(e->node);
    void *buffer = is_nested ? vol_nested_buffer(pieces, e->node) : new_buffer(e, pieces->elements);
    herr_t result = buffer ? 0 : -1;
    for (; !pieces->done && result >= 0; vol_pieces_next(pieces))
        result = is_nested ? e->to->copy_nested(e, pieces, buffer) : e->to->copy(e, pieces, buffer);
    free(buffer);
    return result;
}

/* Chunks move where they can, and those that are not written are left out. Elements that are texts
   in the store go the way of a program's own. */
static herr_t copy_all(elements *e) {
    const vol_moves moves = {.lib = e->lib,
                             .dxpl = e->dxpl,
                             .node = e->node,
                             .copy_box = copy_box,
                             .fills_alike = fills_alike,
                             .context = e};
    vol_stored_chunks stored = {.array = NULL};
    vol_pieces pieces, probe;
    bool all = false;
    vol_pieces_begin(&pieces, e->node->zarr);
    if (pieces.done)
        return 0; /* an empty array */
    if (vol_node_is_nested(e->node))
        return copy_pieces(e, &pieces);
    herr_t result = e->narrow.size > 0 ? 0 : e->to->move(e, &moves, &all);
    if (all)
        return result;
    if (!zb_dtype_is_variable(pieces.info->dtype) && e->to->list(e, &stored) &&
        vol_stored_left_out(&stored, &probe) && fills_alike(e, &probe))
        vol_pieces_only(&pieces, &stored);
    result = copy_pieces(e, &pieces);
    vol_stored_chunks_free(&stored);
    return result;
}

/* ---- From an HDF5 file ---- */

static herr_t import_piece(const elements *e, const vol_pieces *pieces, void *buffer) {
    h5_lib *lib = e->lib;
    zb_writer *writer;
    zb_error err = {0};
    if (vol_writer_get(e->node, &writer, &err) != ZB_OK)
        return vol_copy_failed(lib, e->node->path, &err);
    hid_t memory = vol_pieces_select(pieces, lib, e->space);
    if (memory < 0)
        return -1;
    herr_t result = lib->H5Dread(e->source, e->type, memory, e->space, e->dxpl, buffer);
    vol_release_id(lib, memory);
    if (result < 0)
        return -1;
    const zb_write write = {
        .start = pieces->start, .count = pieces->count, .data = buffer, .dtype = e->dtype};
    vol_strings_to_slices(pieces, vol_type_item(lib, e->type), buffer);
    const bool fits = e->narrow.size == 0 ||
                      vol_zarr_type_holds(e->dtype, buffer, vol_pieces_elements(pieces), e->narrow);
    enum zb_code code = fits ? zb_writer_write(writer, &write, &err) : vol_fail_narrow(&err);
    vol_slices_free(pieces, buffer);
    return code == ZB_OK ? 0 : VOL_PUSH_ZB(lib, DATASET, WRITEERROR, &err);
}

static herr_t import_nested(const elements *e, const vol_pieces *pieces, void *buffer) {
    return vol_nested_import(pieces, e->source, e->space, e->node, e->dxpl, e->references, buffer);
}

static herr_t move_from_hdf5(const elements *e, const vol_moves *moves, bool *all) {
    return vol_chunks_from_hdf5(moves, e->source, e->type, all);
}

static bool list_in_hdf5(const elements *e, vol_stored_chunks *out) {
    return vol_stored_of_hdf5(e->lib, e->source, e->node->zarr, out);
}

herr_t vol_data_from_hdf5(const vol_import *import, hid_t source, const vol_import_form *form,
                          hid_t space, vol_node *node) {
    static const direction to = {import_piece, import_nested, move_from_hdf5, list_in_hdf5};
    elements e = {.to = &to,
                  .lib = import->lib,
                  .dxpl = import->dxpl,
                  .node = node,
                  .source = source,
                  .dataset = import->lib->H5VLobject(source),
                  .type = form->type,
                  .space = space,
                  .dtype = form->dtype,
                  .narrow = form->narrow,
                  .references = import->references};
    zb_error err = {0};
    if (copy_all(&e) < 0)
        return -1;
    return vol_writer_close(node, &err) == ZB_OK ? 0 : vol_copy_failed(e.lib, node->path, &err);
}

/* ---- Into an HDF5 file ---- */

/* In compounds and sequences HDF5 itself leaves addresses of the other file, which mean nothing. */
bool vol_export_reference(const vol_form *form, uint64_t *token, void *context) {
    const vol_export *all = context;
    h5_lib *lib = all->copy->lib;
    const vol_node *node = vol_node_by_token(form->file, *token, NULL);
    if (!node || all->are_null) {
        *token = 0;
        return true;
    }
    *token = all->expands ? vol_copy_address(all->copy, node) : 0;
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

static herr_t export_piece(const elements *e, const vol_pieces *pieces, void *buffer) {
    h5_lib *lib = e->lib;
    void *dataset = e->dataset;
    hid_t type = e->type, space = e->space;
    const void *data = buffer;
    hid_t memory = vol_pieces_select(pieces, lib, e->space);
    herr_t result = memory < 0 ? -1 : vol_strings_read(pieces, e->node, buffer);
    if (result >= 0) {
        result = lib->H5VLdataset_write(1, &dataset, lib->native, &type, &memory, &space, e->dxpl,
                                        &data, NULL);
        vol_strings_free(pieces, buffer);
    }
    vol_release_id(lib, memory);
    return result;
}

static herr_t export_nested(const elements *e, const vol_pieces *pieces, void *buffer) {
    return vol_nested_export(pieces, e->node, e->dataset, e->space, e->dxpl, e->references, buffer);
}

static herr_t move_to_hdf5(const elements *e, const vol_moves *moves, bool *all) {
    return vol_chunks_to_hdf5(moves, e->dataset, all);
}

/* Only a chunked dataset gives the fill value for what is not written, in every file. */
static bool list_in_store(const elements *e, vol_stored_chunks *out) {
    return e->lib->H5Pget_layout(vol_node_dcpl(e->node)) == H5D_CHUNKED &&
           zb_node_array(e->node->zarr)->ndim > 0 &&
           vol_stored_chunks_of(e->node->zarr, ZB_GRID_CHUNKS, out, NULL) == ZB_OK;
}

herr_t vol_data_to_hdf5(const vol_copy *copy, bool expands, vol_node *node, void *dataset,
                        hid_t space) {
    static const direction to = {export_piece, export_nested, move_to_hdf5, list_in_store};
    const bool is_plain =
        vol_node_is_nested(node) && vol_node_held_type(node)->class == H5T_REFERENCE;
    vol_export references = {
        .copy = copy, .node = node, .expands = expands, .are_null = is_plain && !expands};
    const vol_reference_map map = {.visit = vol_export_reference, .context = &references};
    zb_error err = {0};
    if (vol_writer_flush(node, &err) != ZB_OK)
        return VOL_PUSH_ZB(copy->lib, DATASET, CANTFLUSH, &err);
    elements e = {.to = &to,
                  .lib = copy->lib,
                  .dxpl = copy->request->dxpl,
                  .node = node,
                  .dataset = dataset,
                  .type = vol_node_type(node),
                  .space = space,
                  .dtype = vol_node_shown(node),
                  .references = &map};
    const herr_t result = e.type < 0 ? -1 : copy_all(&e);
    vol_release_id(e.lib, e.type);
    return result;
}
