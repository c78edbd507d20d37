/* SPDX-License-Identifier: MIT */
/* See shown.h. */
#include "hdf5/shown.h"

#include <stdlib.h>

#include "zarrbridge/conventions.h"

#define UTF8_MOST 4U /* bytes of a character */

/* Marks text that is UTF-8; the core does not look at details of text. */
static const zb_dtype_detail utf8_text;

bool vol_shown_is_utf8(zb_dtype shown) {
    return shown.kind == ZB_KIND_CHARS && shown.detail == &utf8_text;
}

/* For whom elements are shown: a reader, or a program that writes elements of a type. */
typedef struct view {
    h5_lib *lib;  /* NULL: a reader */
    hid_t memory; /* -1: the program's type does not have the member */
} view;

static bool show(const view *v, zb_dtype stored, zb_dtype *out);

static bool show_field(const view *v, const zb_field *field, zb_dtype *out) {
    view of_field = {.lib = v->lib, .memory = -1};
    if (v->memory >= 0 && v->lib->H5Tget_class(v->memory) == H5T_COMPOUND) {
        const int index = v->lib->H5Tget_member_index(v->memory, field->name);
        of_field.memory = index >= 0 ? v->lib->H5Tget_member_type(v->memory, (unsigned)index) : -1;
    }
    const bool good = show(&of_field, field->dtype, out);
    if (of_field.memory >= 0)
        v->lib->H5Tclose(of_field.memory);
    return good;
}

/* Fields lie side by side again, as some have become longer. */
static bool show_struct(const view *v, zb_dtype stored, zb_dtype *out) {
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
        good = show_field(v, &from[i], &fields[i].dtype) &&
               !__builtin_add_overflow(out->size, fields[i].dtype.size, &out->size);
        detail->field_count = i + 1;
    }
    if (!good)
        vol_shown_free(*out);
    return good;
}

/* HDF5 ends null-padded text at its first NUL where it goes into another size, and changes nothing
   where the sizes are equal. */
static bool is_padded_text(h5_lib *lib, hid_t memory) {
    return lib->H5Tget_class(memory) == H5T_STRING && lib->H5Tis_variable_str(memory) == 0 &&
           lib->H5Tget_strpad(memory) == H5T_STR_NULLPAD;
}

static bool show(const view *v, zb_dtype stored, zb_dtype *out) {
    if (stored.kind == ZB_KIND_STRUCT)
        return show_struct(v, stored, out);
    *out = zb_dtype_shown(stored);
    if (stored.kind != ZB_KIND_UTF32)
        return true;
    if (v->lib && v->memory < 0) {
        *out = stored;
        return true;
    }
    *out = (zb_dtype){.kind = ZB_KIND_CHARS, .size = stored.size, .detail = &utf8_text};
    if (v->lib && is_padded_text(v->lib, v->memory))
        return !__builtin_add_overflow(v->lib->H5Tget_size(v->memory), 0U, &out->size);
    return !v->lib || !__builtin_add_overflow(out->size, UTF8_MOST, &out->size);
}

bool vol_shown_new(zb_dtype stored, zb_dtype *out) {
    const view reader = {.memory = -1};
    return show(&reader, stored, out);
}

bool vol_shown_written(h5_lib *lib, zb_dtype stored, hid_t memory, zb_dtype *out) {
    const view program = {.lib = lib, .memory = memory};
    return show(&program, stored, out);
}

bool vol_shown_has_points(zb_dtype stored) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(stored, &count);
    bool has = stored.kind == ZB_KIND_UTF32;
    for (size_t i = 0; i < count && !has; i++)
        has = vol_shown_has_points(fields[i].dtype);
    return has;
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
