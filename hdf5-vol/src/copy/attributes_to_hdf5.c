/* SPDX-License-Identifier: MIT */
/* Attributes into an HDF5 file: see attributes_to_hdf5.h. */
#include "copy/attributes_to_hdf5.h"

#include "attributes/attributes.h"
#include "attributes/elements.h"
#include "attributes/large.h"
#include "attributes/write.h"
#include "hdf5/errors.h"
#include "objects/comment.h"
#include "objects/locate.h"
#include "scales/scales.h"

#include <stdlib.h>

static bool refers(h5_lib *lib, const vol_attr *attr) {
    if (attr->kind == VOL_ATTR_REFS)
        return true;
    hid_t type = attr->place == VOL_ATTR_STATED ? vol_attr_type(lib, attr) : -1;
    const bool does = type >= 0 && vol_scale_refs_are(lib, attr->name, type);
    vol_release_id(lib, type);
    return does;
}

/* Creates one of a type, and writes it unless `data` is NULL, which is of that type in memory. */
static herr_t make_of_type(const vol_native_target *to, const vol_attr *attr, hid_t attr_type,
                           const void *data) {
    h5_lib *lib = to->lib;
    const H5VL_loc_params_t self = vol_self(to->type);
    hid_t space = vol_attr_space(lib, attr), list = vol_attr_list(lib, vol_attr_cset(attr));
    void *made = lib->H5VLattr_create(to->object, &self, lib->native, attr->name, attr_type, space,
                                      list, *lib->H5P_LST_ATTRIBUTE_ACCESS_ID_g, to->dxpl, NULL);
    herr_t result = -1;
    if (made) {
        result = data ? lib->H5VLattr_write(made, lib->native, attr_type, data, to->dxpl, NULL) : 0;
        lib->H5VLattr_close(made, lib->native, to->dxpl, NULL);
    }
    vol_release_id(lib, list);
    vol_release_id(lib, space);
    return result;
}

/* What one with references of the old kind gives by new ones, which HDF5 makes. */
static herr_t read_new(const vol_native_target *to, const vol_attr *attr, hid_t type, void *out) {
    h5_lib *lib = to->lib;
    const H5VL_loc_params_t self = vol_self(to->type);
    void *opened = lib->H5VLattr_open(to->object, &self, lib->native, attr->name,
                                      *lib->H5P_LST_ATTRIBUTE_ACCESS_ID_g, to->dxpl, NULL);
    if (!opened)
        return -1;
    herr_t result = lib->H5VLattr_read(opened, lib->native, type, out, to->dxpl, NULL);
    lib->H5VLattr_close(opened, lib->native, to->dxpl, NULL);
    return result;
}

static herr_t drop(const vol_native_target *to, const char *name) {
    const H5VL_loc_params_t self = vol_self(to->type);
    H5VL_attr_specific_args_t args = {.op_type = H5VL_ATTR_DELETE, .args.del.name = name};
    return to->lib->H5VLattr_specific(to->object, &self, to->lib->native, &args, to->dxpl, NULL);
}

/* Replaces an attribute by one that has references of the new kind. */
static herr_t replace(const vol_native_target *to, const vol_attr *attr) {
    h5_lib *lib = to->lib;
    hid_t space = vol_attr_space(lib, attr), type = vol_attr_shown_type(lib, attr);
    void *elements = NULL;
    herr_t result = type < 0 ? -1 : vol_attr_zeros(lib, type, space, &elements);
    if (result >= 0)
        result = read_new(to, attr, type, elements);
    if (result >= 0)
        result = drop(to, attr->name) < 0 ? -1 : make_of_type(to, attr, type, elements);
    hid_t saved = vol_stack_save(lib);
    if (elements)
        lib->H5Treclaim(type, space, H5P_DEFAULT, elements);
    free(elements);
    vol_release_id(lib, type);
    vol_release_id(lib, space);
    vol_stack_restore(lib, saved);
    return result;
}

/* Creates one, and writes it unless `data` is NULL: in the form of vol_attr_type in memory. */
static herr_t make(const vol_native_target *to, const vol_attr *attr, hid_t type,
                   const void *data) {
    const herr_t result = make_of_type(to, attr, type, data);
    return result >= 0 && data && attr->new_refs.bytes ? replace(to, attr) : result;
}

static herr_t copy_plain(const vol_native_target *to, const vol_attr *attr) {
    hid_t type = vol_attr_type(to->lib, attr);
    herr_t result = make(to, attr, type, attr->data);
    vol_release_id(to->lib, type);
    return result;
}

/* ---- References ---- */

/* Whether an attribute has references that are no dimension scales'. */
static bool has_references(h5_lib *lib, const vol_attr *attr) {
    hid_t type = attr->kind == VOL_ATTR_BYTES && !refers(lib, attr) ? vol_attr_type(lib, attr) : -1;
    const bool has = type >= 0 && lib->H5Tdetect_class(type, H5T_REFERENCE) > 0;
    vol_release_id(lib, type);
    return has;
}

