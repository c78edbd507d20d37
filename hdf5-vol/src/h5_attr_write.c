/* SPDX-License-Identifier: MIT */
/* Attributes on their way into the document: see h5_attr_write.h. */
#include "h5_attr_write.h"

#include "h5_attrs.h"
#include "h5_edit.h"
#include "h5_error.h"

#include <stdlib.h>
#include <string.h>

static herr_t push_failed(h5_lib *lib, const char *what, const char *name, const zb_error *err) {
    zb_error named = *err;
    zb_error_prefix(&named, err->code, "cannot %s attribute '%s'", what, name);
    VOL_PUSH_ZB(lib, ATTR, WRITEERROR, &named);
    return -1;
}

/* The JSON text of a value. One element of _FillValue loses its dimension: in Zarr it is a number.
 */
static enum zb_code print_value(const vol_node *owner, h5_lib *lib, const vol_attr_value *value,
                                char **text, zb_error *err) {
    hsize_t dims[ZB_MAX_NDIM];
    int ndim = lib->H5Sget_simple_extent_ndims(value->space);
    if (lib->H5Sget_simple_extent_type(value->space) == H5S_NULL) {
        *text = strdup("null");
        return *text ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory");
    }
    if (ndim < 0 || lib->H5Sget_simple_extent_dims(value->space, dims, NULL) < 0)
        return zb_fail(err, ZB_EINVAL, "the dataspace cannot be used");
    if (owner->kind == VOL_DATASET && strcmp(value->name, "_FillValue") == 0 &&
        lib->H5Sget_select_npoints(value->space) == 1)
        return vol_attr_print_fill(lib, value->type, zb_node_array(owner->zarr)->dtype, value->data,
                                   value->dxpl, text, err);
    return vol_attr_print(lib, value->type, (uint32_t)ndim, dims, value->data, value->dxpl, text,
                          err);
}

herr_t vol_attr_zeros(h5_lib *lib, hid_t type, hid_t space, void **out) {
    const hssize_t count = lib->H5Sget_select_npoints(space);
    *out = calloc(count > 0 ? (size_t)count : 1, lib->H5Tget_size(type));
    if (*out)
        return 0;
    VOL_PUSH(lib, ATTR, WRITEERROR, "no memory for an attribute");
    return -1;
}

/* By trying it. */
herr_t vol_attr_check(const vol_node *owner, const char *name, hid_t type, hid_t space) {
    h5_lib *lib = owner->file->lib;
    zb_error err = {0};
    char *text;
    void *zeros;
    if (vol_scale_knows(owner, name))
        return 0;
    if (vol_attr_zeros(lib, type, space, &zeros) < 0)
        return -1;
    const vol_attr_value value = {.name = name,
                                  .type = type,
                                  .space = space,
                                  .dxpl = *lib->H5P_LST_DATASET_XFER_ID_g,
                                  .data = zeros};
    enum zb_code code = print_value(owner, lib, &value, &text, &err);
    free(zeros);
    if (code)
        return push_failed(lib, "create", name, &err);
    free(text);
    return 0;
}

herr_t vol_attr_store(const vol_object *owner, const vol_attr_value *value) {
    h5_lib *lib = owner->lib;
    zb_error err = {0};
    char *text;
    bool handled;
    if (vol_scale_store(owner, value, &handled) < 0)
        return -1;
    if (handled)
        return 0;
    enum zb_code code = print_value(owner->node, lib, value, &text, &err);
    if (!code) {
        code = vol_edit_attribute(owner->node, value->name, text, &err);
        free(text);
    }
    return code ? push_failed(lib, "write", value->name, &err) : 0;
}

/* The new name goes to the end; a process that is killed in between leaves both. */
herr_t vol_attr_rename(vol_node *owner, const char *from, const char *to) {
    h5_lib *lib = owner->file->lib;
    const zb_json *value = owner->zarr ? zb_json_get(zb_node_attributes(owner->zarr), from) : NULL;
    zb_error err = {0};
    if (!value) {
        VOL_PUSH(lib, ATTR, NOTFOUND, "can't locate attribute: '%s'", from);
        return -1;
    }
    const vol_attrs *attrs = vol_node_attrs(owner);
    if (!attrs)
        return -1;
    if (vol_attrs_find(attrs, to)) {
        VOL_PUSH(lib, ATTR, EXISTS, "attribute '%s' exists already", to);
        return -1;
    }
    char *text = zb_json_print(value);
    enum zb_code code = text ? vol_edit_attribute(owner, to, text, &err)
                             : zb_fail(&err, ZB_ENOMEM, "no memory for the text");
    if (!code)
        code = vol_edit_attribute(owner, from, NULL, &err);
    free(text);
    return code ? push_failed(lib, "rename", from, &err) : 0;
}

herr_t vol_attr_remove(vol_node *owner, const char *name) {
    h5_lib *lib = owner->file->lib;
    zb_error err = {0};
    bool handled;
    if (vol_scale_remove(owner, name, &handled) < 0)
        return -1;
    if (handled)
        return 0;
    enum zb_code code = vol_edit_attribute(owner, name, NULL, &err);
    if (code == ZB_ENOTFOUND) {
        VOL_PUSH(lib, ATTR, NOTFOUND, "can't locate attribute: '%s'", name);
        return -1;
    }
    return code ? push_failed(lib, "delete", name, &err) : 0;
}
