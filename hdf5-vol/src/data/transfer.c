/* SPDX-License-Identifier: MIT */
/* Understanding the arguments of a transfer: see transfer.h. */
#include "data/transfer.h"

#include "data/code_points.h"
#include "dataset/dataset.h"
#include "dataset/unreadable.h"
#include "dataset/writers.h"
#include "hdf5/errors.h"
#include "hdf5/held_types.h"
#include "hdf5/shown.h"
#include "hdf5/times.h"
#include "types/types.h"
#include "tree/loose.h"

#include <stdio.h>

#define WORK_BYTES ((size_t)4 << 20) /* of a piece: large enough to keep the pool busy */

/* ---- Selections ---- */

/* Whether the dataset is one element, and so is all that is selected of another number of
   dimensions, as of a dataspace of one dimension for a scalar. */
static bool is_the_only_element(const zb_array_info *info, const vol_selection *file) {
    uint64_t elements = 1;
    for (uint32_t d = 0; d < info->ndim; d++)
        elements *= info->shape[d] == 1;
    for (uint32_t d = 0; d < file->ndim; d++)
        elements *= file->dims[d] == 1;
    return elements == 1 && file->elements == 1;
}

static bool push_beyond(h5_lib *lib, const vol_node *node, uint32_t d, uint64_t extent) {
    VOL_PUSH(lib, DATASET, BADVALUE,
             "the file selection goes beyond dataset '%s', which has %llu elements in dimension %u",
             node->path, (unsigned long long)extent, d);
    return false;
}

/* The extent of the program's dataspace need not be the dataset's, which may have been resized
   since: what counts is where the elements are. */
static bool check_places(h5_lib *lib, const vol_node *node, vol_selection *file) {
    const zb_array_info *info = zb_node_array(node->zarr);
    uint64_t start[ZB_MAX_NDIM], count[ZB_MAX_NDIM];
    bool same = true;
    for (uint32_t d = 0; same && d < info->ndim; d++)
        same = file->dims[d] == info->shape[d];
    if (same || file->elements == 0)
        return true;
    if (vol_selection_bounds(lib, file, start, count) < 0)
        return false;
    for (uint32_t d = 0; d < info->ndim; d++)
        if (start[d] >= info->shape[d] || count[d] > info->shape[d] - start[d])
            return push_beyond(lib, node, d, info->shape[d]);
    return file->is_box || vol_select_within(lib, file, info->shape) >= 0;
}

static herr_t select_file(h5_lib *lib, const vol_transfer *args, vol_selection *out) {
    const zb_array_info *info = zb_node_array(args->node->zarr);
    if (args->file_space == H5S_ALL) {
        vol_select_all(info->ndim, info->shape, out);
        return 0;
    }
    if (args->file_space == H5S_PLIST)
        return VOL_PUSH(lib, DATASET, UNSUPPORTED,
                        "a selection in the transfer property list (H5S_PLIST) cannot be read by "
                        "connectors: select in a dataspace instead");
    if (vol_node_is_null(args->node) &&
        lib->H5Sget_simple_extent_type(args->file_space) == H5S_NULL) {
        vol_select_all(info->ndim, info->shape, out);
        return 0;
    }
    if (vol_select_space(lib, args->file_space, out) < 0)
        return -1;
    if (out->ndim == info->ndim)
        return check_places(lib, args->node, out) ? 0 : -1;
    if (is_the_only_element(info, out)) {
        vol_select_end(lib, out);
        vol_select_all(info->ndim, info->shape, out);
        return 0;
    }
    return VOL_PUSH(lib, DATASET, BADVALUE,
                    "the file dataspace has %u dimensions, dataset '%s' has %u", out->ndim,
                    args->node->path, info->ndim);
}

/* With H5S_ALL on both sides no dataspace of the program's says how large its buffer is: it has the
   shape that the program knows. */
static herr_t check_shape(h5_lib *lib, const vol_transfer *args) {
    bool named = args->mem_space != H5S_ALL && args->mem_space != H5S_BLOCK;
    if (named || args->file_space != H5S_ALL || vol_node_shape_is_told(args->node))
        return 0;
    return VOL_PUSH(
        lib, DATASET, BADVALUE,
        "dataset '%s' has been resized by another program: H5Dget_space tells its shape now",
        args->node->path);
}

