/* SPDX-License-Identifier: MIT */
/* Stated dimension scales as attributes: see stated_attributes.h. */
#include "scales/stated_attributes.h"

#include "attributes/exact.h"
#include "hdf5/errors.h"
#include "scales/scale_paths.h"
#include "scales/scales.h"

#include <stdlib.h>
#include <string.h>

const char *const vol_scale_attrs[VOL_SCALE_ATTRS] = {
    VOL_SCALE_CLASS, VOL_SCALE_NAME, VOL_SCALE_LIST, VOL_SCALE_LABELS, VOL_SCALE_BACK};

size_t vol_scale_number(const char *name) {
    size_t i = 0;
    while (i < VOL_SCALE_ATTRS && strcmp(vol_scale_attrs[i], name) != 0)
        i++;
    return i;
}

static bool is_list_of_references(h5_lib *lib, hid_t type) {
    if (lib->H5Tget_class(type) != H5T_VLEN)
        return false;
    hid_t base = lib->H5Tget_super(type);
    const bool is_reference = lib->H5Tget_class(base) == H5T_REFERENCE;
    vol_release_id(lib, base);
    return is_reference;
}

static bool is_fixed_text(h5_lib *lib, hid_t type) {
    return lib->H5Tget_class(type) == H5T_STRING && lib->H5Tis_variable_str(type) == 0;
}

bool vol_scale_is_expected(const vol_node *owner, const char *name, hid_t type, size_t count) {
    h5_lib *lib = owner->file->lib;
    const size_t ndim = zb_node_array(owner->zarr)->ndim;
    if (strcmp(name, VOL_SCALE_LIST) == 0)
        return count > 0 && count == ndim && is_list_of_references(lib, type);
    if (strcmp(name, VOL_SCALE_LABELS) == 0)
        return count > 0 && count == ndim && lib->H5Tis_variable_str(type) > 0;
    if (strcmp(name, VOL_SCALE_BACK) == 0)
        return lib->H5Tget_class(type) == H5T_COMPOUND &&
               lib->H5Tdetect_class(type, H5T_REFERENCE) > 0 &&
               lib->H5Tdetect_class(type, H5T_STRING) == 0;
    return count == 1 && is_fixed_text(lib, type);
}

/* ---- Reading ---- */

/* What of an entry of references back is of use for any number of them. */
static bool is_of_type(const char *member) {
    return strcmp(member, "type") == 0 || strcmp(member, VOL_EXACT_NEW_REFS) == 0;
}

/* As many references back as lead somewhere are the extent of that attribute. */
static void print_entry(zb_json_writer *out, const zb_json *entry, const char *name,
                        uint64_t count) {
    const bool is_back = strcmp(name, VOL_SCALE_BACK) == 0;
    zb_json_begin_object(out);
    for (const zb_json *one = zb_json_first(entry); one; one = zb_json_next(one)) {
        if (is_back && !is_of_type(zb_json_name(one)))
            continue;
        zb_json_write_name(out, zb_json_name(one));
        zb_json_write_value(out, one);
    }
    if (is_back) {
        zb_json_write_name(out, "shape");
        zb_json_begin_array(out);
        zb_json_write_uint64(out, count);
        zb_json_end_array(out);
    }
    zb_json_end_object(out);
}

/* The entry and the value, as members "entry" and `name` of an object; NULL without memory. */
static zb_json *entry_and_value(vol_node *node, const zb_json *entry, const char *name) {
    char *value = vol_scales_value(node, entry);
    zb_json *parsed = NULL;
    if (!value || zb_json_parse(value, strlen(value), &parsed, NULL) != ZB_OK) {
        free(value);
        return NULL;
    }
    zb_json_writer *out = zb_json_writer_new();
    zb_json_begin_object(out);
    zb_json_write_name(out, "entry");
    print_entry(out, entry, name, zb_json_count(parsed));
    zb_json_write_name(out, name);
    zb_json_write_raw(out, value);
    zb_json_end_object(out);
    free(value);
    zb_json_free(parsed);
    return vol_exact_parse(out);
}

/* HDF5 has no empty list of references back. References are of the old kind, and those with a
   number are not larger than HDF5's. */
static bool is_safe(const vol_node *node, const vol_attr *attr) {
    h5_lib *lib = node->file->lib;
    const size_t largest = 16;
    const bool is_back = strcmp(attr->name, VOL_SCALE_BACK) == 0;
    hid_t type = vol_attr_type(lib, attr);
    const bool safe = type >= 0 && vol_scale_is_expected(node, attr->name, type, attr->count) &&
                      (!is_back || (attr->count > 0 && attr->dtype.size <= largest));
    vol_release_id(lib, type);
    return safe;
}

static bool apply_one(vol_attrs *attrs, vol_node *node, const zb_json *entry, const char *name) {
    zb_json *both = entry_and_value(node, entry, name);
    if (!both)
        return false;
    vol_attrs_remove(attrs, name); /* of the document: HDF5 gives the name a meaning */
    const bool good =
        vol_exact_apply_entry(attrs, node, zb_json_get(both, "entry"), zb_json_get(both, name));
    zb_json_free(both);
    vol_attr *attr = vol_attrs_find(attrs, name);
    if (attr && is_safe(node, attr))
        attr->place = VOL_ATTR_STATED;
    else
        vol_attrs_remove(attrs, name);
    return good;
}

bool vol_scale_apply(vol_attrs *attrs, vol_node *node, const zb_json *scales) {
    for (size_t i = 0; i < VOL_SCALE_ATTRS; i++) {
        const zb_json *entry = zb_json_get(scales, vol_scale_attrs[i]);
        if (entry && !apply_one(attrs, node, entry, vol_scale_attrs[i]))
            return false;
    }
    return true;
}
