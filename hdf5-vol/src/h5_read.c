/* SPDX-License-Identifier: MIT */
/*
 * H5Dread.
 *
 * Two ways lead from a selection to the program's buffer. The direct one needs boxes on both sides
 * and a type that the core converts to: it becomes one zb_read, and all direct reads of a call one
 * plan, so that several datasets are decoded side by side. The other goes piece by piece through a
 * work buffer, in which HDF5 converts what the core does not (on this thread: HDF5 holds its lock),
 * and then out to wherever the elements belong.
 */
#include "h5_read.h"

#include "h5_error.h"
#include "h5_select.h"
#include "h5_type.h"

#include <stdlib.h>
#include <string.h>

#define WORK_BYTES ((size_t)4 << 20) /* of a piece: large enough to keep the pool busy */

/* A read with its selections understood. */
typedef struct read_request {
    const vol_read *args;
    vol_selection file, memory;
    zb_dtype dtype;     /* of the elements as the core delivers them */
    bool core_converts; /* dtype is the memory type */
    size_t mem_size;    /* bytes of an element in memory */
    int64_t strides[ZB_MAX_NDIM];
} read_request;

/* ---- Understanding the arguments ---- */

/* Runs are positions in the dataspace's extent, so it must be the dataset's. */
static herr_t select_file(h5_lib *lib, const vol_read *args, vol_selection *out) {
    const zb_array_info *info = zb_node_array(args->node->zarr);
    if (args->file_space == H5S_ALL) {
        vol_select_all(info->ndim, info->shape, out);
        return 0;
    }
    if (args->file_space == H5S_PLIST) {
        VOL_PUSH(lib, DATASET, UNSUPPORTED,
                 "a selection in the transfer property list (H5S_PLIST) cannot be read by "
                 "connectors: select in a dataspace instead");
        return -1;
    }
    if (vol_select_space(lib, args->file_space, out) < 0)
        return -1;
    bool fits = out->ndim == info->ndim;
    for (uint32_t d = 0; fits && d < info->ndim; d++)
        fits = out->dims[d] == info->shape[d];
    if (!fits)
        VOL_PUSH(lib, DATASET, BADVALUE, "the file dataspace has not the shape of dataset '%s'",
                 args->node->path);
    return fits ? 0 : -1;
}

/* H5S_ALL in memory means: the same selection of the same extent as in the file. */
static herr_t select_memory(h5_lib *lib, const vol_read *args, const vol_selection *file,
                            vol_selection *out) {
    if (args->mem_space == H5S_ALL) {
        *out = *file; /* the buffer has the shape of the whole dataset */
    } else if (args->mem_space == H5S_BLOCK) {
        vol_select_all(1, &file->elements, out);
    } else if (args->mem_space == H5S_PLIST) {
        VOL_PUSH(lib, DATASET, UNSUPPORTED, "H5S_PLIST is not supported as a memory dataspace");
        return -1;
    } else if (vol_select_space(lib, args->mem_space, out) < 0) {
        return -1;
    }
    if (out->elements != file->elements) {
        VOL_PUSH(lib, DATASET, BADVALUE,
                 "the file selection has %llu elements, the memory selection %llu",
                 (unsigned long long)file->elements, (unsigned long long)out->elements);
        return -1;
    }
    return 0;
}

/* HDF5 does none of these checks for connectors. */
static herr_t understand(h5_lib *lib, const vol_read *args, read_request *out) {
    const zb_array_info *info = zb_node_array(args->node->zarr);
    out->args = args;
    if (select_file(lib, args, &out->file) < 0 ||
        select_memory(lib, args, &out->file, &out->memory) < 0)
        return -1;
    if (!args->buffer && out->file.elements > 0) {
        VOL_PUSH(lib, DATASET, BADVALUE, "no buffer for %llu elements",
                 (unsigned long long)out->file.elements);
        return -1;
    }
    zb_dtype wanted;
    out->core_converts =
        vol_type_to_dtype(lib, args->mem_type, &wanted) && zb_dtype_converts(info->dtype, wanted);
    if (!out->core_converts && info->dtype.kind == ZB_KIND_RAW &&
        lib->H5Tequal(args->mem_type, vol_node_type(args->node)) > 0) {
        wanted = info->dtype;
        out->core_converts = true;
    }
    out->dtype = out->core_converts ? wanted : info->dtype;
    out->mem_size = out->core_converts ? wanted.size : lib->H5Tget_size(args->mem_type);
    return 0;
}

/* ---- Directly ---- */

/* Fills `read` when the request can go straight into the program's buffer. */
static bool make_direct(read_request *request, zb_read *read) {
    uint64_t offset, first;
    if (!request->core_converts || !request->file.is_box)
        return false;
    *read = (zb_read){.node = request->args->node->zarr,
                      .start = request->file.start,
                      .count = request->file.count,
                      .step = request->file.step,
                      .view = {.dtype = request->dtype}};
    if (vol_selection_is_run(&request->memory, &first)) {
        offset = first * request->mem_size;
    } else if (vol_selection_view(&request->file, &request->memory, request->mem_size,
                                  request->strides, &offset)) {
        read->view.strides = request->strides;
    } else {
        return false;
    }
    read->view.data = (char *)request->args->buffer + offset;
    return true;
}

