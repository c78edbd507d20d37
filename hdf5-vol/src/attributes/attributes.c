/* SPDX-License-Identifier: MIT */
/* The attributes of a node: see attributes.h. */
#include "attributes/attributes.h"

#include "attributes/attribute_list.h"
#include "attributes/attribute_order.h"
#include "attributes/exact.h"
#include "attributes/large.h"
#include "attributes/reference_kinds.h"
#include "attributes/write.h"
#include "dataset/dataset.h"
#include "types/convert.h"
#include "hdf5/errors.h"
#include "hdf5/shown.h"
#include "dataset/labels.h"
#include "types/types.h"
#include "scales/back_references.h"
#include "scales/dimensions.h"
#include "netcdf/netcdf_numbers.h"
#include "scales/scales.h"
#include "scales/stated_attributes.h"
#include "tree/side.h"
#include "waiting/waiting.h"

#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

/* ---- Making the list ---- */

static bool add_text(vol_attrs *attrs, const char *name, const char *text) {
    vol_attr *attr = vol_attrs_add(attrs, name, VOL_ATTR_TEXT, 1, sizeof(char *));
    char *copy = attr ? strdup(text) : NULL;
    if (copy)
        memcpy(attr->data, &copy, sizeof copy);
    return copy != NULL;
}

/* Times are int64 to HDF5, which needs CF's attributes to say of what. An array that shows another
   type than it has tells its own, for copies into HDF5 files (copy/data.h) and for people. */
char *vol_node_type_text(vol_node *node, const char *name) {
    const zb_array_info *info =
        node->zarr && node->kind == VOL_DATASET ? zb_node_array(node->zarr) : NULL;
    char text[1024];
    if (!info || vol_node_has_own_type(node)) /* h5py's times are opaque, and no numbers */
        return NULL;
    zb_dtype stored = info->dtype;
    const bool is_date = stored.kind == ZB_KIND_DATETIME;
    if (strcmp(name, "units") == 0)
        return is_date || stored.kind == ZB_KIND_TIMEDELTA ? zb_time_units(stored) : NULL;
    if (strcmp(name, "calendar") == 0)
        return is_date ? strdup("proleptic_gregorian") : NULL;
    if (strcmp(name, VOL_ENCODING) == 0) {
        const char *encoding = vol_label_encoding(node);
        return encoding ? strdup(encoding) : NULL;
    }
    if (strcmp(name, VOL_DATA_TYPE) != 0)
        return NULL;
    stored.swapped = false;
    const zb_dtype shown = vol_node_shown(node);
    return shown.size == 0 || zb_dtype_equal(shown, stored)
               ? NULL
               : strdup(zb_dtype_print(stored, text, sizeof text));
}

/* Those of the document win. */
static bool add_type_texts(vol_attrs *attrs, vol_node *node) {
    static const char *const names[] = {"units", "calendar", VOL_ENCODING, VOL_DATA_TYPE};
    bool good = true;
    for (size_t i = 0; i < sizeof names / sizeof *names && good; i++) {
        char *text = vol_attrs_find(attrs, names[i]) ? NULL : vol_node_type_text(node, names[i]);
        good = !text || add_text(attrs, names[i], text);
        free(text);
    }
    return good;
}

/* A string that no HDF5 program wrote is text of a fixed length to netCDF: its functions for text,
   with which Fortran, GMT and ncview ask for units, refuse one of variable length. */
static void fix_text(vol_attr *attr) {
    if (attr->kind != VOL_ATTR_TEXT || attr->type.bytes || attr->ndim > 0 || !attr->data)
        return;
    char *text = ((char **)attr->data)[0];
    free(attr->data);
    const size_t size = strlen(text);
    attr->kind = VOL_ATTR_FIXED;
    attr->dtype.size = size > 0 ? (uint32_t)size : 1;
    attr->is_null = size == 0; /* as netCDF stores an empty text */
    attr->count = size > 0;
    attr->data = text;
}

/* The document's attributes come first, then those of dimension scales and those made of other
   members: these replace namesakes, since HDF5 gives their names a meaning. */