/* A copy of the elements, whose references the map has led elsewhere; NULL after an error. */
static void *mapped_elements(h5_lib *lib, const vol_form *form, const vol_attr *attr,
                             const vol_reference_map *map) {
    void *elements = vol_elements_copy(form, attr->count, attr->data);
    if (!elements) {
        VOL_PUSH(lib, ATTR, CANTCOPY, "no memory for attribute '%s'", attr->name);
        return NULL;
    }
    if (vol_elements_references(form, attr->count, elements, map->visit, map->context))
        return elements;
    vol_elements_free(form, attr->count, elements);
    return NULL;
}

static herr_t copy_mapped(const vol_native_target *to, vol_node *node, const vol_attr *attr,
                          const vol_reference_map *map) {
    h5_lib *lib = to->lib;
    zb_error err = {0};
    vol_form *form = NULL;
    hid_t type = vol_attr_type(lib, attr);
    herr_t result = -1;
    if (vol_form_new(node->file, type, &form, &err) != ZB_OK) {
        VOL_PUSH_ZB(lib, ATTR, CANTCOPY, &err);
        vol_release_id(lib, type);
        return -1;
    }
    void *elements = attr->data ? mapped_elements(lib, form, attr, map) : NULL;
    if (elements || !attr->data)
        result = make(to, attr, type, elements);
    hid_t saved = vol_stack_save(lib);
    vol_elements_free(form, attr->count, elements);
    vol_form_free(form);
    lib->H5Tclose(type);
    vol_stack_restore(lib, saved);
    return result;
}

/* ---- All ---- */

/* Those without references if with_plain says so, those with them if there is a map. */
static herr_t copy_attrs(const vol_native_target *to, vol_node *node, bool with_plain,
                         const vol_reference_map *map) {
    vol_attrs *attrs = vol_node_attrs(node);
    herr_t result = attrs ? 0 : -1;
    for (size_t i = 0; result >= 0 && i < vol_attrs_listed(attrs); i++) {
        const vol_attr *attr = vol_attrs_at(attrs, false, i);
        if (refers(to->lib, attr))
            continue;
        const bool has = has_references(to->lib, attr);
        if (has ? map != NULL : with_plain)
            result = vol_large_read(node, attr);
        if (result < 0)
            break;
        if (has && map)
            result = copy_mapped(to, node, attr, map);
        else if (!has && with_plain)
            result = copy_plain(to, attr);
    }
    return result;
}

herr_t vol_attrs_to_hdf5(const vol_native_target *target, vol_node *node,
                         const vol_reference_map *references) {
    return copy_attrs(target, node, true, references);
}

herr_t vol_reference_attrs_to_hdf5(const vol_native_target *target, vol_node *node,
                                   const vol_reference_map *references) {
    return copy_attrs(target, node, false, references);
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

static herr_t copy_references(const vol_native_target *to, const vol_attr *attr,
                              vol_new_address address, void *context) {
    h5_lib *lib = to->lib;
    hvl_t lists[ZB_MAX_NDIM];
    vol_attr copy = *attr; /* borrows all that it points at */
    hid_t type = vol_attr_type(lib, attr);
    void *data = vol_scale_refs_convert(lib, type, &copy.count, vol_attr_data(attr, lists), address,
                                        context);
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

/* ---- Comments ---- */

herr_t vol_comment_to_hdf5(vol_node *node, void *object, H5I_type_t type, hid_t dxpl) {
    h5_lib *lib = node->file->lib;
    const char *text = vol_comment(node);
    const H5VL_loc_params_t self = vol_self(type);
    H5VL_native_object_optional_args_t comment = {.set_comment = {.comment = text}};
    H5VL_optional_args_t args = {.op_type = H5VL_NATIVE_OBJECT_SET_COMMENT, .args = &comment};
    return *text ? lib->H5VLobject_optional(object, &self, lib->native, &args, dxpl, NULL) : 0;
}

static herr_t keep(vol_node *node, const char *text) {
    zb_error err = {0};
    return vol_comment_set(node, text, &err) == ZB_OK
               ? 0
               : VOL_PUSH_ZB(node->file->lib, SYM, CANTCOPY, &err);
}

herr_t vol_comment_from_hdf5(hid_t source, vol_node *node) {
    h5_lib *lib = node->file->lib;
    const ssize_t length = lib->H5Oget_comment(source, NULL, 0);
    if (length <= 0)
        return length < 0 ? -1 : 0;
    char *text = malloc((size_t)length + 1);
    if (!text)
        return VOL_PUSH(lib, SYM, CANTCOPY, "no memory for the comment of '%s'", node->path);
    const herr_t result =
        lib->H5Oget_comment(source, text, (size_t)length + 1) < 0 ? -1 : keep(node, text);
    free(text);
    return result;
}
