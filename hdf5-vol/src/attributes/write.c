/* SPDX-License-Identifier: MIT */
/* Attributes on their way into the document: see write.h. */
#include "attributes/write.h"

#include "attributes/ids.h"
#include "attributes/attributes.h"
#include "model/edit.h"
#include "model/side.h"
#include "model/waiting.h"
#include "hdf5/errors.h"

#include <stdlib.h>
#include <string.h>

herr_t vol_attr_push_failed(h5_lib *lib, const char *what, const char *name, const zb_error *err) {
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

/* Zeros of the type are printed on trial. */
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
        return vol_attr_push_failed(lib, "create", name, &err);
    free(text);
    return 0;
}

/* ---- Attributes kept beside the document ---- */

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
    out->type = lib->H5Tcopy(type);
    out->space = lib->H5Scopy(space);
    return out->name && out->type > 0 && out->space > 0;
}

static herr_t push_no_memory(h5_lib *lib, const char *name) {
    VOL_PUSH(lib, ATTR, CANTCREATE, "no memory for attribute '%s'", name);
    return -1;
}

/* Takes `attr` over, complete or not. */
static herr_t keep(vol_node *owner, const char *name, vol_attr *attr, bool complete) {
    if (complete && vol_node_keep_attr(owner, attr))
        return 0;
    if (!complete)
        vol_attr_clear(owner->file->lib, attr);
    return push_no_memory(owner->file->lib, name);
}

herr_t vol_attr_create_unwritten(vol_node *owner, const char *name, hid_t type, hid_t space) {
    vol_attr attr;
    bool described = vol_attr_describe(owner->file->lib, name, type, space, &attr);
    attr.place = VOL_ATTR_UNWRITTEN;
    return keep(owner, name, &attr, described);
}

/* Strings as pointers to copies, other elements as they are. */
static bool copy_elements(h5_lib *lib, const vol_attr_value *value, vol_attr *attr) {
    const size_t size = lib->H5Tget_size(value->type);
    const char *from = value->data;
    attr->data = calloc(attr->count + 1, attr->dtype.size);
    if (!attr->data)
        return false;
    if (lib->H5Tis_variable_str(attr->type) <= 0) {
        memcpy(attr->data, from, attr->count * size);
        return true;
    }
    attr->kind = VOL_ATTR_TEXT;
    bool copied = true;
    for (size_t i = 0; i < attr->count; i++, from += size)
        copied &= (((char **)attr->data)[i] = vol_attr_text(lib, value->type, from)) != NULL;
    return copied;
}

/* Without memory to keep it, the attribute counts as written all the same. */
static herr_t keep_written(vol_node *owner, const vol_attr_value *value, hid_t shown) {
    h5_lib *lib = owner->file->lib;
    vol_attr attr;
    bool complete = vol_attr_describe(lib, value->name, shown, value->space, &attr) &&
                    copy_elements(lib, value, &attr);
    attr.place = VOL_ATTR_WRITTEN;
    herr_t result = keep(owner, value->name, &attr, complete);
    if (result < 0)
        vol_node_drop_attr(owner, value->name, VOL_ATTR_UNWRITTEN);
    return result;
}

/* ---- Storing ---- */

/* Strings are left alone where JSON makes the same of them; all else becomes what HDF5 would store.
 *converted is malloc'ed, or NULL where nothing had to be converted. */
static herr_t convert(const vol_node *owner, vol_attr_value *value, hid_t shown, void **converted) {
    h5_lib *lib = owner->file->lib;
    const size_t from = lib->H5Tget_size(value->type), to = lib->H5Tget_size(shown);
    const hssize_t count = lib->H5Sget_select_npoints(value->space);
    *converted = NULL;
    if (count <= 0 || lib->H5Tequal(value->type, shown) > 0 ||
        (lib->H5Tget_class(value->type) == H5T_STRING && lib->H5Tis_variable_str(shown) > 0))
        return 0;
    *converted = calloc((size_t)count, from > to ? from : to);
    if (!*converted)
        return push_no_memory(lib, value->name);
    memcpy(*converted, value->data, (size_t)count * from);
    if (lib->H5Tconvert(value->type, shown, (size_t)count, *converted, NULL, value->dxpl) < 0) {
        VOL_PUSH(lib, ATTR, CANTCONVERT,
                 "what was written cannot be converted to the type of attribute '%s'", value->name);
        return -1;
    }
    value->type = shown;
    value->data = *converted;
    return 0;
}

static herr_t store_in_document(vol_node *owner, const vol_attr_value *value, hid_t shown) {
    h5_lib *lib = owner->file->lib;
    zb_error err = {0};
    char *text;
    const uint64_t known = owner->attrs_change;
    enum zb_code code = print_value(owner, lib, value, &text, &err);
    if (!code) {
        code = vol_edit_attribute(owner, value->name, text, NULL, &err);
        free(text);
    }
    if (code)
        return vol_attr_push_failed(lib, "write", value->name, &err);
    herr_t result = keep_written(owner, value, shown);
    if (result >= 0)
        owner->attrs_change = known; /* the list has the change: it is as good as before */
    return result;
}

