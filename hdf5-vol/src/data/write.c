/* SPDX-License-Identifier: MIT */
/*
 * H5Dwrite. The data that a dataset's writer gathers are stored when chunks are complete, before a
 * read of the same chunks, and at a flush (dataset/writers.h); an error of any of these
 * reaches the call that met it.
 */
#include "data/code_points.h"
#include "exchange/exchange.h"
#include "data/nested.h"
#include "data/requests.h"
#include "data/strings.h"
#include "data/transfer.h"

#include "dataset/writers.h"
#include "hdf5/errors.h"

#include "zarrbridge/write.h"

#include <stdlib.h>
#include <string.h>

static herr_t push_failed(h5_lib *lib, const zb_error *err) {
    return VOL_PUSH_ZB(lib, DATASET, WRITEERROR, err);
}

/* ---- By pieces ---- */

typedef struct write_buffers {
    size_t capacity; /* elements */
    char *data;
    char *background; /* the elements of the store: for compounds written in part */
} write_buffers;

/* HDF5 converts; a complex number of which only one part is written keeps the other. */
static herr_t convert(h5_lib *lib, const vol_request *request, const write_buffers *work,
                      vol_walk *walk, size_t count) {
    if (work->background && (vol_request_settle(lib, request) < 0 ||
                             vol_walk_read(walk, work->background, request->dtype) < 0))
        return -1;
    return vol_request_convert(lib, request, count, work->data, work->background);
}

static herr_t write_pieces(h5_lib *lib, const vol_request *request, const write_buffers *work,
                           vol_walk *walk, vol_scatter *in) {
    size_t got;
    htri_t more;
    while ((more = vol_walk_next(walk, work->capacity, &got)) > 0) {
        if (vol_scatter_get(in, work->data, got) < 0)
            return -1;
        if (!request->core_converts && convert(lib, request, work, walk, got) < 0)
            return -1;
        if (vol_request_write_piece(lib, request, walk, work->data) < 0)
            return -1;
    }
    return more;
}

/* From one run of memory that the core can take: no work buffer. */
static herr_t write_run(h5_lib *lib, const vol_request *request, vol_walk *walk, const char *in) {
    size_t got;
    htri_t more;
    while ((more = vol_walk_next(walk, (size_t)request->file.elements, &got)) > 0) {
        if (vol_request_write_piece(lib, request, walk, in) < 0)
            return -1;
        in += got * request->mem_size;
    }
    return more;
}

/* Freed with free_buffers, also after a failure. */
static herr_t make_buffers(h5_lib *lib, const vol_request *request, write_buffers *work) {
    const size_t size = vol_request_item(request);
    const enum zb_kind kind = request->dtype.kind; /* bytes may be an array of compounds */
    const bool has_members =
        kind == ZB_KIND_COMPLEX || kind == ZB_KIND_STRUCT || kind == ZB_KIND_RAW;
    const bool needs_background = !request->core_converts && has_members;
    *work = (write_buffers){.capacity = vol_request_capacity(request)};
    work->data = malloc(work->capacity * size);
    if (needs_background)
        work->background = malloc(work->capacity * size);
    if (work->data && (work->background || !needs_background))
        return 0;
    return VOL_PUSH(lib, DATASET, WRITEERROR, "no memory for a work buffer of %zu bytes",
                    work->capacity * size);
}

static void free_buffers(write_buffers *work) {
    free(work->background);
    free(work->data);
}

static herr_t write_buffered(h5_lib *lib, const vol_request *request, vol_walk *walk) {
    write_buffers work;
    vol_scatter in = {.iterator = -1};
    herr_t result = make_buffers(lib, request, &work);
    if (result >= 0)
        result = vol_request_scatter(lib, request, &in);
    if (result >= 0)
        result = write_pieces(lib, request, &work, walk, &in);
    vol_scatter_end(&in);
    free_buffers(&work);
    return result;
}

static herr_t write_by_pieces(h5_lib *lib, const vol_request *request) {
    vol_walk walk;
    uint64_t first;
    if (vol_walk_begin(&walk, lib, request->args->node->zarr, &request->file) < 0)
        return -1;
    herr_t result;
    if (request->core_converts && vol_selection_is_run(&request->memory, &first))
        result = write_run(lib, request, &walk,
                           (const char *)request->args->buffer + first * request->mem_size);
    else
        result = write_buffered(lib, request, &walk);
    vol_walk_end(&walk);
    return result;
}

/* ---- The look at text that becomes code points ---- */

/* Members that only the store has count for nothing here. Nor does the program's list: its
   callbacks are called by the write, once for each element, and no list changes text. */
