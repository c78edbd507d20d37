/* SPDX-License-Identifier: MIT */
/*
 * From HDF5 values to JSON, by the table in attributes.h.
 *
 * Elements are brought to one of the types that zarrbridge/conventions.h prints: int64, uint64,
 * double, bool, text.
 */
#include "attributes/attributes.h"

#include "hdf5/types.h"
#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

/* ---- Elements ---- */

/* The length of a fixed string in `size` bytes. One that was never written is all NULs, whatever
   its padding. */
static size_t text_length(H5T_str_t padding, const char *text, size_t size) {
    size_t length = padding == H5T_STR_NULLTERM ? strnlen(text, size) : size;
    const char pad = padding == H5T_STR_SPACEPAD ? ' ' : '\0';
    while (length > 0 && (text[length - 1] == pad || text[length - 1] == '\0'))
        length--;
    return length;
}

char *vol_attr_text(h5_lib *lib, hid_t type, const void *element) {
    const char *text = element;
    if (lib->H5Tis_variable_str(type) <= 0)
        return strndup(text, text_length(lib->H5Tget_strpad(type), text, lib->H5Tget_size(type)));
    memcpy(&text, element, sizeof text);
    return strdup(text ? text : "");
}

/* Copies of `count` strings, malloc'ed one by one and together. */
static char **copy_texts(h5_lib *lib, hid_t type, size_t count, const char *data) {
    const size_t size = lib->H5Tget_size(type);
    char **texts = calloc(count ? count : 1, sizeof *texts);
    for (size_t i = 0; texts && i < count; i++) {
        texts[i] = vol_attr_text(lib, type, data + i * size);
        if (texts[i])
            continue;
        while (i > 0)
            free(texts[--i]);
        free(texts);
        texts = NULL;
    }
    return texts;
}

/* A copy of the elements as `to`; malloc'ed. */
static enum zb_code convert(h5_lib *lib, hid_t from, hid_t to, size_t count, const void *data,
                            hid_t dxpl, void **out, zb_error *err) {
    const size_t size = lib->H5Tget_size(from);
    *out = calloc(count ? count : 1, size > sizeof(uint64_t) ? size : sizeof(uint64_t));
    if (!*out)
        return zb_fail(err, ZB_ENOMEM, "no memory for %zu values", count);
    if (count > 0)
        memcpy(*out, data, count * size);
    if (lib->H5Tconvert(from, to, count, *out, NULL, dxpl) >= 0)
        return ZB_OK;
    free(*out);
    *out = NULL;
    return zb_fail(err, ZB_EUNSUPPORTED, "HDF5 cannot convert the values to 64 bits");
}

/* ---- Types ---- */

/* The reason why there is no JSON form, with the way out. */
static enum zb_code fail_type(H5T_class_t class, zb_error *err) {
    static const struct {
        H5T_class_t class;
        const char *what;
    } reasons[] = {
        {H5T_COMPOUND, "a compound; write each member as an attribute of its own"},
        {H5T_ENUM, "an enumeration other than bool; write its integers, or the name as a string"},
        {H5T_OPAQUE, "opaque bytes; write an array of uint8"},
        {H5T_BITFIELD, "a bitfield; write an unsigned integer"},
        {H5T_REFERENCE, "references; write the path of the object as a string"},
        {H5T_VLEN, "variable-length lists; write each list as an attribute of its own"},
        {H5T_ARRAY, "an array type; write an attribute with more dimensions"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].class == class)
            return zb_fail(err, ZB_EUNSUPPORTED,
                           "attributes of a Zarr store are JSON, which has no form for %s",
                           reasons[i].what);
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "attributes of a Zarr store are JSON, which has no form "
                   "for this type");
}

/* A copy of the numbers as 64 bits. */
static enum zb_code take_numbers(h5_lib *lib, hid_t type, enum zb_kind kind, const void *data,
                                 hid_t dxpl, zb_value *out, zb_error *err) {
    const hid_t to = kind == ZB_KIND_FLOAT ? vol_type_double(lib)
                     : kind == ZB_KIND_INT ? *lib->H5T_NATIVE_INT64_g
                                           : *lib->H5T_NATIVE_UINT64_g;
    out->kind = ZB_VALUE_NUMBERS;
    out->dtype = (zb_dtype){.kind = kind, .size = sizeof(uint64_t)};
    return convert(lib, type, to, out->count, data, dxpl, &out->data, err);
}

static enum zb_code take_bools(h5_lib *lib, hid_t type, const void *data, zb_value *out,
                               zb_error *err) {
    if (!vol_type_to_dtype(lib, type, &out->dtype))
        return fail_type(H5T_ENUM, err);
    out->kind = ZB_VALUE_NUMBERS;
    out->data = calloc(1, out->count + 1);
    if (!out->data)
        return zb_fail(err, ZB_ENOMEM, "no memory for %zu values", out->count);
    memcpy(out->data, data, out->count);
    return ZB_OK;
}

/* Fills what `out`, whose shape is set, has besides. */
static enum zb_code take_elements(h5_lib *lib, hid_t type, const void *data, hid_t dxpl,
                                  zb_value *out, zb_error *err) {
    const H5T_class_t class = lib->H5Tget_class(type);
    switch (class) {
    case H5T_INTEGER:
        return take_numbers(lib, type,
                            lib->H5Tget_sign(type) == H5T_SGN_NONE ? ZB_KIND_UINT : ZB_KIND_INT,
                            data, dxpl, out, err);
    case H5T_FLOAT:
        return take_numbers(lib, type, ZB_KIND_FLOAT, data, dxpl, out, err);
    case H5T_STRING:
        out->data = copy_texts(lib, type, out->count, data);
        out->kind = out->data ? ZB_VALUE_TEXTS : ZB_VALUE_NULL;
        return out->data ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for %zu texts", out->count);
    case H5T_ENUM:
        return take_bools(lib, type, data, out, err);
    default:
        return fail_type(class, err);
    }
}

static enum zb_code fail_text(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the text of an attribute");
}

enum zb_code vol_attr_print(h5_lib *lib, hid_t type, uint32_t ndim, const hsize_t *dims,
                            const void *data, hid_t dxpl, char **text, zb_error *err) {
    zb_value value = {.ndim = ndim, .count = 1};
    *text = NULL;
    for (uint32_t d = 0; d < ndim; d++) {
        value.shape[d] = dims[d];
        value.count *= (size_t)dims[d];
    }
    enum zb_code code = take_elements(lib, type, data, dxpl, &value, err);
    if (!code && !(*text = zb_value_print(&value)))
        code = fail_text(err);
    zb_value_clear(&value);
    return code;
}

enum zb_code vol_attr_print_fill(h5_lib *lib, hid_t type, zb_dtype dtype, const void *data,
                                 hid_t dxpl, char **text, zb_error *err) {
    static const zb_dtype wide = {.kind = ZB_KIND_FLOAT, .size = sizeof(double)};
    void *converted;
    if (dtype.kind != ZB_KIND_FLOAT || lib->H5Tget_class(type) != H5T_FLOAT)
        return vol_attr_print(lib, type, 0, NULL, data, dxpl, text, err);
    enum zb_code code = convert(lib, type, vol_type_double(lib), 1, data, dxpl, &converted, err);
    if (code)
        return code;
    *text = zb_fill_attribute_print(converted, wide);
    free(converted);
    return *text ? ZB_OK : fail_text(err);
}
