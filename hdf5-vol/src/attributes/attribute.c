/* SPDX-License-Identifier: MIT */
/* One attribute: see attribute.h. */
#include "attributes/attribute.h"

#include "hdf5/errors.h"
#include "hdf5/held_types.h"
#include "hdf5/types.h"
#include "objects/object.h"

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
        return vol_type_text(lib);
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
    return attr->is_utf8 ? H5T_CSET_UTF8 : vol_name_cset(attr->name);
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
    VOL_PUSH_ZB(lib, ATTR, WRITEERROR, &named);
    return -1;
}

herr_t vol_attr_push_no_memory(h5_lib *lib, const char *name) {
    VOL_PUSH(lib, ATTR, CANTCREATE, "no memory for attribute '%s'", name);
    return -1;
}