/* H5S_ALL in memory means: the same selection of the same extent as in the file. */
static herr_t select_memory(h5_lib *lib, const vol_transfer *args, const vol_selection *file,
                            vol_selection *out) {
    const bool is_same = file->mended < 0 || file->is_box;
    if (args->mem_space == H5S_ALL && is_same) {
        *out = *file; /* the buffer has the shape of the file dataspace */
        out->mended = -1;
    } else if (args->mem_space == H5S_ALL) {
        if (vol_select_space(lib, args->file_space, out) < 0)
            return -1;
    } else if (args->mem_space == H5S_BLOCK) {
        vol_select_all(1, &file->elements, out);
    } else if (args->mem_space == H5S_PLIST) {
        return VOL_PUSH(lib, DATASET, UNSUPPORTED,
                        "H5S_PLIST is not supported as a memory dataspace");
    } else if (vol_select_space(lib, args->mem_space, out) < 0) {
        return -1;
    }
    if (out->elements != file->elements)
        return VOL_PUSH(lib, DATASET, BADVALUE,
                        "the file selection has %llu elements, the memory selection %llu",
                        (unsigned long long)file->elements, (unsigned long long)out->elements);
    return 0;
}

/* ---- Types ---- */

/* Untagged and tagged bytes of one size are the same to the core. Arrays are no such bytes to
   HDF5. */
static bool is_raw(h5_lib *lib, vol_node *node, hid_t type) {
    const zb_dtype stored = zb_node_array(node->zarr)->dtype;
    return stored.kind == ZB_KIND_RAW && vol_node_held_type(node)->class == H5T_OPAQUE &&
           lib->H5Tget_class(type) == H5T_OPAQUE && lib->H5Tget_size(type) == stored.size;
}

/* Items are stored as the dataset's type has them. */
static void choose_items(h5_lib *lib, const vol_transfer *args, vol_request *out) {
    hid_t type = vol_node_type(args->node);
    out->stored_item = lib->H5Tget_super(type);
    vol_release_id(lib, type);
    out->memory_item = lib->H5Tget_super(args->mem_type);
    if (lib->H5Tequal(out->stored_item, out->memory_item) <= 0)
        return;
    lib->H5Tclose(out->stored_item);
    lib->H5Tclose(out->memory_item);
    out->stored_item = out->memory_item = -1;
}

/* HDF5 has no conversion between text and anything else. */
static herr_t choose_text(h5_lib *lib, const vol_transfer *args, zb_dtype stored,
                          vol_request *out) {
    out->is_text = true;
    out->core_converts = false;
    out->dtype = stored;
    const bool is_bytes = vol_node_shown(args->node).kind == ZB_KIND_BYTES;
    if (!vol_text_form_of(lib, args->mem_type, &out->text) || out->text.is_bytes != is_bytes)
        return VOL_PUSH(lib, DATASET, CANTCONVERT, "dataset '%s' holds %s", args->node->path,
                        is_bytes
                            ? "sequences of any length, and the type in memory is no such sequence "
                              "(H5Tvlen_create)"
                            : "strings, and the type in memory is no string type");
    out->mem_size = out->text.size;
    if (is_bytes)
        choose_items(lib, args, out);
    return 0;
}

static herr_t take_type(const vol_transfer *args, vol_request *out) {
    out->type = vol_node_type(args->node);
    if (out->type >= 0)
        return 0;
    return VOL_PUSH(args->node->file->lib, DATASET, CANTGET,
                    "no memory for the type of dataset '%s'", args->node->path);
}

static herr_t choose_nested(h5_lib *lib, const vol_transfer *args, zb_dtype stored,
                            vol_request *out) {
    out->is_nested = true;
    out->is_text = out->core_converts = false;
    out->dtype = stored;
    out->mem_size = lib->H5Tget_size(args->mem_type);
    if (out->mem_size > 0) /* H5Tcopy takes a dataset for its type, and this does not */
        return take_type(args, out);
    return VOL_PUSH(lib, DATASET, BADTYPE, "what is to be the type in memory for '%s' is no type",
                    args->node->path);
}

/* numpy's times of the same unit are the same to the core, where HDF5 has opaque bytes for them. */
static bool is_time(h5_lib *lib, hid_t type, zb_dtype stored, zb_dtype *memory) {
    zb_dtype_detail detail;
    zb_dtype found;
    if ((stored.kind != ZB_KIND_DATETIME && stored.kind != ZB_KIND_TIMEDELTA) ||
        !vol_time_of(lib, type, &detail, &found) || !zb_dtype_converts(found, stored))
        return false;
    *memory = stored;
    memory->swapped = found.swapped;
    return true;
}

