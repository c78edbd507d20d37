/* SPDX-License-Identifier: MIT */
/* Attributes into an HDF5 file: see attributes_to_hdf5.h. */
#include "copy/attributes_to_hdf5.h"

#include "attributes/attributes.h"
#include "hdf5/errors.h"
#include "model/scales.h"
#include "objects/locate.h"

#include <stdlib.h>

static bool refers(h5_lib *lib, const vol_attr *attr) {
    if (attr->kind == VOL_ATTR_REFS)
        return true;
    hid_t type = attr->place == VOL_ATTR_STATED ? vol_attr_type(lib, attr) : -1;
    const bool does = type >= 0 && vol_scale_refs_are(lib, attr->name, type);
    vol_release_id(lib, type);
    return does;
}

/* Creates one, and writes it unless `data` is NULL: in the form of vol_attr_type in memory. */
static herr_t make(const vol_native_target *to, const vol_attr *attr, hid_t attr_type,
                   const void *data) {
    h5_lib *lib = to->lib;
    const H5VL_loc_params_t self = vol_self(to->type);
    hid_t space = vol_attr_space(lib, attr);
    void *made = lib->H5VLattr_create(to->object, &self, lib->native, attr->name, attr_type, space,
                                      *lib->H5P_LST_ATTRIBUTE_CREATE_ID_g,
                                      *lib->H5P_LST_ATTRIBUTE_ACCESS_ID_g, to->dxpl, NULL);
    herr_t result = -1;
    if (made) {
        result = data ? lib->H5VLattr_write(made, lib->native, attr_type, data, to->dxpl, NULL) : 0;
        lib->H5VLattr_close(made, lib->native, to->dxpl, NULL);
    }
    vol_release_id(lib, space);
    return result;
}

static herr_t copy_attr(const vol_native_target *to, const vol_attr *attr) {
    h5_lib *lib = to->lib;
    hid_t type = vol_attr_type(lib, attr);
    herr_t result = -1;
    if (lib->H5Tdetect_class(type, H5T_REFERENCE) > 0)
        VOL_PUSH(lib, ATTR, UNSUPPORTED,
                 "cannot copy attribute '%s': its references lead to places in the store; write it "
                 "anew in the copy",
                 attr->name);
    else
        result = make(to, attr, type, attr->data);
    vol_release_id(lib, type);
    return result;
}

herr_t vol_attrs_to_hdf5(const vol_native_target *target, vol_node *node) {
    vol_attrs *attrs = vol_node_attrs(node);
    herr_t result = attrs ? 0 : -1;
    for (size_t i = 0; result >= 0 && i < vol_attrs_listed(attrs); i++) {
        const vol_attr *attr = vol_attrs_at(attrs, false, i);
        if (!refers(target->lib, attr))
            result = copy_attr(target, attr);
    }
    return result;
}

/* ---- References of scales ---- */

static const char *const with_references[] = {VOL_SCALE_LIST, VOL_SCALE_BACK};
#define WITH_REFERENCES (sizeof with_references / sizeof *with_references)

static const vol_attr *find(vol_node *node, size_t i) {
    const vol_attrs *attrs = node->kind == VOL_DATASET ? vol_node_attrs(node) : NULL;
    const vol_attr *attr = attrs ? vol_attrs_find(attrs, with_references[i]) : NULL;
    return attr && refers(node->file->lib, attr) ? attr : NULL;
}

bool vol_scales_are_referring(vol_node *node) {
    bool any = false;
    for (size_t i = 0; i < WITH_REFERENCES; i++)
        any |= find(node, i) != NULL;
    return any;
}

/* Tokens that were made of names, as HDF5 has them in lists. */
static const void *elements_of(const vol_attr *attr, hvl_t *lists) {
    uint64_t *tokens = attr->data;
    if (attr->kind != VOL_ATTR_REFS)
        return attr->data;
    for (size_t i = 0; i < attr->count; i++)
        lists[i] = (hvl_t){.len = tokens[i] != 0, .p = &tokens[i]};
    return lists;
}

static herr_t copy_references(const vol_native_target *to, const vol_attr *attr,
                              vol_new_address address, void *context) {
    h5_lib *lib = to->lib;
    hvl_t lists[ZB_MAX_NDIM];
    vol_attr copy = *attr; /* borrows all that it points at */
    hid_t type = vol_attr_type(lib, attr);
    void *data =
        vol_scale_refs_convert(lib, type, &copy.count, elements_of(attr, lists), address, context);
    herr_t result = data ? 0 : -1;
    if (copy.count != attr->count) {
        copy.space = 0;
        copy.dims[0] = copy.count;
    }
    if (data && vol_scale_refs_any(lib, type, copy.count, data))
        result = make(to, &copy, type, data);
    free(data);
    vol_release_id(lib, type);
    return result;
}

herr_t vol_scales_to_hdf5(const vol_native_target *target, vol_node *node, vol_new_address address,
                          void *context) {
    herr_t result = 0;
    for (size_t i = 0; i < WITH_REFERENCES && result >= 0; i++) {
        const vol_attr *attr = find(node, i);
        if (attr)
            result = copy_references(target, attr, address, context);
    }
    return result;
}
