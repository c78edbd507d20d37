/* SPDX-License-Identifier: MIT */
/* See code_points.h. */
#include "data/code_points.h"

#include "hdf5/errors.h"
#include "hdf5/shown.h"
#include "types/types.h"

#include <string.h>

static zb_dtype stored_dtype(const vol_request *request) {
    return zb_node_array(request->args->node->zarr)->dtype;
}

/* ---- Types ---- */

herr_t vol_points_choose(h5_lib *lib, const vol_transfer *args, vol_request *out) {
    const zb_dtype stored = zb_node_array(args->node->zarr)->dtype;
    const bool good = vol_shown_written(lib, stored, args->mem_type, &out->written);
    out->dtype = out->written = good ? out->written : (zb_dtype){.size = 0};
    out->type = good ? vol_type_new(lib, out->dtype) : -1;
    if (out->type >= 0)
        return 0;
    return VOL_PUSH(lib, DATASET, CANTGET, "no memory for the type of dataset '%s'",
                    args->node->path);
}

bool vol_points_variable(h5_lib *lib, const vol_transfer *args, vol_request *out) {
    const zb_dtype stored = zb_node_array(args->node->zarr)->dtype;
    if (stored.kind != ZB_KIND_UTF32 || lib->H5Tis_variable_str(args->mem_type) <= 0 ||
        !vol_text_form_of(lib, args->mem_type, &out->text) ||
        !(out->writing ? vol_shown_written(lib, stored, args->mem_type, &out->dtype)
                       : vol_shown_new(stored, &out->dtype)))
        return false;
    out->is_text = true;
    out->core_converts = false;
    out->mem_size = out->text.size;
    return true;
}

/* ---- The look ---- */

/* Members that the program does not have are code points in `from`, too (vol_shown_written). */
static bool has_text_for(zb_dtype from, zb_dtype stored) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(stored, &count);
    bool has = stored.kind == ZB_KIND_UTF32 && from.kind == ZB_KIND_CHARS;
    for (size_t i = 0; i < count && !has; i++) {
        const zb_field *source = zb_dtype_field(from, fields[i].name);
        has = source && has_text_for(source->dtype, fields[i].dtype);
    }
    return has;
}

bool vol_points_checked(const vol_request *request) {
    return request->writing && has_text_for(request->dtype, stored_dtype(request));
}

herr_t vol_points_check(h5_lib *lib, const vol_request *request, uint64_t first, size_t count,
                        const char *elements) {
    const zb_dtype dtype = request->dtype, stored = stored_dtype(request);
    for (size_t i = 0; i < count; i++) {
        const char *problem = zb_dtype_refuses(dtype, elements + i * dtype.size, stored);
        if (!problem)
            continue;
        char type[128];
        return VOL_PUSH(
            lib, DATASET, BADVALUE,
            "dataset '%s' holds %s, and element %llu of what is to be written %s: nothing has "
            "been written",
            request->args->node->path, zb_dtype_print(stored, type, sizeof type),
            (unsigned long long)(first + i), problem);
    }
    return 0;
}

/* ---- Text of any length ---- */

void vol_points_put(const vol_request *request, const zb_slice *slices, size_t count,
                    char *elements) {
    const size_t size = request->dtype.size;
    for (size_t i = 0; i < count; i++, elements += size) {
        const size_t used = slices[i].size < size ? slices[i].size : size;
        if (used > 0)
            memcpy(elements, slices[i].data, used);
        memset(elements + used, 0, size - used);
    }
}

void vol_points_get(const vol_request *request, const char *elements, size_t count,
                    zb_slice *slices) {
    const size_t size = request->dtype.size;
    for (size_t i = 0; i < count; i++, elements += size) {
        slices[i] = (zb_slice){.data = elements, .size = size};
        while (slices[i].size > 0 && elements[slices[i].size - 1] == '\0')
            slices[i].size--;
    }
}
