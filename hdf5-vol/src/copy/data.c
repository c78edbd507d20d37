/* SPDX-License-Identifier: MIT */
/* The elements of datasets in copies: see data.h. */
#include "copy/data.h"

#include "copy/moved_chunks.h"
#include "copy/nested.h"
#include "copy/pieces.h"
#include "create/creation_list.h"
#include "dataset/dataset.h"
#include "dataset/writers.h"
#include "hdf5/errors.h"
#include "hdf5/shown.h"
#include "hdf5/times.h"
#include "hdf5/types.h"
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

/* ---- From an HDF5 file ---- */

herr_t vol_import_failed(h5_lib *lib, const char *name, zb_error *err) {
    zb_error_prefix(err, err->code, "cannot copy '%s'", name);
    return VOL_PUSH_ZB(lib, SYM, CANTCOPY, err);
}

static herr_t import_piece(const vol_import *import, const vol_pieces *pieces, hid_t source,
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
    return code == ZB_OK ? 0 : VOL_PUSH_ZB(lib, DATASET, WRITEERROR, &err);
}

/* Whether an element that the source has not written is the new array's fill value: HDF5 reads
   both. */
static bool import_fills_alike(const vol_import *import, hid_t source, const vol_import_form *form,
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
static void leave_out_of_hdf5(const vol_import *import, hid_t source, const vol_import_form *form,
                              hid_t space, const vol_node *node, vol_pieces *pieces,
                              vol_stored_chunks *stored) {
    vol_pieces probe;
    if (!zb_dtype_is_variable(pieces->info->dtype) &&
        vol_stored_of_hdf5(import->lib, source, node->zarr, stored) &&
        vol_pieces_left_out(pieces, stored, &probe) &&
        import_fills_alike(import, source, form, space, node, &probe))
        vol_pieces_only(pieces, stored);
}

/* Elements that are texts in the store go the way of a program's own. */
static herr_t import_nested(const vol_import *import, vol_pieces *pieces, hid_t source, hid_t space,
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

static herr_t import_visited(const vol_import *import, hid_t source, const vol_import_form *form,
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
        result = import_piece(import, pieces, source, form, space, writer, buffer);
    free(buffer);
    if (result >= 0 && vol_writer_close(node, &err) != ZB_OK)
        result = vol_import_failed(import->lib, node->path, &err);
    return result;
}

/* What the functions for moving chunks are called back with. */
typedef struct import_elements {
    const vol_import *import;
    hid_t source, space;
    const vol_import_form *form;
    vol_node *node;
} import_elements;

static bool import_leaves_out(void *context, const vol_pieces *probe) {
    const import_elements *e = context;
    return import_fills_alike(e->import, e->source, e->form, e->space, e->node, probe);
}

static herr_t import_box(void *context, const uint64_t *start, const uint64_t *count) {
    const import_elements *e = context;
    zb_writer *writer;
    zb_error err = {0};
    vol_pieces box = vol_pieces_of_box(e->node->zarr, start, count);
    void *buffer = malloc(vol_pieces_elements(&box) * (size_t)e->form->dtype.size);
    enum zb_code code = buffer ? vol_writer_get(e->node, &writer, &err)
                               : zb_fail(&err, ZB_ENOMEM, "no memory for a chunk");
    const herr_t result =
        code ? vol_import_failed(e->import->lib, e->node->path, &err)
             : import_piece(e->import, &box, e->source, e->form, e->space, writer, buffer);
    free(buffer);
    return result;
}

/* *all: nothing is left to do. */
static herr_t import_chunks(const vol_import *import, hid_t source, const vol_import_form *form,
                            hid_t space, vol_node *node, bool *all) {
    import_elements elements = {
        .import = import, .source = source, .space = space, .form = form, .node = node};
    const vol_moves moves = {.lib = import->lib,
                             .dxpl = import->dxpl,
                             .node = node,
                             .copy_box = import_box,
                             .fills_alike = import_leaves_out,
                             .context = &elements};
    zb_error err = {0};
    *all = false;
    if (form->narrow.size > 0)
        return 0;
    herr_t result = vol_chunks_from_hdf5(&moves, source, form->type, all);
    if (*all && result >= 0 && vol_writer_close(node, &err) != ZB_OK)
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
        return import_nested(import, &pieces, source, space, node);
    bool all;
    herr_t moved = import_chunks(import, source, form, space, node, &all);
    if (all)
        return moved;
    vol_stored_chunks stored = {.array = NULL};
    leave_out_of_hdf5(import, source, form, space, node, &pieces, &stored);
    herr_t result = import_visited(import, source, form, space, node, &pieces);
    vol_stored_chunks_free(&stored);
    return result;
}

/* ---- Into an HDF5 file ---- */

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
static herr_t export_piece(const vol_copies *copies, const vol_pieces *pieces, vol_node *node,
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
static bool export_fills_alike(const vol_copies *copies, vol_node *node, void *dataset, hid_t space,
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
static void leave_out_of_store(const vol_copies *copies, vol_node *node, void *dataset, hid_t space,
                               vol_pieces *pieces, vol_stored_chunks *stored) {
    vol_pieces probe;
    if (!zb_dtype_is_variable(pieces->info->dtype) &&
        copies->lib->H5Pget_layout(vol_node_dcpl(node)) == H5D_CHUNKED && pieces->info->ndim > 0 &&
        vol_stored_chunks_of(node->zarr, ZB_GRID_CHUNKS, stored, NULL) == ZB_OK &&
        vol_pieces_left_out(pieces, stored, &probe) &&
        export_fills_alike(copies, node, dataset, space, &probe))
        vol_pieces_only(pieces, stored);
}

/* Elements that are texts in the store go the way of a program's own. */
static herr_t export_nested(const vol_copies *copies, bool expands, vol_node *node, void *dataset,
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

/* As import_elements. */
typedef struct export_elements {
    const vol_copies *copies;
    vol_node *node;
    void *dataset;
    hid_t space;
} export_elements;

static bool export_leaves_out(void *context, const vol_pieces *probe) {
    const export_elements *e = context;
    return export_fills_alike(e->copies, e->node, e->dataset, e->space, probe);
}

static herr_t export_box(void *context, const uint64_t *start, const uint64_t *count) {
    const export_elements *e = context;
    vol_pieces box = vol_pieces_of_box(e->node->zarr, start, count);
    void *buffer = calloc(vol_pieces_elements(&box), (size_t)vol_node_shown(e->node).size);
    if (!buffer)
        return VOL_PUSH(e->copies->lib, DATASET, READERROR, "no memory for a chunk");
    const herr_t result = export_piece(e->copies, &box, e->node, e->dataset, e->space, buffer);
    free(buffer);
    return result;
}

static herr_t export_chunks(const vol_copies *copies, vol_node *node, void *dataset, hid_t space,
                            bool *all) {
    export_elements elements = {.copies = copies, .node = node, .dataset = dataset, .space = space};
    const vol_moves moves = {.lib = copies->lib,
                             .dxpl = copies->dxpl,
                             .node = node,
                             .copy_box = export_box,
                             .fills_alike = export_leaves_out,
                             .context = &elements};
    return vol_chunks_to_hdf5(&moves, dataset, all);
}

herr_t vol_data_to_hdf5(const vol_copies *copies, bool expands, vol_node *node, void *dataset,
                        hid_t space) {
    vol_pieces pieces;
    zb_error err = {0};
    if (vol_writer_flush(node, &err) != ZB_OK)
        return VOL_PUSH_ZB(copies->lib, DATASET, CANTFLUSH, &err);
    vol_pieces_begin(&pieces, node->zarr);
    if (pieces.done)
        return 0; /* an empty array */
    if (vol_node_is_nested(node))
        return export_nested(copies, expands, node, dataset, space, &pieces);
    bool all;
    herr_t moved = export_chunks(copies, node, dataset, space, &all);
    if (all)
        return moved;
    /* Elements are copied in the form in which programs see them. */
    const uint64_t bytes =
        pieces.bytes / pieces.info->dtype.size * (uint64_t)vol_node_shown(node).size;
    void *buffer = bytes > 0 ? calloc(1, bytes) : NULL; /* gaps between members are zeros */
    if (!buffer)
        return VOL_PUSH(copies->lib, DATASET, READERROR, "no memory for a piece of %llu bytes",
                        (unsigned long long)bytes);
    herr_t result = 0;
    vol_stored_chunks stored = {.array = NULL};
    leave_out_of_store(copies, node, dataset, space, &pieces, &stored);
    for (; !pieces.done && result >= 0; vol_pieces_next(&pieces))
        result = export_piece(copies, &pieces, node, dataset, space, buffer);
    vol_stored_chunks_free(&stored);
    free(buffer);
    return result;
}
