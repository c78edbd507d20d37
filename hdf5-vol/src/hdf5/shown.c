/* SPDX-License-Identifier: MIT */
/* See shown.h. */
#include "hdf5/shown.h"

#include <stdlib.h>

#include "zarrbridge/conventions.h"

/* Marks text that is UTF-8; the core does not look at details of text. */
static const zb_dtype_detail utf8_text;

bool vol_shown_is_utf8(zb_dtype shown) {
    return shown.kind == ZB_KIND_CHARS && shown.detail == &utf8_text;
}

/* Fields lie side by side again, as some have become longer. */
static bool show_struct(zb_dtype stored, zb_dtype *out) {
    size_t count;
    const zb_field *from = zb_dtype_fields(stored, &count);
    zb_dtype_detail *detail = calloc(1, sizeof *detail);
    zb_field *fields = calloc(count, sizeof *fields);
    bool good = detail && fields;
    *out = (zb_dtype){.kind = ZB_KIND_STRUCT, .detail = detail};
    if (!good) {
        free(detail);
        free(fields);
        return false;
    }
    detail->fields = fields;
    for (size_t i = 0; i < count && good; i++) {
        fields[i].name = from[i].name;
        fields[i].offset = out->size;
        good = vol_shown_new(from[i].dtype, &fields[i].dtype) &&
               !__builtin_add_overflow(out->size, fields[i].dtype.size, &out->size);
        detail->field_count = i + 1;
    }
    if (!good)
        vol_shown_free(*out);
    return good;
}

bool vol_shown_new(zb_dtype stored, zb_dtype *out) {
    if (stored.kind == ZB_KIND_STRUCT)
        return show_struct(stored, out);
    *out = zb_dtype_shown(stored);
    if (stored.kind == ZB_KIND_UTF32)
        *out = (zb_dtype){.kind = ZB_KIND_CHARS, .size = stored.size, .detail = &utf8_text};
    return true;
}

void vol_shown_as_utf8(zb_dtype *shown) {
    size_t count;
    zb_field *fields =
        (zb_field *)(uintptr_t)zb_dtype_fields(*shown, &count); /* of vol_shown_new */
    if (shown->kind == ZB_KIND_CHARS)
        shown->detail = &utf8_text;
    for (size_t i = 0; shown->kind == ZB_KIND_STRUCT && i < count; i++)
        vol_shown_as_utf8(&fields[i].dtype);
}

void vol_shown_free(zb_dtype shown) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(shown, &count);
    if (shown.kind != ZB_KIND_STRUCT || !shown.detail)
        return;
    for (size_t i = 0; i < count; i++)
        vol_shown_free(fields[i].dtype);
    free((void *)(uintptr_t)fields);
    free((void *)(uintptr_t)shown.detail);
}
