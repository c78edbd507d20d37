/* SPDX-License-Identifier: MIT */
/* Datasets of strings, and of bytes of any number: see strings.h. */
#include "data/strings.h"

#include "data/code_points.h"
#include "data/items.h"
#include "hdf5/errors.h"
#include "types/types.h"

#include "zarrbridge/values.h"
#include "zarrbridge/write.h"

#include <stdlib.h>
#include <string.h>

/* ---- Work buffers ---- */

typedef struct string_buffers {
    size_t capacity;  /* elements */
    zb_slice *slices; /* the core's */
    char *elements;   /* HDF5's */
    char *background; /* of a read with a list of the program's: zeros */
    char *fixed;      /* the core's elements, where it has text of a fixed size */
} string_buffers;

static void free_buffers(string_buffers *work) {
    free(work->slices);
    free(work->elements);
    free(work->background);
    free(work->fixed);
}

static bool is_fixed(const vol_request *request) {
    return request->dtype.kind == ZB_KIND_CHARS;
}

/* Freed with free_buffers, also after a failure. */
static herr_t make_buffers(h5_lib *lib, const vol_request *request, string_buffers *work) {
    const bool needs_background = request->list->custom && !request->writing;
    *work = (string_buffers){.capacity = vol_request_capacity(request)};
    work->slices = calloc(work->capacity, sizeof *work->slices);
    work->elements = calloc(work->capacity, request->mem_size);
    if (needs_background)
        work->background = calloc(work->capacity, request->mem_size);
    if (is_fixed(request))
        work->fixed = calloc(work->capacity, request->dtype.size);
    if (work->slices && work->elements && (work->background || !needs_background) &&
        (work->fixed || !is_fixed(request)))
        return 0;
    return VOL_PUSH(lib, DATASET, READERROR, "no memory for a work buffer of %zu strings",
                    work->capacity);
}

/* ---- Reading ---- */

/* The elements of a piece in HDF5's form. */
static herr_t put_texts(h5_lib *lib, const vol_request *request, const vol_walk *walk,
                        string_buffers *work, size_t count) {
    zb_error err = {0};
    vol_text_form form = request->text;
    if (request->stored_item >= 0)
        form.item = lib->H5Tget_size(request->stored_item);
    for (size_t i = 0; i < count; i++) {
        void *element = work->elements + i * request->mem_size;
        if (vol_text_put(&form, work->slices[i], element, &err) == ZB_OK)
            continue;
        uint64_t place[ZB_MAX_NDIM];
        vol_text_free(&request->text, work->elements, i);
        vol_walk_place(walk, i, place);
        return vol_push_element(request->args->node, place, &err);
    }
    return 0;
}

/* Those that HDF5 makes of them by the program's list. It copies, so ours are freed. */
static herr_t apply_list(h5_lib *lib, const vol_request *request, string_buffers *work,
                         size_t count) {
    if (!request->list->custom)
        return 0;
    char *made = malloc(count * request->mem_size);
    if (!made) {
        vol_text_free(&request->text, work->elements, count);
        return VOL_PUSH(lib, DATASET, READERROR, "no memory for a work buffer of %zu strings",
                        count);
    }
    memcpy(made, work->elements, count * request->mem_size);
    herr_t result = vol_request_convert(lib, request, count, work->elements, work->background);
    vol_text_free(&request->text, made, count);
    free(made);
    return result;
}

/* Reads a piece. Its bytes are the walk's until they are dropped, which is due also after a
   failure. */
static herr_t read_slices(h5_lib *lib, const vol_request *request, vol_walk *walk,
                          string_buffers *work, size_t count) {
    zb_error err = {0};
    if (is_fixed(request)) {
        const herr_t result = vol_walk_read(walk, work->fixed, request->dtype);
        if (result >= 0)
            vol_points_get(request, work->fixed, count, work->slices);
        return result;
    }
    if (zb_values_new(&walk->values, &err) == ZB_OK)
        return vol_walk_read(walk, work->slices, request->dtype);
    return VOL_PUSH_ZB(lib, DATASET, READERROR, &err);
}

static void drop_bytes(vol_walk *walk) {
    zb_values_free(walk->values);
    walk->values = NULL;
}

static herr_t read_piece(h5_lib *lib, const vol_request *request, vol_walk *walk,
                         string_buffers *work, size_t count) {
    herr_t result = read_slices(lib, request, walk, work, count);
    if (result >= 0)
        result = put_texts(lib, request, walk, work, count);
    drop_bytes(walk);
    if (result >= 0 && vol_items_to_memory(lib, request, work->elements, count) < 0) {
        vol_text_free(&request->text, work->elements, count);
        result = -1;
    }
    return result < 0 ? -1 : apply_list(lib, request, work, count);
}

/* *done: the elements that the program's buffer holds, of a failed read, too. */
static herr_t read_pieces(h5_lib *lib, const vol_request *request, vol_walk *walk, vol_scatter *out,
                          string_buffers *work, uint64_t *done) {
    size_t got;
    htri_t more;
    while ((more = vol_walk_next(walk, work->capacity, &got)) > 0) {
        if (read_piece(lib, request, walk, work, got) < 0)
            return -1;
        if (vol_scatter_put(out, work->elements, got) < 0)
            return -1;
        *done += got;
    }
    return more;
}

/* Takes back the texts of the first `done` elements: a program frees nothing after a failed read.
   One by one, since a selection in memory may name a place twice. */
