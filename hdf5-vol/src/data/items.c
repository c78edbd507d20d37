/* SPDX-License-Identifier: MIT */
/* See items.h. */
#include "data/items.h"

#include "hdf5/errors.h"

#include <stdlib.h>
#include <string.h>

/* One conversion: items of `from` become items of `to`, in place. */
typedef struct conversion {
    hid_t from, to;
    size_t from_size, to_size;
} conversion;

static conversion conversion_of(h5_lib *lib, hid_t from, hid_t to) {
    return (conversion){.from = from,
                        .to = to,
                        .from_size = lib->H5Tget_size(from),
                        .to_size = lib->H5Tget_size(to)};
}

/* A buffer for `items` in both forms, with those of the first in it: `old` grown, or a new one when
   it is NULL. NULL without memory; `old` is as it was then. */
static void *make_buffer(const conversion *one, void *old, const void *items, size_t count) {
    const size_t size = one->from_size > one->to_size ? one->from_size : one->to_size;
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    void *data = realloc(old, bytes);
    if (data && items)
        memcpy(data, items, count * one->from_size);
    return data;
}

/* The background is for members of compounds that only the target has. */
static herr_t convert(h5_lib *lib, const vol_request *request, const conversion *one, void *items,
                      size_t count) {
    void *background = calloc(count, one->to_size);
    if (!background)
        return VOL_PUSH(lib, DATASET, CANTCONVERT, "no memory for %zu items", count);
    herr_t result =
        lib->H5Tconvert(one->from, one->to, count, items, background, request->list->id);
    free(background);
    if (result < 0)
        VOL_PUSH(lib, DATASET, CANTCONVERT, "the items of dataset '%s' cannot be converted",
                 request->args->node->path);
    return result;
}

herr_t vol_items_to_memory(h5_lib *lib, const vol_request *request, void *elements, size_t count) {
    if (request->stored_item < 0)
        return 0;
    const conversion one = conversion_of(lib, request->stored_item, request->memory_item);
    herr_t result = 0;
    for (size_t i = 0; i < count && result >= 0; i++) {
        hvl_t *element = (hvl_t *)elements + i;
        if (element->len == 0)
            continue;
        void *buffer = make_buffer(&one, element->p, NULL, element->len);
        if (!buffer)
            return VOL_PUSH(lib, DATASET, CANTCONVERT, "no memory for %zu items", element->len);
        element->p = buffer;
        result = convert(lib, request, &one, buffer, element->len);
    }
    return result;
}

herr_t vol_items_to_store(h5_lib *lib, const vol_request *request, zb_slice *slices, size_t count) {
    if (request->stored_item < 0)
        return 0;
    const conversion one = conversion_of(lib, request->memory_item, request->stored_item);
    herr_t result = 0;
    for (size_t i = 0; i < count; i++) {
        const zb_slice from = slices[i];
        const size_t items = result < 0 ? 0 : from.size / one.from_size;
        slices[i] = (zb_slice){.data = NULL};
        if (items == 0)
            continue;
        void *buffer = make_buffer(&one, NULL, from.data, items);
        if (!buffer)
            VOL_PUSH(lib, DATASET, CANTCONVERT, "no memory for %zu items", items);
        slices[i] = (zb_slice){.data = buffer, .size = buffer ? items * one.to_size : 0};
        result = buffer ? convert(lib, request, &one, buffer, items) : -1;
    }
    return result;
}

void vol_items_free(const vol_request *request, zb_slice *slices, size_t count) {
    for (size_t i = 0; request->stored_item >= 0 && i < count; i++) {
        free((void *)(uintptr_t)slices[i].data);
        slices[i] = (zb_slice){.data = NULL};
    }
}