/* Types that are numbers to HDF5 as to the core: of enumerations, bitfields and opaque elements
   HDF5 knows what they convert to. */
static bool is_number(const vol_held_type *type) {
    const int class = type->class;
    return class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_COMPOUND ||
           class == H5_CLASS_COMPLEX;
}

/* Elements as the program has them, where they are numbers or the dataset's own type. The cheap
   questions come first: a type that is no predefined one is most often the dataset's, as h5py asks
   for it, and so equals a predefined one where that is a number. Comparing it with the held type
   takes HDF5 four times as long, and taking it apart many calls. */
static bool find_memory(h5_lib *lib, hid_t mem_type, const vol_held_type *type, zb_dtype shown,
                        zb_dtype *memory) {
    if (vol_number_known(lib, mem_type, memory))
        return true;
    *memory = shown;
    return vol_number_is(lib, mem_type, shown) || vol_held_is(lib, type, mem_type) ||
           vol_type_to_dtype(lib, mem_type, memory);
}

/* What the core cannot convert to goes by way of `shown`, the elements as the dataset's type has
   them. */
static herr_t choose_types(h5_lib *lib, const vol_transfer *args, zb_dtype stored, zb_dtype shown,
                           vol_request *out) {
    const hid_t mem_type = args->mem_type;
    const vol_held_type *type = vol_node_held_type(args->node);
    const bool is_own = vol_node_has_own_type(args->node);
    zb_dtype memory = shown;
    out->is_text = false;
    out->core_converts = (is_own && vol_held_is(lib, type, mem_type)) ||
                         is_raw(lib, args->node, mem_type) ||
                         is_time(lib, mem_type, stored, &memory);
    if (!out->core_converts && (!is_own || is_number(type)) &&
        find_memory(lib, mem_type, type, shown, &memory))
        out->core_converts =
            out->writing ? zb_dtype_converts(memory, stored) : zb_dtype_converts(stored, memory);
    out->core_converts &= !out->list->custom;
    out->dtype = out->core_converts ? memory : shown;
    out->mem_size = out->core_converts ? memory.size : lib->H5Tget_size(mem_type);
    if (out->core_converts)
        return 0;
    return out->writing && vol_shown_has_points(stored) ? vol_points_choose(lib, args, out)
                                                        : take_type(args, out);
}

/* How the elements go from one type to the other. */
static herr_t choose(h5_lib *lib, const vol_transfer *args, vol_request *out) {
    vol_node *node = args->node;
    const zb_dtype stored = zb_node_array(node->zarr)->dtype;
    if (vol_node_is_nested(node))
        return choose_nested(lib, args, stored, out);
    if (stored.kind == ZB_KIND_STRING || stored.kind == ZB_KIND_BYTES)
        return choose_text(lib, args, stored, out);
    if (vol_points_variable(lib, args, out))
        return 0;
    const zb_dtype shown = vol_node_shown(node);
    if (shown.size == 0)
        return VOL_PUSH(lib, DATASET, CANTGET, "no memory for the type of dataset '%s'",
                        node->path);
    return choose_types(lib, args, stored, shown, out);
}

/* ---- The whole ---- */

herr_t vol_request_make(h5_lib *lib, const vol_transfer *args, const vol_dxpl *list, bool writing,
                        vol_request *out) {
    const vol_node *node = args->node;
    out->args = args;
    out->list = list;
    out->writing = writing;
    out->file.mended = out->memory.mended = -1;
    out->type = out->stored_item = out->memory_item = -1;
    out->is_nested = false;
    out->written = (zb_dtype){.size = 0};
    if (vol_node_is_gone(node))
        return VOL_PUSH(lib, DATASET, NOTFOUND, "dataset '%s' has been deleted", node->path);
    zb_error err = {0};
    if (writing && vol_unreadable_refuse(node, &err) != ZB_OK)
        return VOL_PUSH_ZB(lib, DATASET, WRITEERROR, &err);
    if (vol_dxpl_check(list, node, writing) < 0 || check_shape(lib, args) < 0 ||
        select_file(lib, args, &out->file) < 0 ||
        select_memory(lib, args, &out->file, &out->memory) < 0)
        return -1;
    if (!args->buffer && out->file.elements > 0)
        return VOL_PUSH(lib, DATASET, BADVALUE, "no buffer for %llu elements",
                        (unsigned long long)out->file.elements);
    return choose(lib, args, out);
}

