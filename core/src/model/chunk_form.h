/* SPDX-License-Identifier: MIT */
/* The form of one chunk of an array: the same for all chunks of a regular grid, by its shape in a
   grid of several extents. */
#ifndef ZB_MODEL_CHUNK_FORM_H
#define ZB_MODEL_CHUNK_FORM_H

#include "model/array.h"

enum zb_code zb__uneven_form(const zb__array *array, const uint64_t *index, const zb__form **out,
                             zb_error *err);

/* The form of the chunk at an index of the array's grid, to be given back by zb__chunk_form_end
   while the array is there. ZB_EINVAL for a chunk that the grid does not have. Any thread. */
static inline enum zb_code zb__chunk_form(const zb__array *array, const uint64_t *index,
                                          const zb__form **out, zb_error *err) {
    *out = array->form;
    return __builtin_expect(array->grid.runs != NULL, 0) ? zb__uneven_form(array, index, out, err)
                                                         : ZB_OK;
}

/* NULL is allowed. */
static inline void zb__chunk_form_end(const zb__array *array, const zb__form *form) {
    if (form != array->form)
        zb__form_release(form);
}

/* Refuses shapes of shards that the codecs do not take. All chunks that the document names count,
   also those behind the array's edge. */
enum zb_code zb__chunk_forms_check(const zb__array *array, zb_error *err);

#endif
