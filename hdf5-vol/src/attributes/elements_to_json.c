/* SPDX-License-Identifier: MIT */
/* Elements to JSON: see elements.h. */
#include "attributes/elements.h"

#include "hdf5/types.h"
#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

static void print(const vol_form *form, uint32_t ndim, const uint64_t *dims, const char **at,
                  zb_json_writer *out);

/* ---- Numbers ---- */

static void print_number(const vol_form *form, const char *element, zb_json_writer *out) {
    h5_lib *lib = form->lib;
    union {
        int64_t i;
        uint64_t u;
        double d;
        char bytes[VOL_LARGEST_FLOAT];
    } value = {.u = 0};
    const hid_t to = form->kind == VOL_FORM_FLOAT ? vol_type_double(lib)
                     : form->kind == VOL_FORM_INT ? *lib->H5T_NATIVE_INT64_g
                                                  : *lib->H5T_NATIVE_UINT64_g;
    memcpy(value.bytes, element, form->size);
    lib->H5Tconvert(form->number, to, 1, &value, NULL, *lib->H5P_LST_DATASET_XFER_ID_g);
    if (form->kind == VOL_FORM_INT)
        zb_json_write_int64(out, value.i);
    else if (form->kind == VOL_FORM_UINT)
        zb_json_write_uint64(out, value.u);
    else if (form->size <= sizeof(float) && (double)(float)value.d == value.d)
        zb_json_write_float(out, (float)value.d);
    else
        zb_json_write_double(out, value.d);
}

static void print_bits(const vol_form *form, const char *element, zb_json_writer *out) {
    uint64_t value = 0;
    for (size_t i = 0; i < form->size; i++) {
        const size_t place = form->is_big_endian ? form->size - 1 - i : i;
        value |= (uint64_t)(unsigned char)element[i] << 8 * place;
    }
    zb_json_write_uint64(out, value);
}

/* ---- Text ---- */

bool vol_text_is_utf8(const char *text) {
    zb_json *json = NULL;
    zb_json_writer *writer = zb_json_writer_new();
    size_t size;
    zb_json_write_string(writer, text);
    char *printed = zb_json_writer_end(writer, &size);
    const bool good = printed && zb_json_parse(printed, size, &json, NULL) == ZB_OK;
    zb_json_free(json);
    free(printed);
    return good;
}

/* A copy that has no NUL within, as UTF-8; malloc'ed. */
static char *plain_text(zb_slice text) {
    static const char replaced[] = "\xef\xbf\xbd"; /* U+FFFD */
    char *copy = malloc(3 * text.size + 1), *to = copy;
    if (!copy)
        return NULL;
    bool is_ascii = true;
    for (size_t i = 0; i < text.size; i++) {
        is_ascii &= (unsigned char)text.data[i] < 0x80;
        if (text.data[i])
            *to++ = text.data[i];
        else
            to = (char *)memcpy(to, replaced, 3) + 3;
    }
    *to = '\0';
    if (is_ascii || vol_text_is_utf8(copy))
        return copy;
    to = copy;
    for (size_t i = 0; i < text.size; i++) {
        const unsigned char c = (unsigned char)text.data[i];
        if (c == 0) {
            to = (char *)memcpy(to, replaced, 3) + 3;
        } else if (c < 0x80) {
            *to++ = (char)c;
        } else {
            *to++ = (char)(0xc0 | c >> 6);
            *to++ = (char)(0x80 | (c & 0x3f));
        }
    }
    *to = '\0';
    return copy;
}

static void print_text(zb_slice text, zb_json_writer *out) {
    char *copy = plain_text(text);
    zb_json_write_string(copy ? out : NULL, copy ? copy : "");
    free(copy);
}

static void print_reference(const vol_form *form, const char *element, zb_json_writer *out) {
    char *text;
    const enum zb_code code = vol_reference_text(form, element, &text, NULL);
    if (text || code)
        zb_json_write_string(text ? out : NULL, text ? text : "");
    else
        zb_json_write_null(out);
    free(text);
}

static void print_base64(const vol_form *form, const char *element, zb_json_writer *out) {
    char *text = zb_base64_print(element, form->size);
    zb_json_write_string(text ? out : NULL, text ? text : "");
    free(text);
}

/* ---- Elements ---- */

static void print_compound(const vol_form *form, const char *element, zb_json_writer *out) {
    zb_json_begin_object(out);
    for (size_t i = 0; i < form->count; i++) {
        const char *at = element + form->member[i].offset;
        zb_json_write_name(out, form->member[i].name);
        print(form->member[i].form, 0, NULL, &at, out);
    }
    zb_json_end_object(out);
}

static void print_list(const vol_form *form, const char *element, zb_json_writer *out) {
    hvl_t list;
    memcpy(&list, element, sizeof list);
    const char *at = list.p;
    const uint64_t length = list.p ? list.len : 0;
    print(form->base, 1, &length, &at, out);
}

static void print_one(const vol_form *form, const char *element, zb_json_writer *out) {
    switch (form->kind) {
    case VOL_FORM_BOOL:
        zb_json_write_bool(out, *element != 0);
        return;
    case VOL_FORM_INT:
    case VOL_FORM_UINT:
    case VOL_FORM_FLOAT:
        print_number(form, element, out);
        return;
    case VOL_FORM_BITS:
        print_bits(form, element, out);
        return;
    case VOL_FORM_OPAQUE:
        print_base64(form, element, out);
        return;
    case VOL_FORM_TEXT:
        print_text(vol_text_get(&form->text, element), out);
        return;
    case VOL_FORM_REFERENCE:
        print_reference(form, element, out);
        return;
    case VOL_FORM_COMPOUND:
        print_compound(form, element, out);
        return;
    case VOL_FORM_ARRAY:
        print(form->base, form->ndim, form->dims, &element, out);
        return;
    case VOL_FORM_VLEN:
        print_list(form, element, out);
    }
}

/* Moves *at behind the elements. */
static void print(const vol_form *form, uint32_t ndim, const uint64_t *dims, const char **at,
                  zb_json_writer *out) {
    if (ndim == 0) {
        print_one(form, *at, out);
        *at += form->size;
        return;
    }
    zb_json_begin_array(out);
    for (uint64_t i = 0; i < dims[0]; i++)
        print(form, ndim - 1, dims + 1, at, out);
    zb_json_end_array(out);
}

void vol_elements_print(const vol_form *form, uint32_t ndim, const uint64_t *dims,
                        const void *elements, zb_json_writer *out) {
    const char *at = elements;
    print(form, ndim, dims, &at, out);
}
