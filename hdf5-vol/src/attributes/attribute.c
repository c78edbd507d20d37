/* SPDX-License-Identifier: MIT */
/* One attribute: see attribute.h. */
#include "attributes/attribute.h"

#include "attributes/exact.h"
#include "types/convert.h"
#include "hdf5/errors.h"
#include "hdf5/held_types.h"
#include "types/types.h"
#include "objects/object.h"

#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

/* ---- HDF5's view ---- */

/* The caller closes both. */
hid_t vol_attr_type(h5_lib *lib, const vol_attr *attr) {
    if (attr->type.bytes)
        return vol_held_new(lib, &attr->type);
    switch (attr->kind) {
    case VOL_ATTR_NUMBER:
        return vol_type_new(lib, attr->dtype);
    case VOL_ATTR_TEXT:
        return attr->is_json ? vol_type_json_text(lib) : vol_type_text(lib);
    case VOL_ATTR_FIXED:
        return vol_type_fixed_text(lib, attr->dtype.size);
    case VOL_ATTR_BYTES: /* has a type */
    case VOL_ATTR_REFS:
        break;
    }
    return lib->H5Tvlen_create(*lib->H5T_STD_REF_OBJ_g);
}

hid_t vol_attr_shown_type(h5_lib *lib, const vol_attr *attr) {
    return attr->new_refs.bytes ? vol_held_new(lib, &attr->new_refs) : vol_attr_type(lib, attr);
}

hid_t vol_attr_space(h5_lib *lib, const vol_attr *attr) {
    if (attr->space > 0)
        return lib->H5Scopy(attr->space);
    if (attr->is_null)
        return lib->H5Screate(H5S_NULL);
    return attr->ndim == 0 ? lib->H5Screate(H5S_SCALAR)
                           : lib->H5Screate_simple((int)attr->ndim, attr->dims, NULL);
}

H5T_cset_t vol_attr_cset(const vol_attr *attr) {
    return attr->is_utf8 ? H5T_CSET_UTF8 : vol_charset_of(attr->name);
}

hid_t vol_attr_list(h5_lib *lib, H5T_cset_t cset) {
    hid_t list = lib->H5Pcreate(*lib->H5P_CLS_ATTRIBUTE_CREATE_ID_g);
    if (list >= 0 && lib->H5Pset_char_encoding(list, cset) >= 0)
        return list;
    vol_release_id(lib, list);
    return -1;
}

const void *vol_attr_data(const vol_attr *attr, hvl_t *lists) {
    uint64_t *tokens = attr->data;
    if (attr->kind != VOL_ATTR_REFS)
        return attr->data;
    for (size_t i = 0; i < attr->count; i++)
        lists[i] = (hvl_t){.len = tokens[i] != 0, .p = &tokens[i]};
    return lists;
}

/* Whether one that is not written yet has texts of variable length. */
static bool has_text(h5_lib *lib, const vol_attr *attr) {
    hid_t type = attr->type.class == H5T_STRING ? vol_held_new(lib, &attr->type) : -1;
    const bool has = type >= 0 && lib->H5Tis_variable_str(type) > 0;
    vol_release_id(lib, type);
    return has;
}

size_t vol_attr_size(h5_lib *lib, const vol_attr *attr) {
    /* Variable-length elements count as HDF5's own files store them: length, address and index. */
    const size_t reference_size = 16;
    const bool varies =
        attr->kind == VOL_ATTR_TEXT || attr->kind == VOL_ATTR_REFS || has_text(lib, attr);
    return attr->count * (varies ? reference_size : attr->dtype.size);
}

bool vol_attr_describe(h5_lib *lib, const char *name, hid_t type, hid_t space, vol_attr *out) {
    const hssize_t count = lib->H5Sget_select_npoints(space);
    const size_t size = lib->H5Tget_size(type);
    int ndim = lib->H5Sget_simple_extent_ndims(space);
    *out = (vol_attr){.kind = VOL_ATTR_BYTES, .dtype = {.size = (uint32_t)size}};
    if (count < 0 || ndim < 0 || ndim > ZB_MAX_NDIM || size == 0 || size > UINT32_MAX ||
        lib->H5Sget_simple_extent_dims(space, out->dims, NULL) < 0)
        return false;
    out->count = (size_t)count;
    out->ndim = (uint32_t)ndim;
    out->name = strdup(name);
    out->space = lib->H5Scopy(space);
    return vol_type_hold(lib, type, &out->type) && out->name && out->space > 0;
}

/* ---- Errors ---- */

herr_t vol_attr_push_failed(h5_lib *lib, const char *what, const char *name, const zb_error *err) {
    zb_error named = *err;
    zb_error_prefix(&named, err->code, "cannot %s attribute '%s'", what, name);
    return VOL_PUSH_ZB(lib, ATTR, WRITEERROR, &named);
}

herr_t vol_attr_push_no_memory(h5_lib *lib, const char *name) {
    return VOL_PUSH(lib, ATTR, CANTCREATE, "no memory for attribute '%s'", name);
}

/* ---- From JSON ---- */

