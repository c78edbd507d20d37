/* SPDX-License-Identifier: MIT */
/* Datasets of elements that are texts in the store: see nested.h. */
#include "data/nested.h"

#include "attributes/elements.h"
#include "attributes/reference_kinds.h"
#include "types/convert.h"
#include "hdf5/errors.h"
#include "types/types.h"

#include "zarrbridge/values.h"
#include "zarrbridge/write.h"

#include <stdlib.h>
#include <string.h>

/* One call: its elements, in the dataset's type and in the program's. */
typedef struct work {
    h5_lib *lib;
    const vol_request *request;
    vol_form *form;  /* of the dataset's type */
    size_t count;    /* elements */
    char *elements;  /* of the dataset's type */
    char *existing;  /* writing: those that are replaced, where they count; else NULL */
    char *memory;    /* of the program's type */
    zb_slice *texts; /* of one piece */
    size_t capacity; /* elements of one piece */
} work;

static herr_t push_no_memory(const work *w) {
    return VOL_PUSH(w->lib, DATASET, CANTGET, "no memory for %zu elements of dataset '%s'",
                    w->count, w->request->args->node->path);
}

/* Zeros; NULL without memory. */
static char *new_elements(const work *w, size_t size) {
    return calloc(w->count + 1, size);
}

/* Ended by end, also after a failure. */
static herr_t begin(h5_lib *lib, const vol_request *request, work *w) {
    vol_node *node = request->args->node;
    zb_error err = {0};
    *w = (work){.lib = lib,
                .request = request,
                .count = (size_t)request->file.elements,
                .capacity = vol_request_capacity(request)};
    if (vol_form_new(node->file, request->type, &w->form, &err) != ZB_OK)
        return VOL_PUSH_ZB(lib, DATASET, CANTGET, &err);
    if (w->form->size > VOL_ATTR_LARGEST)
        return push_no_memory(w);
    w->elements = new_elements(w, w->form->size);
    w->memory = new_elements(w, request->mem_size);
    w->texts = calloc(w->capacity + 1, sizeof *w->texts);
    return w->elements && w->memory && w->texts ? 0 : push_no_memory(w);
}

/* Frees what is still the call's; an error that was pushed stays. */
static void end(work *w) {
    hid_t saved = vol_stack_save(w->lib);
    if (w->elements && w->form)
        vol_elements_drop(w->form, w->count, w->elements, w->existing);
    if (w->existing)
        vol_elements_free(w->form, w->count, w->existing);
    free(w->elements);
    free(w->memory);
    free(w->texts);
    vol_form_free(w->form);
    vol_stack_restore(w->lib, saved);
}

static bool is_kind(const work *w, const hid_t *of, hid_t type) {
    return vol_type_is_reference(w->lib, type, *of);
}

/* References of the new kind, which HDF5's conversion does not make of old ones. */
static bool wants_new_references(const work *w) {
    return w->form->kind == VOL_FORM_REFERENCE &&
           is_kind(w, w->lib->H5T_STD_REF_g, w->request->args->mem_type);
}

/* Whether elements of both types are the same bytes. */
static bool is_same_type(const work *w) {
    const vol_transfer *args = w->request->args;
    return !w->request->list->custom && w->lib->H5Tequal(w->request->type, args->mem_type) > 0;
}

/* ---- HDF5's conversion ---- */

static herr_t convert_by_list(const work *w, hid_t stored, hid_t memory) {
    const vol_request *request = w->request;
    h5_lib *lib = w->lib;
    const size_t from_size = request->writing ? request->mem_size : w->form->size;
    const size_t to_size = request->writing ? w->form->size : request->mem_size;
    const char *from = request->writing ? w->memory : w->elements;
    char *to = request->writing ? w->elements : w->memory;
    hid_t plain_stored = vol_type_without_references(lib, stored);
    hid_t plain_memory = vol_type_without_references(lib, memory);
    char *data = new_elements(w, from_size > to_size ? from_size : to_size);
    herr_t result = -1;
    if (data && plain_stored >= 0 && plain_memory >= 0) {
        memcpy(data, from, w->count * from_size);
        result = vol_dxpl_convert(lib, request->list, plain_memory, plain_stored, request->writing,
                                  w->count, data, to);
    }
    if (result >= 0)
        memcpy(to, data, w->count * to_size);
    free(data);
    vol_release_id(lib, plain_memory);
    vol_release_id(lib, plain_stored);
    return result;
}