static bool fill_attrs(vol_attrs *attrs, vol_node *node) {
    const zb_array_info *info = node->zarr ? zb_node_array(node->zarr) : NULL;
    vol_attribute_walk walk = {.document = NULL};
    const zb_json *value;
    while ((value = vol_attribute_next(node, &walk)))
        if (!vol_side_hides(node, zb_json_name(value)) &&
            (!vol_attrs_add_plain(attrs, node, value) || !vol_exact_apply(attrs, node, value)))
            return false;
    const zb_json *scales = info ? vol_scales_get(node) : NULL;
    if (scales && !vol_scale_apply(attrs, node, scales))
        return false;
    const size_t document = attrs->count;
    if (info && (!add_type_texts(attrs, node) || (!scales && !vol_dims_add(attrs, node))))
        return false;
    for (size_t i = document; i < attrs->count; i++)
        attrs->attr[i].derived = true;
    for (size_t i = 0; i < attrs->count && node->file->options.is_netcdf; i++)
        fix_text(&attrs->attr[i]);
    return true;
}

/* A value that the program wrote is of use as long as the document has the attribute. */
static bool is_kept(const vol_attr *attr, const vol_attrs *document) {
    return attr->place == VOL_ATTR_WRITTEN ? vol_attrs_find(document, attr->name) != NULL
                                           : attr->place == VOL_ATTR_UNWRITTEN;
}

/* Takes over the kept attributes of the list that is about to go; memory has been made. */
static void move_kept(vol_attrs *attrs, vol_attrs *old) {
    for (size_t i = 0; old && i < old->count; i++) {
        vol_attr *from = &old->attr[i];
        if (!is_kept(from, attrs))
            continue;
        *vol_attrs_place(attrs, from->name) = *from;
        vol_attrs_set_number(attrs, from->name, old->number[i]);
        *from = (vol_attr){.kind = VOL_ATTR_NUMBER};
    }
}

/* Dimension scales hang together across nodes and may change with any change of the tree. Memory
   for those of the old list is reserved before they are moved: a list that cannot be made leaves
   the old one whole. */
vol_attrs *vol_node_attrs(vol_node *node) {
    vol_attrs *old = vol_node_attrs_now(node);
    if (vol_node_attrs_are_current(node))
        return old;
    vol_attrs *attrs = vol_attrs_new(node->file->lib);
    if (attrs && fill_attrs(attrs, node) && vol_attrs_reserve(attrs, old ? old->count : 0)) {
        move_kept(attrs, old);
        vol_attribute_order_assign(node, attrs, old);
        vol_node_attrs_set(node, attrs);
        return attrs;
    }
    vol_attrs_free(attrs);
    VOL_PUSH(node->file->lib, ATTR, CANTGET, "no memory for the attributes of '%s'", node->path);
    return NULL;
}

const vol_attr *vol_node_find_attr(vol_node *node, vol_attrs *attrs, const char *name) {
    vol_back_complete(attrs, node, name); /* without memory, as if it were not there */
    vol_numbers_complete(attrs, node, name);
    return vol_attrs_find(attrs, name);
}

/* ---- Attributes kept beside the document ---- */

bool vol_node_keep_attr(vol_node *node, vol_attr *attr) {
    node->file->attribute_changes++;
    vol_attrs *list = vol_node_attrs_begin(node);
    vol_attr *to = list ? vol_attrs_place(list, attr->name) : NULL;
    if (to)
        *to = *attr;
    else
        vol_attr_clear(node->file->lib, attr);
    return to != NULL;
}

static vol_attr *find_kept(const vol_node *node, const char *name) {
    const vol_attrs *list = vol_node_attrs_now(node);
    vol_attr *attr = list ? vol_attrs_find(list, name) : NULL;
    const bool is_kept_here =
        attr && (attr->place == VOL_ATTR_WRITTEN || attr->place == VOL_ATTR_UNWRITTEN);
    return is_kept_here ? attr : NULL;
}