/* Whether the plain translation of a value is its JSON text: objects, mixed and ragged lists. */
static bool shows_as_text(const zb_json *json, const zb_value *value) {
    return value->kind == ZB_VALUE_TEXTS && value->ndim == 0 && zb_json_string(json) == NULL;
}

/* Any value becomes exactly one attribute, so that nothing of the document is hidden. */
static bool add_json(vol_attrs *attrs, const zb_json *json) {
    zb_value value;
    if (!zb_value_parse(json, &value))
        return false;
    const bool is_text = value.kind == ZB_VALUE_TEXTS;
    vol_attr *attr =
        vol_attrs_add(attrs, zb_json_name(json), is_text ? VOL_ATTR_TEXT : VOL_ATTR_NUMBER, 0,
                      is_text ? sizeof(char *) : value.dtype.size);
    if (!attr) {
        zb_value_clear(&value);
        return false;
    }
    attr->is_null = value.kind == ZB_VALUE_NULL;
    attr->is_json = shows_as_text(json, &value);
    attr->ndim = value.ndim;
    for (uint32_t d = 0; d < value.ndim; d++)
        attr->dims[d] = value.shape[d];
    attr->count = value.count;
    if (!is_text)
        attr->dtype = value.dtype;
    if (value.data) {
        free(attr->data);
        attr->data = value.data; /* the attribute's from now on */
    }
    return true;
}

/* Replaces the plain translation of _FillValue by one element of the array's type, where that
   works. A list of one element keeps its dimension, as netCDF writes it; longer ones stay what they
   are. */
static bool add_fill_value(vol_attrs *attrs, const zb_json *value, zb_dtype dtype) {
    unsigned char element[sizeof(uint64_t)];
    const bool is_list = zb_json_kind_of(value) == ZB_JSON_ARRAY;
    if ((is_list && zb_json_count(value) != 1) || !zb_fill_attribute_parse(value, dtype, element))
        return true;
    vol_attr *attr = vol_attrs_add(attrs, "_FillValue", VOL_ATTR_NUMBER, 1, dtype.size);
    if (!attr)
        return false;
    attr->ndim = is_list;
    attr->dims[0] = 1;
    attr->dtype = dtype;
    memcpy(attr->data, element, dtype.size);
    return true;
}

bool vol_attrs_add_plain(vol_attrs *attrs, const vol_node *node, const zb_json *value) {
    if (!add_json(attrs, value))
        return false;
    return node->kind != VOL_DATASET || strcmp(zb_json_name(value), "_FillValue") != 0 ||
           add_fill_value(attrs, value, zb_node_array(node->zarr)->dtype);
}

/* ---- To JSON ---- */

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

static enum zb_code fail_text(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the text of an attribute");
}

/* One element: in Zarr it is a number. */
static enum zb_code print_fill(vol_node *owner, const vol_attr_elements *e, char **text,
                               zb_error *err) {
    static const zb_dtype wide = {.kind = ZB_KIND_FLOAT, .size = sizeof(double)};
    h5_lib *lib = owner->file->lib;
    double value = 0;
    if (vol_convert(lib, e->type, vol_type_double(lib), 1, e->data, &value,
                    *lib->H5P_LST_DATASET_XFER_ID_g) < 0)
        return zb_fail(err, ZB_EUNSUPPORTED, "HDF5 cannot convert the value to a double");
    *text = zb_fill_attribute_print(&value, wide);
    return *text ? ZB_OK : fail_text(err);
}

/* The value whose text the element is, to the letter, if it is one that shows as text; else NULL.
 */
static char *json_of_text(const void *element) {
    zb_json *json;
    zb_value value;
    const char *text;
    memcpy(&text, element, sizeof text);
    if (!text || zb_json_parse(text, strlen(text), &json, NULL) != ZB_OK)
        return NULL;
    char *printed = NULL;
    if (zb_value_parse(json, &value)) {
        printed = shows_as_text(json, &value) ? zb_json_print(json) : NULL;
        zb_value_clear(&value);
    }
    zb_json_free(json);
    if (printed && strcmp(printed, text) == 0)
        return printed;
    free(printed);
    return NULL;
}

enum zb_code vol_attr_print(vol_node *owner, const vol_attr_elements *e, uint32_t ndim,
                            const uint64_t *dims, char **text, zb_error *err) {
    h5_lib *lib = owner->file->lib;
    const bool is_fill =
        owner->kind == VOL_DATASET && strcmp(e->name, "_FillValue") == 0 && e->count == 1;
    if (is_fill && e->form->kind == VOL_FORM_FLOAT &&
        zb_node_array(owner->zarr)->dtype.kind == ZB_KIND_FLOAT)
        return print_fill(owner, e, text, err);
    *text = ndim == 0 && e->count == 1 && vol_type_is_json_text(lib, e->type)
                ? json_of_text(e->data)
                : NULL;
    if (*text)
        return ZB_OK;
    zb_json_writer *out = zb_json_writer_new();
    vol_elements_print(e->form, is_fill ? 0 : ndim, dims, e->data, out);
    *text = zb_json_writer_end(out, NULL);
    return *text ? ZB_OK : fail_text(err);
}