static void take_back(h5_lib *lib, const vol_request *request, uint64_t done) {
    const vol_text_form *form = &request->text;
    char element[sizeof(hvl_t)]; /* the longest form of variable length */
    hid_t saved = vol_stack_save(lib);
    vol_scatter from, to;
    bool good = vol_request_scatter(lib, request, &from) >= 0;
    good = vol_request_scatter(lib, request, &to) >= 0 && good;
    for (; good && done > 0; done--) {
        good = vol_scatter_get(&from, element, 1) >= 0;
        if (good)
            vol_vlen_free(lib, request->list->id, vol_text_memory(form, element));
        memset(element, 0, sizeof element);
        good = good && vol_scatter_put(&to, element, 1) >= 0;
    }
    vol_scatter_end(&to);
    vol_scatter_end(&from);
    vol_stack_restore(lib, saved);
}

herr_t vol_read_strings(h5_lib *lib, const vol_request *request) {
    string_buffers work;
    vol_scatter out = {.iterator = -1};
    vol_walk walk;
    uint64_t done = 0;
    if (vol_walk_begin(&walk, lib, request->args->node->zarr, &request->file) < 0)
        return -1;
    herr_t result = make_buffers(lib, request, &work);
    if (result >= 0)
        result = vol_request_scatter(lib, request, &out);
    if (result >= 0)
        result = read_pieces(lib, request, &walk, &out, &work, &done);
    if (result < 0 && done > 0 && request->text.is_variable)
        take_back(lib, request, done);
    vol_scatter_end(&out);
    vol_walk_end(&walk);
    free_buffers(&work);
    return result;
}

/* ---- Writing ---- */

/* The program's elements as the core takes them. */
static void take_slices(const vol_request *request, string_buffers *work, size_t count) {
    for (size_t i = 0; i < count; i++)
        work->slices[i] = vol_text_get(&request->text, work->elements + i * request->mem_size);
    if (work->fixed)
        vol_points_put(request, work->slices, count, work->fixed);
}

static herr_t look_at_pieces(h5_lib *lib, const vol_request *request, string_buffers *work,
                             vol_scatter *in) {
    const uint64_t all = request->file.elements;
    herr_t result = 0;
    for (uint64_t done = 0; result >= 0 && done < all; done += work->capacity) {
        const size_t count = all - done < work->capacity ? (size_t)(all - done) : work->capacity;
        result = vol_scatter_get(in, work->elements, count);
        if (result < 0)
            break;
        take_slices(request, work, count);
        result = vol_points_check(lib, request, done, count, work->fixed);
    }
    return result;
}

herr_t vol_look_at_strings(h5_lib *lib, const vol_request *request) {
    string_buffers work;
    vol_scatter in = {.iterator = -1};
    herr_t result = make_buffers(lib, request, &work);
    if (result >= 0)
        result = vol_request_scatter(lib, request, &in);
    if (result >= 0)
        result = look_at_pieces(lib, request, &work, &in);
    vol_scatter_end(&in);
    free_buffers(&work);
    return result;
}

static herr_t write_piece(h5_lib *lib, const vol_request *request, vol_walk *walk,
                          string_buffers *work, size_t count) {
    take_slices(request, work, count);
    herr_t result = vol_items_to_store(lib, request, work->slices, count);
    if (result >= 0)
        result = vol_request_write_piece(lib, request, walk,
                                         work->fixed ? (void *)work->fixed : work->slices);
    vol_items_free(request, work->slices, count);
    return result;
}

static herr_t write_pieces(h5_lib *lib, const vol_request *request, vol_walk *walk, vol_scatter *in,
                           string_buffers *work) {
    size_t got;
    htri_t more;
    while ((more = vol_walk_next(walk, work->capacity, &got)) > 0) {
        if (vol_scatter_get(in, work->elements, got) < 0)
            return -1;
        if (request->list->custom &&
            vol_request_convert(lib, request, got, work->elements, NULL) < 0)
            return -1;
        herr_t result = write_piece(lib, request, walk, work, got);
        if (request->list->custom) /* HDF5's copies, and not the program's */
            vol_text_free(&request->text, work->elements, got);
        if (result < 0)
            return -1;
    }
    return more;
}

herr_t vol_write_strings(h5_lib *lib, const vol_request *request) {
    string_buffers work;
    vol_scatter in = {.iterator = -1};
    vol_walk walk;
    if (vol_walk_begin(&walk, lib, request->args->node->zarr, &request->file) < 0)
        return -1;
    herr_t result = make_buffers(lib, request, &work);
    if (result >= 0)
        result = vol_request_scatter(lib, request, &in);
    if (result >= 0)
        result = write_pieces(lib, request, &walk, &in, &work);
    vol_scatter_end(&in);
    vol_walk_end(&walk);
    free_buffers(&work);
    return result;
}

/* ---- Sizes ---- */

static herr_t add_sizes(h5_lib *lib, const vol_request *request, vol_walk *walk,
                        string_buffers *work, hsize_t *bytes) {
    size_t got;
    htri_t more;
    while ((more = vol_walk_next(walk, work->capacity, &got)) > 0) {
        herr_t result = read_slices(lib, request, walk, work, got);
        const size_t item =
            request->stored_item < 0 ? request->text.item : lib->H5Tget_size(request->stored_item);
        for (size_t i = 0; i < got && result >= 0; i++)
            *bytes += request->text.is_bytes ? work->slices[i].size / item * request->text.item
                                             : work->slices[i].size + 1;
        drop_bytes(walk);
        if (result < 0)
            return -1;
    }
    return more;
}

herr_t vol_strings_size(h5_lib *lib, const vol_request *request, hsize_t *bytes) {
    string_buffers work;
    vol_walk walk;
    if (vol_request_settle(lib, request) < 0 ||
        vol_walk_begin(&walk, lib, request->args->node->zarr, &request->file) < 0)
        return -1;
    herr_t result = make_buffers(lib, request, &work);
    if (result >= 0)
        result = add_sizes(lib, request, &walk, &work, bytes);
    vol_walk_end(&walk);
    free_buffers(&work);
    return result;
}