bool vol_node_drop_attr(vol_node *node, const char *name, enum vol_attr_place place) {
    vol_attr *attr = find_kept(node, name);
    if (!attr || attr->place != place)
        return false;
    attr->place = VOL_ATTR_STORED; /* the next list is made without it */
    vol_node_attrs_outdate(node);
    return true;
}

/* The attribute moves to a place of its own; that of the old name is empty then. */
bool vol_node_rename_attr(vol_node *node, const char *from, const char *to) {
    vol_attrs *list = vol_node_attrs_now(node);
    vol_node_attrs_outdate(node);
    if (!list || !vol_attrs_find(list, from))
        return true;
    char *name = strdup(to);
    vol_attr *place = name && vol_attrs_reserve(list, 1) ? vol_attrs_place(list, to) : NULL;
    if (!place) {
        free(name);
        return false;
    }
    vol_attr *attr = vol_attrs_find(list, from);
    vol_attrs_take_number(list, place, attr);
    *place = *attr;
    place->name = name;
    *attr = (vol_attr){.name = attr->name};
    vol_attrs_remove(list, from);
    return true;
}

bool vol_node_attr_is_alone(const vol_node *node, const char *name) {
    static const char *const made[] = {
        VOL_DATA_TYPE, "units", "calendar",       VOL_ENCODING,     "_FillValue",
        "CLASS",       "NAME",  "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS"};
    for (size_t i = 0; node->kind == VOL_DATASET && i < sizeof made / sizeof *made; i++)
        if (strcmp(made[i], name) == 0)
            return false;
    return true;
}

const vol_attr *vol_node_unwritten(const vol_node *node, const char *name) {
    const vol_attr *attr = name ? find_kept(node, name) : NULL;
    if (name)
        return attr && attr->place == VOL_ATTR_UNWRITTEN ? attr : NULL;
    const vol_attrs *list = vol_node_attrs_now(node);
    for (size_t i = 0; list && i < list->count; i++)
        if (list->attr[i].place == VOL_ATTR_UNWRITTEN)
            return &list->attr[i];
    return NULL;
}

/* ---- Open attributes ---- */

vol_object *vol_attr_ids_open(vol_handle *handle, vol_node *owner, const char *name, size_t count) {
    vol_object *object = vol_object_new(handle, owner, H5I_ATTR);
    if (!object)
        return NULL;
    object->attr = strdup(name);
    object->attr_count = count;
    if (object->attr)
        return object;
    VOL_PUSH(object->lib, ATTR, CANTOPENOBJ, "no memory to open attribute '%s'", name);
    vol_object_free(object);
    return NULL;
}

static bool is_id_of(const vol_object *object, const char *name) {
    return !object->attr_deleted && object->attr && strcmp(object->attr, name) == 0;
}

bool vol_attr_ids_others(const vol_object *object) {
    const vol_object *other = vol_node_attr_ids(object->node);
    while (other && (other == object || !is_id_of(other, object->attr)))
        other = other->next_attr;
    return other != NULL;
}

const vol_attr *vol_attr_ids_get(const vol_object *object) {
    h5_lib *lib = object->lib;
    vol_attrs *attrs = vol_node_attrs(object->node);
    const vol_attr *attr = attrs && !object->attr_deleted
                               ? vol_node_find_attr(object->node, attrs, object->attr)
                               : NULL;
    if (attrs && !attr)
        VOL_PUSH(lib, ATTR, NOTFOUND, "attribute '%s' has been deleted", object->attr);
    if (!attr || attr->count == object->attr_count)
        return attr;
    VOL_PUSH(lib, ATTR, BADVALUE,
             "attribute '%s' had %zu elements when it was opened and has %zu now: open it again",
             object->attr, object->attr_count, attr->count);
    return NULL;
}

/* Without memory for the name, an id is of no use any more. */
void vol_attr_ids_rename(vol_node *owner, const char *from, const char *to) {
    for (vol_object *object = vol_node_attr_ids(owner); object; object = object->next_attr) {
        if (!is_id_of(object, from))
            continue;
        char *copy = strdup(to);
        object->attr_deleted = !copy;
        if (copy) {
            free(object->attr);
            object->attr = copy;
        }
    }
}

