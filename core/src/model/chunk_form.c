/* SPDX-License-Identifier: MIT */
#include "model/chunk_form.h"

#include <string.h>

/* The array's own form is that of the largest chunk, which most chunks may be. */
enum zb_code zb__uneven_form(const zb__array *array, const uint64_t *index, const zb__form **out,
                             zb_error *err) {
    uint64_t shape[ZB_MAX_NDIM];
    bool is_largest = true;
    *out = NULL;
    for (uint32_t d = 0; d < array->grid.ndim; d++) {
        shape[d] = zb__grid_at(&array->grid, d, index[d]).extent;
        is_largest = is_largest && shape[d] == zb__grid_largest(&array->grid, d);
        if (shape[d] == 0)
            return zb_fail(err, ZB_EINVAL, "the array's grid has no such chunk");
    }
    if (is_largest) {
        *out = array->form;
        return ZB_OK;
    }
    enum zb_code code = zb__chain_form(array->chain, shape, out, err);
    if (!code && *out == array->form)
        zb__form_release(*out); /* the array holds a reference of its own */
    return code;
}

/* Each dimension is divided by itself, so that one shape with each extent is enough; and one that
   the inner chunks divide is as good as the largest. */
enum zb_code zb__chunk_forms_check(const zb__array *array, zb_error *err) {
    const zb__grid *grid = &array->grid;
    const zb__shard *shard = array->form->shard;
    enum zb_code code = ZB_OK;
    for (uint32_t i = 0; i < grid->ndim && grid->runs && shard && !code; i++) {
        uint32_t d = array->chain->axis[i];
        const zb__runs *runs = &grid->runs[d];
        for (size_t r = 0; r < runs->count && !code; r++) {
            uint64_t shape[ZB_MAX_NDIM];
            const zb__form *form = NULL;
            if (runs->run[r].extent % shard->inner_shape[i] == 0)
                continue;
            memcpy(shape, grid->extent, grid->ndim * sizeof *shape);
            shape[d] = runs->run[r].extent;
            code = zb__chain_form(array->chain, shape, &form, err);
            zb__form_release(form);
        }
    }
    return code;
}
