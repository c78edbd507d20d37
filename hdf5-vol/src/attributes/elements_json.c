/* SPDX-License-Identifier: MIT */
/* Elements from JSON: see elements.h. */
#include "attributes/elements.h"

#include "hdf5/text.h"
#include "types/types.h"

#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

static bool parse(const vol_form *form, uint32_t ndim, const uint64_t *dims, char **at,
                  const zb_json *json);

/* ---- Numbers ---- */

static bool to_double(const zb_json *json, double *out) {
    zb_value value;
    if (!zb_json_string(json))
        return zb_json_double(json, out);
    if (!zb_value_parse(json, &value))
        return false;
    const bool is_number = value.kind == ZB_VALUE_NUMBERS; /* "NaN" and its like: a double */
    if (is_number)
        memcpy(out, value.data, sizeof *out);
    zb_value_clear(&value);
    return is_number;
}

/* A number that HDF5's conversion to the type and back leaves as it is. A float may be rounded: its
   JSON is as short as its own type allows. */
static bool parse_number(const vol_form *form, const zb_json *json, char *element) {
    h5_lib *lib = form->lib;
    const hid_t list = *lib->H5P_LST_DATASET_XFER_ID_g;
    union {
        int64_t i;
        uint64_t u;
        double d;
        char bytes[VOL_LARGEST_FLOAT];
    } value = {.bytes = {0}}; /* a conversion may leave padding as it was */
    const bool is_float = form->kind == VOL_FORM_FLOAT;
    const hid_t wide = is_float                     ? vol_type_double(lib)
                       : form->kind == VOL_FORM_INT ? *lib->H5T_NATIVE_INT64_g
                                                    : *lib->H5T_NATIVE_UINT64_g;
    if (!(is_float                     ? to_double(json, &value.d)
          : form->kind == VOL_FORM_INT ? zb_json_int64(json, &value.i)
                                       : zb_json_uint64(json, &value.u)))
        return false;
    const uint64_t meant = value.u;
    if (lib->H5Tconvert(wide, form->number, 1, &value, NULL, list) < 0)
        return false;
    memcpy(element, value.bytes, form->size);
    if (is_float)
        return true;
    memset(&value, 0, sizeof value);
    memcpy(value.bytes, element, form->size);
    return lib->H5Tconvert(form->number, wide, 1, &value, NULL, list) >= 0 && value.u == meant;
}

static bool parse_bits(const vol_form *form, const zb_json *json, char *element) {
    uint64_t value;
    if (!zb_json_uint64(json, &value) ||
        (form->size < sizeof value && value >> 8 * form->size != 0))
        return false;
    for (size_t i = 0; i < form->size; i++) {
        const size_t place = form->is_big_endian ? form->size - 1 - i : i;
        element[i] = (char)(value >> 8 * place);
    }
    return true;
}

/* ---- Text ---- */

/* A text that does not fit whole is none of the type. */
static bool parse_text(const vol_form *form, const zb_json *json, char *element) {
    const char *text = zb_json_string(json);
    const zb_slice slice = {.data = text, .size = text ? strlen(text) : 0};
    return text && (form->text.is_variable || slice.size <= form->size) &&
           vol_text_put(&form->text, slice, element, NULL) == ZB_OK &&
           vol_text_get(&form->text, element).size == slice.size;
}

static bool parse_reference(const vol_form *form, const zb_json *json, char *element) {
    const char *path = zb_json_string(json);
    return path ? vol_reference_parse(form, path, element)
                : zb_json_kind_of(json) == ZB_JSON_NULL; /* elements begin as zeros */
}

static bool parse_base64(const vol_form *form, const zb_json *json, char *element) {
    const char *text = zb_json_string(json);
    size_t size = 0;
    void *bytes = text ? zb_base64_parse(text, &size) : NULL;
    const bool good = bytes && size == form->size;
    if (good)
        memcpy(element, bytes, size);
    free(bytes);
    return good;
}

/* ---- Elements ---- */

static bool parse_compound(const vol_form *form, const zb_json *json, char *element) {
    if (zb_json_kind_of(json) != ZB_JSON_OBJECT || zb_json_count(json) != form->count)
        return false;
    for (size_t i = 0; i < form->count; i++) {
        char *at = element + form->member[i].offset;
        const zb_json *value = zb_json_get(json, form->member[i].name);
        if (!value || !parse(form->member[i].form, 0, NULL, &at, value))
            return false;
    }
    return true;
}

static bool parse_list(const vol_form *form, const zb_json *json, char *element) {
    const uint64_t length = zb_json_count(json);
    hvl_t list;
    if (zb_json_kind_of(json) != ZB_JSON_ARRAY || !vol_form_new_list(form, length, element, &list))
        return false;
    char *at = list.p;
    return parse(form->base, 1, &length, &at, json);
}

static bool parse_one(const vol_form *form, const zb_json *json, char *element) {
    switch (form->kind) {
    case VOL_FORM_BOOL:
        *element = zb_json_bool(json);
        return zb_json_kind_of(json) == ZB_JSON_BOOL;
    case VOL_FORM_INT:
    case VOL_FORM_UINT:
    case VOL_FORM_FLOAT:
        return parse_number(form, json, element);
    case VOL_FORM_BITS:
        return parse_bits(form, json, element);
    case VOL_FORM_OPAQUE:
        return parse_base64(form, json, element);
    case VOL_FORM_TEXT:
        return parse_text(form, json, element);
    case VOL_FORM_REFERENCE:
        return parse_reference(form, json, element);
    case VOL_FORM_COMPOUND:
        return parse_compound(form, json, element);
    case VOL_FORM_ARRAY:
        return parse(form->base, form->ndim, form->dims, &element, json);
    case VOL_FORM_VLEN:
        return parse_list(form, json, element);
    }
    return false;
}

/* Moves *at behind the elements. */
static bool parse(const vol_form *form, uint32_t ndim, const uint64_t *dims, char **at,
                  const zb_json *json) {
    if (ndim == 0) {
        char *element = *at;
        *at += form->size;
        return parse_one(form, json, element);
    }
    if (zb_json_kind_of(json) != ZB_JSON_ARRAY || zb_json_count(json) != dims[0])
        return false;
    for (const zb_json *one = zb_json_first(json); one; one = zb_json_next(one))
        if (!parse(form, ndim - 1, dims + 1, at, one))
            return false;
    return true;
}

enum zb_code vol_elements_parse(const vol_form *form, uint32_t ndim, const uint64_t *dims,
                                size_t count, const zb_json *json, void **out) {
    char *elements = calloc(count ? count : 1, form->size), *at = elements;
    *out = elements;
    if (!elements)
        return ZB_ENOMEM;
    if (parse(form, ndim, dims, &at, json))
        return ZB_OK;
    vol_elements_free(form, count, elements);
    *out = NULL;
    return ZB_EINVAL;
}

/* ---- To JSON ---- */

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
        vol_elements_write_base64(out, element, form->size);
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