/* ---- By pieces ---- */

/* Buffers of one read by pieces; background holds what the program's elements were before, which
   HDF5 needs for compounds of which only some members are read. */
typedef struct work_buffers {
    size_t room; /* elements */
    char *data, *background;
} work_buffers;

/* The loop of the slow way: read, convert, put in place. */
static herr_t read_pieces(h5_lib *lib, const read_request *request, const work_buffers *work,
                          vol_walk *walk, vol_scatter *out, vol_scatter *before, hid_t dxpl) {
    const vol_read *args = request->args;
    size_t got;
    for (;;) {
        if (vol_walk_read(walk, work->room, work->data, request->dtype, &got) < 0)
            return -1;
        if (got == 0)
            return 0;
        if (work->background && vol_scatter_get(before, work->background, got) < 0)
            return -1;
        if (!request->core_converts &&
            lib->H5Tconvert(vol_node_type(args->node), args->mem_type, got, work->data,
                            work->background, dxpl) < 0) {
            VOL_PUSH(lib, DATASET, CANTCONVERT,
                     "dataset '%s' cannot be converted to the type that was asked for",
                     args->node->path);
            return -1;
        }
        if (vol_scatter_put(out, work->data, got) < 0)
            return -1;
    }
}

/* Into one run of memory that the core can fill: no work buffer. */
static herr_t read_run(const read_request *request, vol_walk *walk, char *out) {
    size_t got;
    do {
        if (vol_walk_read(walk, (size_t)request->file.elements, out, request->dtype, &got) < 0)
            return -1;
        out += got * request->mem_size;
    } while (got > 0);
    return 0;
}

static herr_t read_by_pieces(h5_lib *lib, const read_request *request, hid_t dxpl) {
    const size_t file_size = request->dtype.size;
    const size_t size = file_size > request->mem_size ? file_size : request->mem_size;
    work_buffers work = {.room = WORK_BYTES / size ? WORK_BYTES / size : 1};
    vol_scatter out = {.iterator = -1}, before = {.iterator = -1};
    vol_walk walk;
    herr_t result = -1;
    uint64_t first;
    if (vol_walk_begin(&walk, lib, request->args->node->zarr, &request->file) < 0)
        return -1;
    if (request->core_converts && vol_selection_is_run(&request->memory, &first)) {
        result =
            read_run(request, &walk, (char *)request->args->buffer + first * request->mem_size);
        goto out;
    }
    if (work.room > request->file.elements)
        work.room = (size_t)request->file.elements;
    work.data = malloc(work.room * size);
    if (!request->core_converts)
        work.background = calloc(work.room, size);
    if (!work.data || (!request->core_converts && !work.background)) {
        VOL_PUSH(lib, DATASET, READERROR, "no memory for a work buffer of %zu bytes",
                 work.room * size);
        goto out;
    }
    if (vol_scatter_begin(&out, lib, &request->memory, request->mem_size, request->args->buffer) >=
            0 &&
        vol_scatter_begin(&before, lib, &request->memory, request->mem_size,
                          request->args->buffer) >= 0)
        result = read_pieces(lib, request, &work, &walk, &out, &before, dxpl);
out:
    vol_scatter_end(&before);
    vol_scatter_end(&out);
    vol_walk_end(&walk);
    free(work.background);
    free(work.data);
    return result;
}

/* ---- All together ---- */

static herr_t read_requests(h5_lib *lib, read_request *requests, zb_read *direct,
                            const vol_read *reads, size_t count, hid_t dxpl) {
    size_t direct_count = 0;
    zb_error err = {0};
    for (size_t i = 0; i < count; i++) {
        read_request *request = &requests[i];
        if (understand(lib, &reads[i], request) < 0)
            return -1;
        if (request->file.elements == 0)
            continue;
        if (make_direct(request, &direct[direct_count]))
            direct_count++;
        else if (read_by_pieces(lib, request, dxpl) < 0)
            return -1;
    }
    if (direct_count > 0 && zb_array_read(direct, direct_count, &err) != ZB_OK) {
        VOL_PUSH_ZB(lib, DATASET, READERROR, &err);
        return -1;
    }
    return 0;
}

/* The usual single dataset costs no allocation. */
herr_t vol_read_datasets(h5_lib *lib, const vol_read *reads, size_t count, hid_t dxpl) {
    read_request one_request;
    zb_read one_read;
    if (count == 1)
        return read_requests(lib, &one_request, &one_read, reads, 1, dxpl);
    read_request *requests = calloc(count, sizeof *requests);
    zb_read *direct = calloc(count, sizeof *direct);
    herr_t result = -1;
    if (requests && direct)
        result = read_requests(lib, requests, direct, reads, count, dxpl);
    else
        VOL_PUSH(lib, DATASET, READERROR, "no memory to read %zu datasets", count);
    free(requests);
    free(direct);
    return result;
}