void vol_request_end(h5_lib *lib, vol_request *request) {
    vol_select_end(lib, &request->memory);
    vol_select_end(lib, &request->file);
    vol_release_id(lib, request->type);
    vol_release_id(lib, request->stored_item);
    vol_release_id(lib, request->memory_item);
    vol_shown_free(request->written);
}

herr_t vol_request_settle(h5_lib *lib, const vol_request *request) {
    uint64_t start[ZB_MAX_NDIM], count[ZB_MAX_NDIM];
    vol_node *node = request->args->node;
    zb_error err = {0};
    if (!vol_writer_is_dirty(node))
        return 0;
    if (vol_selection_bounds(lib, &request->file, start, count) < 0)
        return -1;
    return vol_writer_settle(node, start, count, &err) == ZB_OK
               ? 0
               : VOL_PUSH_ZB(lib, DATASET, WRITEERROR, &err);
}

/* Tags do not count, so the program's opaque type serves as the stored one. Text of any length is
   in the program's form already; of a fixed size it has the program's character set. */
herr_t vol_request_convert(h5_lib *lib, const vol_request *request, size_t count, void *data,
                           void *background) {
    const hid_t memory = request->args->mem_type;
    const zb_dtype shown = vol_node_shown(request->args->node);
    const hid_t type = request->type;
    const bool is_same = request->is_text || is_raw(lib, request->args->node, memory);
    const bool may_have_text = shown.kind == ZB_KIND_CHARS || shown.kind == ZB_KIND_STRUCT;
    const hid_t made = !is_same && may_have_text ? vol_type_like(lib, type, memory) : -1;
    const hid_t stored = is_same ? memory : (made >= 0 ? made : type);
    herr_t result;
    if (request->list->custom)
        result = vol_dxpl_convert(lib, request->list, memory, stored, request->writing, count, data,
                                  background);
    else if (request->writing)
        result = lib->H5Tconvert(memory, stored, count, data, background, request->list->id);
    else
        result = lib->H5Tconvert(stored, memory, count, data, background, request->list->id);
    vol_release_id(lib, made);
    return vol_request_converted(lib, request, result);
}

herr_t vol_request_converted(h5_lib *lib, const vol_request *request, herr_t result) {
    if (result >= 0)
        return 0;
    return VOL_PUSH(
        lib, DATASET, CANTCONVERT, "dataset '%s' cannot be converted %s", request->args->node->path,
        request->writing ? "from the type that the data have" : "to the type that was asked for");
}

herr_t vol_push_element(const vol_node *dataset, const uint64_t *place, const zb_error *err) {
    char text[ZB_MAX_NDIM * 22 + 1] = "";
    size_t used = 0;
    for (uint32_t d = 0; d < zb_node_array(dataset->zarr)->ndim; d++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu", d > 0 ? ", " : "",
                                 (unsigned long long)place[d]);
    return VOL_PUSH(dataset->file->lib, DATASET, READERROR,
                    "dataset '%s', element [%s]: " VOL_ZB_FORMAT, dataset->path, text,
                    VOL_ZB_ARGS(err));
}

herr_t vol_request_write_piece(h5_lib *lib, const vol_request *request, vol_walk *walk,
                               const void *data) {
    zb_error err = {0};
    zb_writer *writer;
    if (vol_writer_get(request->args->node, &writer, &err) == ZB_OK)
        return vol_walk_write(walk, writer, data, request->dtype);
    return VOL_PUSH_ZB(lib, DATASET, WRITEERROR, &err);
}

bool vol_request_is_direct(vol_request *request, char **data, const int64_t **strides) {
    uint64_t offset, first;
    *strides = NULL;
    if (!request->core_converts || !request->file.is_box)
        return false;
    if (vol_selection_is_run(&request->memory, &first))
        offset = first * request->mem_size;
    else if (vol_selection_view(&request->file, &request->memory, request->mem_size,
                                request->strides, &offset))
        *strides = request->strides;
    else
        return false;
    *data = (char *)request->args->buffer + offset;
    return true;
}

size_t vol_request_item(const vol_request *request) {
    const size_t size = request->dtype.size;
    return size > request->mem_size ? size : request->mem_size;
}

herr_t vol_request_scatter(h5_lib *lib, const vol_request *request, vol_scatter *out) {
    return vol_scatter_begin(out, lib, &request->memory, request->mem_size, request->args->buffer);
}

size_t vol_request_capacity(const vol_request *request) {
    const size_t capacity = WORK_BYTES / vol_request_item(request);
    if (capacity > request->file.elements)
        return (size_t)request->file.elements;
    return capacity > 0 ? capacity : 1;
}