/* What elements point at is made anew on the other side; members that only that side has stay what
   they are there. */
static herr_t convert(const work *w) {
    const vol_request *request = w->request;
    h5_lib *lib = w->lib;
    const hid_t memory = request->args->mem_type;
    hid_t stored = vol_type_like(lib, request->type, memory);
    herr_t result;
    if (request->list->custom)
        result = convert_by_list(w, stored, memory);
    else if (request->writing)
        result =
            vol_convert(lib, memory, stored, w->count, w->memory, w->elements, request->list->id);
    else
        result =
            vol_convert(lib, stored, memory, w->count, w->elements, w->memory, request->list->id);
    vol_release_id(lib, stored);
    return vol_request_converted(lib, request, result);
}

herr_t vol_nested_check(h5_lib *lib, const vol_request *request) {
    work w;
    herr_t result = begin(lib, request, &w);
    if (result >= 0 && !wants_new_references(&w) && !is_same_type(&w))
        result = convert(&w);
    end(&w);
    return result;
}

/* ---- Pieces ---- */

typedef herr_t (*act_on_piece)(work *w, vol_walk *walk, char *elements, size_t count);

/* Goes through the selected elements of the store, which lie side by side in `elements`. */
static herr_t each_piece(work *w, char *elements, act_on_piece act) {
    vol_walk walk;
    size_t got;
    const vol_request *request = w->request;
    if (vol_walk_begin(&walk, w->lib, request->args->node->zarr, &request->file) < 0)
        return -1;
    herr_t result = 0;
    while (result >= 0 && (result = vol_walk_next(&walk, w->capacity, &got)) > 0) {
        result = act(w, &walk, elements, got);
        elements += got * w->form->size;
    }
    vol_walk_end(&walk);
    return result;
}

/* ---- Reading ---- */

static herr_t parse_piece(work *w, vol_walk *walk, char *elements, size_t count) {
    zb_error err = {0};
    for (size_t i = 0; i < count; i++) {
        uint64_t place[ZB_MAX_NDIM];
        if (vol_element_parse(w->form, w->texts[i], elements + i * w->form->size, &err) == ZB_OK)
            continue;
        vol_walk_place(walk, i, place);
        return vol_push_element(w->request->args->node, place, &err);
    }
    return 0;
}

static herr_t read_piece(work *w, vol_walk *walk, char *elements, size_t count) {
    zb_error err = {0};
    herr_t result = -1;
    if (zb_values_new(&walk->values, &err) != ZB_OK)
        VOL_PUSH_ZB(w->lib, DATASET, READERROR, &err);
    else if (vol_walk_read(walk, w->texts, w->request->dtype) >= 0)
        result = parse_piece(w, walk, elements, count);
    zb_values_free(walk->values);
    walk->values = NULL;
    return result;
}

/* The selected elements of the store, into elements of zeros. */
static herr_t decode(work *w, char *elements) {
    return each_piece(w, elements, read_piece);
}

/* The program's elements, packed; `memory` holds those from before. What they point at is the
   program's from now on. */
static herr_t to_memory(work *w) {
    const vol_transfer *args = w->request->args;
    if (is_same_type(w)) {
        memcpy(w->memory, w->elements, w->count * w->form->size);
        memset(w->elements, 0, w->count * w->form->size);
        return 0;
    }
    if (!wants_new_references(w))
        return convert(w);
    return vol_refs_of_tokens(args->handle, w->count, (const uint64_t *)(void *)w->elements,
                              (H5R_ref_t *)(void *)w->memory);
}

static herr_t scatter(const work *w, bool put) {
    const vol_request *request = w->request;
    vol_scatter places = {.iterator = -1};
    herr_t result = vol_request_scatter(w->lib, request, &places);
    if (result >= 0)
        result = put ? vol_scatter_put(&places, w->memory, w->count)
                     : vol_scatter_get(&places, w->memory, w->count);
    vol_scatter_end(&places);
    return result;
}