herr_t vol_attr_store(vol_node *owner, const vol_attr_value *value, hid_t shown) {
    vol_attr_value stored = *value;
    void *converted;
    bool handled;
    if (vol_scale_store(owner, value, &handled) < 0)
        return -1;
    if (handled) {
        vol_node_drop_attr(owner, value->name, VOL_ATTR_UNWRITTEN);
        return 0;
    }
    herr_t result = convert(owner, &stored, shown, &converted);
    if (result >= 0)
        result = store_in_document(owner, &stored, shown);
    free(converted);
    return result;
}

/* ---- Unwritten attributes ---- */

/* The value is zeros, as HDF5 would show it. */
herr_t vol_attr_store_unwritten(vol_node *owner, const char *name) {
    h5_lib *lib = owner->file->lib;
    const vol_attr *attr = vol_node_unwritten(owner, name);
    void *zeros = NULL;
    if (!attr)
        return 0;
    hid_t type = vol_attr_type(lib, attr), space = vol_attr_space(lib, attr);
    char *copy = strdup(attr->name); /* attr goes when it is stored */
    herr_t result = -1;
    if (copy && type >= 0 && space >= 0 && vol_attr_zeros(lib, type, space, &zeros) >= 0) {
        const vol_attr_value value = {.name = copy,
                                      .type = type,
                                      .space = space,
                                      .dxpl = *lib->H5P_LST_DATASET_XFER_ID_g,
                                      .data = zeros};
        result = vol_attr_store(owner, &value, type);
    }
    vol_release_id(lib, type);
    vol_release_id(lib, space);
    free(zeros);
    free(copy);
    return result;
}

/* Stores the attributes of a node until one fails, and those of other nodes all the same. */
herr_t vol_attr_store_unwritten_below(vol_node *node) {
    herr_t result = 0;
    while (result >= 0 && vol_node_unwritten(node, NULL))
        result = vol_attr_store_unwritten(node, NULL);
    for (size_t i = 0; i < node->link_count; i++) {
        vol_node *child = node->link[i]->node;
        if (child && vol_attr_store_unwritten_below(child) < 0)
            result = -1;
    }
    return result;
}

void vol_attr_abandon_unwritten_below(vol_node *node) {
    const vol_attr *attr;
    while ((attr = vol_node_unwritten(node, NULL))) {
        vol_attr_ids_orphan(node, attr->name);
        vol_node_drop_attr(node, attr->name, VOL_ATTR_UNWRITTEN);
    }
    for (size_t i = 0; i < node->link_count; i++)
        if (node->link[i]->node)
            vol_attr_abandon_unwritten_below(node->link[i]->node);
}

/* ---- Renaming and removing ---- */

static herr_t rename_in_document(vol_node *owner, const char *from, const char *to) {
    h5_lib *lib = owner->file->lib;
    const zb_json *value = vol_attribute(owner, from), *entry = vol_side_entry(owner, from);
    zb_error err = {0};
    if (!value) {
        VOL_PUSH(lib, ATTR, UNSUPPORTED,
                 "attribute '%s' stands for names of dimensions and cannot be renamed", from);
        return -1;
    }
    char *text = zb_json_print(value), *side = entry ? zb_json_print(entry) : NULL;
    enum zb_code code = text && (side || !entry) ? vol_edit_attribute(owner, to, text, side, &err)
                                                 : zb_fail(&err, ZB_ENOMEM, "no memory for it");
    if (!code)
        code = vol_edit_attribute(owner, from, NULL, NULL, &err);
    free(text);
    free(side);
    return code ? vol_attr_push_failed(lib, "rename", from, &err) : 0;
}

/* The new name goes to the end. */
herr_t vol_attr_rename(vol_node *owner, const char *from, const char *to) {
    h5_lib *lib = owner->file->lib;
    const vol_attrs *attrs = vol_node_attrs(owner);
    if (!attrs)
        return -1;
    if (!vol_attrs_find(attrs, from)) {
        VOL_PUSH(lib, ATTR, NOTFOUND, "can't locate attribute: '%s'", from);
        return -1;
    }
    if (strcmp(from, to) == 0)
        return 0;
    if (vol_attrs_find(attrs, to)) {
        VOL_PUSH(lib, ATTR, EXISTS, "attribute '%s' exists already", to);
        return -1;
    }
    if (!vol_node_unwritten(owner, from) && rename_in_document(owner, from, to) < 0)
        return -1;
    vol_attr_ids_rename(owner, from, to);
    return vol_node_rename_attr(owner, from, to) ? 0 : push_no_memory(lib, to);
}

static herr_t remove_from_document(vol_node *owner, const char *name) {
    h5_lib *lib = owner->file->lib;
    zb_error err = {0};
    bool handled;
    if (vol_scale_remove(owner, name, &handled) < 0)
        return -1;
    if (handled)
        return 0;
    enum zb_code code = vol_edit_attribute(owner, name, NULL, NULL, &err);
    if (code == ZB_ENOTFOUND) {
        VOL_PUSH(lib, ATTR, NOTFOUND, "can't locate attribute: '%s'", name);
        return -1;
    }
    if (code)
        return vol_attr_push_failed(lib, "delete", name, &err);
    vol_node_drop_attr(owner, name, VOL_ATTR_WRITTEN);
    return 0;
}

herr_t vol_attr_remove(vol_node *owner, const char *name) {
    if (!vol_node_drop_attr(owner, name, VOL_ATTR_UNWRITTEN) &&
        remove_from_document(owner, name) < 0)
        return -1;
    vol_attr_ids_orphan(owner, name);
    return 0;
}
