/* SPDX-License-Identifier: MIT */
/*
 * H5Dread. All direct reads of a call are one plan, so that several datasets are decoded side by
 * side.
 */
#include "data/interrupt.h"
#include "data/nested.h"
#include "data/requests.h"
#include "data/strings.h"
#include "data/transfer.h"

#include "hdf5/errors.h"

#include "zarrbridge/read.h"
#include "zarrbridge/sys/store.h"

#include <stdlib.h>

/* ---- Directly ---- */

static bool make_direct(vol_request *request, zb_read *read) {
    char *data;
    const int64_t *strides;
    if (!vol_request_is_direct(request, &data, &strides))
        return false;
    *read = (zb_read){.node = request->args->node->zarr,
                      .start = request->file.start,
                      .count = request->file.count,
                      .step = request->file.step,
                      .view = {.data = data, .dtype = request->dtype, .strides = strides}};
    return true;
}

/* ---- By pieces ---- */

/* Buffers of one read by pieces; background holds the program's elements from before, which
   HDF5 needs for compounds of which only some members are read. */
typedef struct work_buffers {
    size_t capacity; /* elements */
    char *data, *background;
} work_buffers;

/* The loop of the slow way: read, convert, put in place. */
static herr_t read_pieces(h5_lib *lib, const vol_request *request, const work_buffers *work,
                          vol_walk *walk, vol_scatter *out, vol_scatter *before) {
    size_t got;
    htri_t more;
    while ((more = vol_walk_next(walk, work->capacity, &got)) > 0) {
        if (vol_walk_read(walk, work->data, request->dtype) < 0)
            return -1;
        if (work->background && vol_scatter_get(before, work->background, got) < 0)
            return -1;
        if (!request->core_converts &&
            vol_request_convert(lib, request, got, work->data, work->background) < 0)
            return -1;
        if (vol_scatter_put(out, work->data, got) < 0)
            return -1;
    }
    return more;
}

/* Into one run of memory that the core can fill: no work buffer. */
static herr_t read_run(const vol_request *request, vol_walk *walk, char *out) {
    size_t got;
    htri_t more;
    while ((more = vol_walk_next(walk, (size_t)request->file.elements, &got)) > 0) {
        if (vol_walk_read(walk, out, request->dtype) < 0)
            return -1;
        out += got * request->mem_size;
    }
    return more;
}

static herr_t read_by_pieces(h5_lib *lib, const vol_request *request) {
    const size_t size = vol_request_item(request);
    work_buffers work = {.capacity = vol_request_capacity(request)};
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
    work.data = calloc(work.capacity, size); /* gaps between members are no old memory */
    if (!request->core_converts)
        work.background = calloc(work.capacity, size);
    if (!work.data || (!request->core_converts && !work.background)) {
        VOL_PUSH(lib, DATASET, READERROR, "no memory for a work buffer of %zu bytes",
                 work.capacity * size);
        goto out;
    }
    if (vol_request_scatter(lib, request, &out) >= 0 &&
        vol_request_scatter(lib, request, &before) >= 0)
        result = read_pieces(lib, request, &work, &walk, &out, &before);
out:
    vol_scatter_end(&before);
    vol_scatter_end(&out);
    vol_walk_end(&walk);
    free(work.background);
    free(work.data);
    return result;
}

/* ---- All together ---- */

/* Reads by pieces, or notes a direct read. */
static herr_t read_or_note(h5_lib *lib, vol_request *request, zb_read *direct,
                           size_t *direct_count) {
    if (request->file.elements == 0)
        return 0;
    if (vol_request_settle(lib, request) < 0)
        return -1;
    if (request->is_nested)
        return vol_read_nested(lib, request);
    if (request->is_text)
        return vol_read_strings(lib, request);
    if (!make_direct(request, &direct[*direct_count]))
        return read_by_pieces(lib, request);
    ++*direct_count;
    return 0;
}

/* A read of that many bytes from a disk takes some milliseconds. */
#define LASTING_BYTES (16U << 20)

/* Watching for interrupts takes a microsecond, which reads of single chunks do not have. */
static bool may_last(const vol_request *requests, size_t count) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (!zb_hierarchy_is_local(requests[i].args->node->file->hierarchy))
            return true;
        const uint64_t elements = requests[i].file.elements, size = requests[i].dtype.size;
        bytes += elements < LASTING_BYTES ? elements * size : LASTING_BYTES;
    }
    return bytes >= LASTING_BYTES;
}

/* Direct reads need no dataspace any more, only numbers of the request. */
static herr_t read_all(h5_lib *lib, vol_request *requests, zb_read *direct,
                       const vol_transfer *reads, size_t count, const vol_dxpl *list) {
    size_t direct_count = 0;
    zb_error err = {0};
    herr_t result = vol_requests_make(lib, reads, count, list, false, requests);
    if (result < 0)
        return -1;
    vol_interrupt call;
    const bool watches = may_last(requests, count);
    if (watches) {
        vol_interrupt_begin(&call, true);
        vol_interrupt_watch(&call);
    }
    for (size_t i = 0; i < count && result >= 0; i++)
        result = read_or_note(lib, &requests[i], direct, &direct_count);
    vol_requests_end(lib, requests, count);
    if (result >= 0 && direct_count > 0 && vol_array_read(direct, direct_count, &err) != ZB_OK) {
        VOL_PUSH_ZB(lib, DATASET, READERROR, &err);
        result = -1;
    }
    if (watches)
        vol_interrupt_end(&call);
    for (size_t i = 0; i < count && result < 0; i++)
        reads[i].node->is_doubted = true;
    return result;
}

/* The usual single dataset costs no allocation. */
herr_t vol_read_datasets(h5_lib *lib, const vol_transfer *reads, size_t count,
                         const vol_dxpl *list) {
    vol_request one_request;
    zb_read one_read;
    if (count == 1)
        return read_all(lib, &one_request, &one_read, reads, 1, list);
    vol_request *requests = calloc(count, sizeof *requests);
    zb_read *direct = calloc(count, sizeof *direct);
    herr_t result = -1;
    if (requests && direct)
        result = read_all(lib, requests, direct, reads, count, list);
    else
        VOL_PUSH(lib, DATASET, READERROR, "no memory to read %zu datasets", count);
    free(requests);
    free(direct);
    return result;
}

/* ---- Sizes ---- */

static herr_t add_size(h5_lib *lib, const vol_request *request, hsize_t *bytes) {
    if (request->file.elements == 0)
        return 0;
    if (request->is_nested)
        return vol_nested_size(lib, request, bytes);
    return request->is_text && request->text.is_variable ? vol_strings_size(lib, request, bytes)
                                                         : 0;
}

herr_t vol_read_size(h5_lib *lib, vol_node *dataset, hid_t type, hid_t space, hsize_t *bytes) {
    const vol_dxpl plain = {.id = *lib->H5P_LST_DATASET_XFER_ID_g};
    const vol_transfer args = {.node = dataset,
                               .mem_type = type,
                               .mem_space = H5S_BLOCK,
                               .file_space = space,
                               .buffer = bytes}; /* not used: nothing is moved */
    vol_request request;
    *bytes = 0;
    if (vol_requests_make(lib, &args, 1, &plain, false, &request) < 0)
        return -1;
    const herr_t result = add_size(lib, &request, bytes);
    vol_request_end(lib, &request);
    return result;
}