void vol_attr_ids_orphan(vol_node *owner, const char *name) {
    for (vol_object *object = vol_node_attr_ids(owner); object; object = object->next_attr)
        if (is_id_of(object, name))
            object->attr_deleted = true;
}

/* ---- Reading ---- */

/* From a node's attributes to the program's memory: as many elements as its dataspace has, each of
   the size of the memory type, and never more. */

static herr_t push_no_conversion(const vol_object *object) {
    return VOL_PUSH(object->lib, ATTR, CANTCONVERT,
                    "attribute '%s' cannot be converted to the type that was asked for",
                    object->attr);
}

/* By HDF5's own conversion. */
static herr_t read_plain(const vol_object *object, const vol_attr *attr, hid_t mem_type, void *out,
                         hid_t dxpl) {
    h5_lib *lib = object->lib;
    hid_t type = vol_attr_type(lib, attr);
    herr_t result = -1;
    if (type >= 0 && vol_type_is_reference(lib, type, *lib->H5T_STD_REF_OBJ_g) &&
        vol_type_is_reference(lib, mem_type, *lib->H5T_STD_REF_g))
        result = vol_refs_of_tokens(object->handle, attr->count, attr->data, out);
    else if (type >= 0 && vol_refs_are_lists(lib, type, false) &&
             vol_refs_are_lists(lib, mem_type, true))
        result = vol_refs_read_new_lists(object, attr, out, dxpl);
    else if (type >= 0 && lib->H5Tget_class(type) == H5T_COMPOUND &&
             lib->H5Tget_class(mem_type) == H5T_COMPOUND && vol_refs_are_new(lib, mem_type))
        result = vol_refs_read_new_compounds(object, attr, type, mem_type, out, dxpl);
    else if (type >= 0)
        result = vol_convert(lib, type, mem_type, attr->count, attr->data, out, dxpl);
    if (type >= 0)
        lib->H5Tclose(type);
    return result < 0 ? push_no_conversion(object) : 0;
}

/* Each string is a copy that the program frees. */
static herr_t read_text(const vol_object *object, const vol_attr *attr, hid_t mem_type, char **out,
                        hid_t dxpl) {
    h5_lib *lib = object->lib;
    if (lib->H5Tis_variable_str(mem_type) <= 0)
        return push_no_conversion(object);
    for (size_t i = 0; i < attr->count; i++) {
        const char *text = ((char *const *)attr->data)[i];
        const size_t size = text ? strlen(text) + 1 : 0;
        out[i] = NULL;
        if (!text)
            continue;
        out[i] = vol_vlen_alloc(lib, dxpl, size);
        if (!out[i])
            return VOL_PUSH(lib, ATTR, READERROR, "no memory for attribute '%s'", object->attr);
        memcpy(out[i], text, size);
    }
    return 0;
}

herr_t vol_attr_read(const vol_object *object, hid_t mem_type, void *buffer, hid_t dxpl) {
    const vol_attr *attr = vol_attr_ids_get(object);
    if (!attr)
        return -1;
    if (attr->count == 0)
        return 0;
    if (attr->place == VOL_ATTR_UNWRITTEN) {
        memset(buffer, 0, attr->count * object->lib->H5Tget_size(mem_type));
        return 0;
    }
    if (vol_large_read(object->node, attr) < 0)
        return -1;
    switch (attr->kind) {
    case VOL_ATTR_NUMBER:
    case VOL_ATTR_FIXED:
    case VOL_ATTR_BYTES:
        return read_plain(object, attr, mem_type, buffer, dxpl);
    case VOL_ATTR_TEXT:
        return read_text(object, attr, mem_type, buffer, dxpl);
    case VOL_ATTR_REFS:
        break;
    }
    if (vol_refs_read(object, attr, mem_type, buffer, dxpl) < 0)
        return push_no_conversion(object);
    return 0;
}