static herr_t look_at_pieces(h5_lib *lib, const vol_request *request, const write_buffers *work,
                             vol_scatter *in) {
    const vol_dxpl plain = {.id = *lib->H5P_LST_DATASET_XFER_ID_g};
    vol_request by_default = *request;
    by_default.list = &plain;
    const uint64_t all = request->file.elements;
    herr_t result = 0;
    for (uint64_t done = 0; result >= 0 && done < all; done += work->capacity) {
        const size_t count = all - done < work->capacity ? (size_t)(all - done) : work->capacity;
        result = vol_scatter_get(in, work->data, count);
        if (work->background)
            memset(work->background, 0, count * vol_request_item(request));
        if (result >= 0 && !request->core_converts)
            result = vol_request_convert(lib, &by_default, count, work->data, work->background);
        if (result >= 0)
            result = vol_points_check(lib, request, done, count, work->data);
    }
    return result;
}

/* Looks at all elements of a request before the first one of the call is stored. */
static herr_t look(h5_lib *lib, const vol_request *request) {
    write_buffers work;
    vol_scatter in = {.iterator = -1};
    if (request->file.elements == 0 || request->is_nested || !vol_points_checked(request))
        return 0;
    if (request->is_text)
        return vol_look_at_strings(lib, request);
    herr_t result = make_buffers(lib, request, &work);
    if (result >= 0)
        result = vol_request_scatter(lib, request, &in);
    if (result >= 0)
        result = look_at_pieces(lib, request, &work, &in);
    vol_scatter_end(&in);
    free_buffers(&work);
    return result;
}

/* ---- One dataset ---- */

static herr_t write_request(h5_lib *lib, vol_request *request) {
    zb_error err = {0};
    zb_writer *writer;
    char *data;
    const int64_t *strides;
    if (request->file.elements == 0)
        return 0;
    if (request->is_nested)
        return vol_write_nested(lib, request);
    if (request->is_text)
        return vol_write_strings(lib, request);
    if (!vol_request_is_direct(request, &data, &strides))
        return write_by_pieces(lib, request);
    if (vol_writer_get(request->args->node, &writer, &err) != ZB_OK)
        return push_failed(lib, &err);
    const zb_write write = {.start = request->file.start,
                            .count = request->file.count,
                            .step = request->file.step,
                            .data = data,
                            .dtype = request->dtype,
                            .strides = strides};
    return zb_writer_write(writer, &write, &err) == ZB_OK ? 0 : push_failed(lib, &err);
}

/* ---- All together ---- */

/* together: NULL for a call of this process alone. */
static herr_t write_requests(h5_lib *lib, vol_exchange *together, vol_request *requests,
                             size_t count) {
    bool is_written = false;
    herr_t result = 0;
    if (together)
        result = vol_exchange_write(together, count == 1 ? requests : NULL, &is_written);
    for (size_t i = 0; i < count && result >= 0 && !is_written; i++)
        result = write_request(lib, &requests[i]);
    return result;
}

static herr_t write_all(h5_lib *lib, vol_request *requests, const vol_transfer *writes,
                        size_t count, const vol_dxpl *list) {
    h5_ranks *ranks = vol_exchange_ranks(writes, count, list);
    const bool are_made = vol_requests_make(lib, writes, count, list, true, requests) >= 0;
    vol_exchange *together = NULL;
    herr_t result = are_made ? 0 : -1;
    for (size_t i = 0; i < count && result >= 0; i++)
        result = look(lib, &requests[i]);
    if (ranks && result >= 0 && !(together = vol_exchange_new(lib, ranks)))
        result = -1;
    result = vol_exchange_agree(ranks, result);
    if (result >= 0)
        result = vol_exchange_agree(ranks, write_requests(lib, together, requests, count));
    vol_exchange_free(together);
    if (!are_made)
        return -1;
    vol_requests_end(lib, requests, count);
    for (size_t i = 0; i < count && result < 0; i++)
        writes[i].node->is_doubted = true;
    return result;
}

herr_t vol_write_datasets(h5_lib *lib, const vol_transfer *writes, size_t count,
                          const vol_dxpl *list) {
    vol_request one;
    if (count == 1)
        return write_all(lib, &one, writes, 1, list);
    vol_request *requests = calloc(count, sizeof *requests);
    herr_t result = -1;
    if (requests || count == 0)
        result = write_all(lib, requests, writes, count, list);
    else
        VOL_PUSH(lib, DATASET, WRITEERROR, "no memory to write %zu datasets", count);
    free(requests);
    return result;
}