herr_t vol_read_nested(h5_lib *lib, const vol_request *request) {
    work w;
    herr_t result = begin(lib, request, &w);
    if (result >= 0)
        result = decode(&w, w.elements);
    if (result >= 0)
        result = scatter(&w, false);
    if (result >= 0)
        result = to_memory(&w);
    if (result >= 0)
        result = scatter(&w, true);
    end(&w);
    return result;
}

/* The elements that a read would make are made, and freed. */
static herr_t measure(work *w, hsize_t *bytes) {
    vol_form *form;
    zb_error err = {0};
    const vol_transfer *args = w->request->args;
    if (wants_new_references(w))
        return 0;
    if (vol_form_new(args->node->file, args->mem_type, &form, &err) != ZB_OK)
        return VOL_PUSH_ZB(w->lib, DATASET, CANTGET, &err);
    herr_t result = to_memory(w);
    if (result >= 0) {
        *bytes = vol_elements_pointed(form, w->count, w->memory);
        vol_elements_drop(form, w->count, w->memory, NULL);
    }
    vol_form_free(form);
    return result;
}

herr_t vol_nested_size(h5_lib *lib, const vol_request *request, hsize_t *bytes) {
    work w;
    herr_t result = vol_request_settle(lib, request) < 0 ? -1 : begin(lib, request, &w);
    if (result >= 0)
        result = decode(&w, w.elements);
    if (result >= 0)
        result = measure(&w, bytes);
    end(&w);
    return result;
}

/* ---- Writing ---- */

/* A reference of the new kind without a token is no null reference when it has any bytes. */
static herr_t take_new_references(work *w) {
    static const H5R_ref_t nothing;
    const H5R_ref_t *given = (const H5R_ref_t *)(void *)w->memory;
    uint64_t *tokens = (uint64_t *)(void *)w->elements;
    vol_refs_to_tokens(w->request->args->node->file, w->count, given, tokens);
    for (size_t i = 0; i < w->count; i++) {
        if (tokens[i] != 0 || memcmp(&given[i], &nothing, sizeof nothing) == 0)
            continue;
        return VOL_PUSH(w->lib, DATASET, BADVALUE,
                        "a reference for dataset '%s' leads to no object of this store",
                        w->request->args->node->path);
    }
    return 0;
}

/* Members that the program's type lacks keep what the store has. */
static herr_t take_existing(work *w) {
    if (!vol_form_has(w->form, VOL_FORM_COMPOUND))
        return 0;
    w->existing = new_elements(w, w->form->size);
    if (!w->existing)
        return push_no_memory(w);
    if (vol_request_settle(w->lib, w->request) < 0 || decode(w, w->existing) < 0)
        return -1;
    memcpy(w->elements, w->existing, w->count * w->form->size);
    return 0;
}

static void free_texts(const work *w, size_t count) {
    for (size_t i = 0; i < count; i++)
        free((void *)(uintptr_t)w->texts[i].data);
}

static herr_t write_piece(work *w, vol_walk *walk, char *elements, size_t count) {
    zb_error err = {0};
    herr_t result = 0;
    size_t made = 0;
    for (; made < count && result >= 0; made++) {
        uint64_t place[ZB_MAX_NDIM];
        if (vol_element_print(w->form, elements + made * w->form->size, &w->texts[made], &err) ==
            ZB_OK)
            continue;
        vol_walk_place(walk, made, place);
        result = vol_push_element(w->request->args->node, place, &err);
    }
    if (result >= 0)
        result = vol_request_write_piece(w->lib, w->request, walk, w->texts);
    free_texts(w, made);
    return result;
}

static herr_t encode(work *w, char *elements) {
    return each_piece(w, elements, write_piece);
}

/* The program's elements in the dataset's type. */
static herr_t from_memory(work *w) {
    if (wants_new_references(w))
        return take_new_references(w);
    return take_existing(w) < 0 ? -1 : convert(w);
}

herr_t vol_write_nested(h5_lib *lib, const vol_request *request) {
    work w;
    herr_t result = begin(lib, request, &w);
    if (result >= 0)
        result = scatter(&w, false);
    if (result >= 0 && is_same_type(&w))
        result = encode(&w, w.memory);
    else if (result >= 0)
        result = from_memory(&w) < 0 ? -1 : encode(&w, w.elements);
    end(&w);
    return result;
}
