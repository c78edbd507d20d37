/* SPDX-License-Identifier: MIT */
/* Attributes on their way into the document: see write.h. */
#include "attributes/write.h"

#include "attributes/attribute_list.h"
#include "attributes/attributes.h"
#include "waiting/edit_attribute.h"
#include "attributes/exact.h"
#include "attributes/large.h"
#include "attributes/reference_kinds.h"
#include "file/owners.h"
#include "types/convert.h"
#include "hdf5/errors.h"
#include "hdf5/held_types.h"
#include "hdf5/text.h"
#include "types/type_json.h"
#include "types/types.h"
#include "links/links.h"
#include "objects/committed_types.h"
#include "scales/scale_attributes.h"
#include "tree/side.h"
#include "waiting/waiting.h"

#include <stdlib.h>
#include <string.h>

/* The elements as JSON, and the entry where they need one, unless both are too large for the
   document. */
static enum zb_code print_elements(vol_node *owner, const vol_attr_elements *elements, bool is_null,
                                   char **text, char **entry, zb_error *err) {
    h5_lib *lib = owner->file->lib;
    hsize_t dims[ZB_MAX_NDIM];
    const int ndim = lib->H5Sget_simple_extent_dims(elements->space, dims, NULL);
    enum zb_code code = ZB_OK;
    if (!is_null && ndim < 0)
        return zb_fail(err, ZB_EINVAL, "the dataspace cannot be used");
    if (!is_null && vol_large_is(owner, elements->count * elements->form->size))
        return vol_large_write(owner, elements, text, entry, err);
    if (!is_null)
        code = vol_attr_print(owner, elements, (uint32_t)ndim, dims, text, err);
    else if (!(*text = strdup("null")))
        code = zb_fail(err, ZB_ENOMEM, "no memory for the text of an attribute");
    if (!code)
        code = vol_exact_print(owner, elements, *text, entry, err);
    if (code || elements->count == 0 ||
        !vol_large_is(owner, strlen(*text) + (*entry ? strlen(*entry) : 0)))
        return code;
    free(*text);
    free(*entry);
    return vol_large_write(owner, elements, text, entry, err);
}

/* The JSON text of a value, and its entry (exact.h) where it needs one. */
static enum zb_code print_value(vol_node *owner, const vol_attr_value *value, char **text,
                                char **entry, zb_error *err) {
    h5_lib *lib = owner->file->lib;
    vol_form *form;
    const bool is_null = lib->H5Sget_simple_extent_type(value->space) == H5S_NULL;
    *text = *entry = NULL;
    enum zb_code code = vol_form_new(owner->file, value->type, &form, err);
    if (code)
        return code;
    const vol_attr_elements elements = {
        .name = value->name,
        .committed = value->committed,
        .is_utf8 = value->is_utf8,
        .type = value->type,
        .space = value->space,
        .new_refs = value->new_refs,
        .form = form,
        .count = is_null ? 0 : (size_t)lib->H5Sget_select_npoints(value->space),
        .data = value->data};
    code = print_elements(owner, &elements, is_null, text, entry, err);
    vol_form_free(form);
    return code;
}

herr_t vol_attr_zeros(h5_lib *lib, hid_t type, hid_t space, void **out) {
    const hssize_t count = lib->H5Sget_select_npoints(space);
    *out = calloc(count > 0 ? (size_t)count : 1, lib->H5Tget_size(type));
    if (*out)
        return 0;
    return VOL_PUSH(lib, ATTR, WRITEERROR, "no memory for an attribute");
}

/* Names that HDF5 programs do not see cannot be theirs. */
static enum zb_code check_name(const char *name, zb_error *err) {
    if (!vol_text_is_utf8(name))
        return zb_fail(err, ZB_EUNSUPPORTED, "its name is not UTF-8; choose another one");
    if (strcmp(name, ZB_HDF5_EXTENSION) != 0)
        return ZB_OK;
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "this name is for what only HDF5 knows of an object; choose another one");
}

static enum zb_code check(vol_node *owner, const char *name, hid_t type, hid_t space,
                          zb_error *err) {
    h5_lib *lib = owner->file->lib;
    vol_form *form = NULL;
    const hssize_t count = lib->H5Sget_select_npoints(space);
    enum zb_code code = check_name(name, err);
    if (!code)
        code = vol_waiting_check(owner, err);
    if (!code)
        code = vol_form_new(owner->file, type, &form, err);
    if (!code && count > 0 && (size_t)count > VOL_ATTR_LARGEST / form->size)
        code = zb_fail(err, ZB_ELIMIT, "an attribute can take %zu bytes; make it a dataset",
                       VOL_ATTR_LARGEST);
    zb_json_writer *text = code ? NULL : zb_json_writer_new();
    if (!code)
        code = vol_type_print(lib, type, text, err);
    free(zb_json_writer_end(text, NULL));
    vol_form_free(form);
    return code;
}

herr_t vol_attr_check(vol_node *owner, const char *name, hid_t type, hid_t space) {
    zb_error err = {0};
    if (vol_scale_knows(owner, name) || check(owner, name, type, space, &err) == ZB_OK)
        return 0;
    return vol_attr_push_failed(owner->file->lib, "create", name, &err);
}

/* ---- Attributes kept beside the document ---- */

/* Takes `attr` over, complete or not. */
static herr_t keep(vol_node *owner, const char *name, vol_attr *attr, bool complete) {
    if (complete && vol_node_keep_attr(owner, attr))
        return 0;
    if (!complete)
        vol_attr_clear(owner->file->lib, attr);
    return vol_attr_push_no_memory(owner->file->lib, name);
}

herr_t vol_attr_create_unwritten(vol_node *owner, const char *name, H5T_cset_t cset, hid_t type,
                                 hid_t space) {
    vol_attr attr;
    char *committed;
    zb_error err = {0};
    if (vol_committed_refer(owner->file, type, &committed, &err) != ZB_OK)
        return vol_attr_push_failed(owner->file->lib, "create", name, &err);
    bool described = vol_attr_describe(owner->file->lib, name, type, space, &attr);
    vol_owners_note(owner);
    attr.place = VOL_ATTR_UNWRITTEN;
    attr.committed = committed;
    attr.is_utf8 = vol_charset_is_needed(name, cset);
    return keep(owner, name, &attr, described);
}

/* The attribute's own copies of all that elements point at. */
static bool copy_elements(vol_node *owner, const vol_attr_value *value, vol_attr *attr) {
    h5_lib *lib = owner->file->lib;
    vol_form *form;
    if (vol_form_new(owner->file, value->type, &form, NULL) != ZB_OK)
        return false;
    attr->data = vol_elements_copy(form, attr->count, value->data);
    attr->points = vol_form_points(form);
    if (lib->H5Tis_variable_str(value->type) > 0)
        attr->kind = VOL_ATTR_TEXT;
    vol_form_free(form);
    return attr->data != NULL;
}

/* Without memory to keep it, the attribute counts as written all the same. */
static herr_t keep_written(vol_node *owner, const vol_attr_value *value, hid_t shown) {
    h5_lib *lib = owner->file->lib;
    vol_attr attr;
    bool complete = vol_attr_describe(lib, value->name, shown, value->space, &attr) &&
                    copy_elements(owner, value, &attr);
    attr.place = VOL_ATTR_WRITTEN;
    attr.committed = value->committed ? strdup(value->committed) : NULL;
    attr.is_utf8 = value->is_utf8;
    if (value->new_refs > 0)
        complete &= vol_type_hold(lib, value->new_refs, &attr.new_refs);
    herr_t result = keep(owner, value->name, &attr, complete);
    if (result < 0)
        vol_node_drop_attr(owner, value->name, VOL_ATTR_UNWRITTEN);
    return result;
}

/* ---- Storing ---- */

static herr_t push_no_conversion(h5_lib *lib, const char *name) {
    return VOL_PUSH(lib, ATTR, CANTCONVERT,
                    "what was written cannot be converted to the type of attribute '%s'", name);
}

/* Texts of any kind as pointers to copies, which HDF5 does not convert from fixed lengths. */
static herr_t convert_texts(h5_lib *lib, const vol_attr_value *value, size_t count, char **out) {
    const size_t size = lib->H5Tget_size(value->type);
    const bool is_variable = lib->H5Tis_variable_str(value->type) > 0;
    for (size_t i = 0; i < count; i++) {
        const bool is_null = is_variable && !((char *const *)value->data)[i];
        out[i] =
            is_null ? NULL : vol_attr_text(lib, value->type, (const char *)value->data + i * size);
        if (!out[i] && !is_null)
            return vol_attr_push_no_memory(lib, value->name);
    }
    return 0;
}

/* Whether the elements that an attribute has are those of a form. */
static bool has_elements(h5_lib *lib, const vol_attr *attr, hid_t shown, size_t count) {
    if (!attr || attr->place == VOL_ATTR_UNWRITTEN || attr->count != count)
        return false;
    hid_t type = vol_attr_type(lib, attr);
    const bool same = type >= 0 && lib->H5Tequal(type, shown) > 0;
    vol_release_id(lib, type);
    return same;
}

/* Members that the program's type lacks keep what the attribute has: it becomes `out`. *existing is
   NULL, or what is left of it, for drop_existing. */
static herr_t take_existing(vol_node *owner, const char *name, hid_t shown, const vol_form *form,
                            size_t count, void *out, void **existing) {
    vol_attrs *attrs = vol_form_has(form, VOL_FORM_COMPOUND) ? vol_node_attrs(owner) : NULL;
    const vol_attr *attr = attrs ? vol_attrs_find(attrs, name) : NULL;
    *existing = NULL;
    if (!has_elements(owner->file->lib, attr, shown, count))
        return 0;
    if (vol_large_read(owner, attr) < 0)
        return -1;
    if (!attr->data)
        return 0;
    *existing = vol_elements_copy(form, count, attr->data);
    if (!*existing)
        return vol_attr_push_no_memory(owner->file->lib, name);
    memcpy(out, *existing, count * form->size);
    return 0;
}

/* What the new elements still point at is theirs. */
static void drop_existing(const vol_form *form, size_t count, void *existing, const void *kept) {
    if (existing)
        vol_elements_drop(form, count, existing, kept);
    free(existing);
}

static herr_t convert_elements(vol_node *owner, const vol_attr_value *value, hid_t shown,
                               const vol_form *form, size_t count, void *out) {
    h5_lib *lib = owner->file->lib;
    void *existing;
    if (take_existing(owner, value->name, shown, form, count, out, &existing) < 0)
        return -1;
    const herr_t result = vol_convert(lib, value->type, shown, count, value->data, out,
                                      *lib->H5P_LST_DATASET_XFER_ID_g);
    drop_existing(form, count, existing, out);
    return result < 0 ? push_no_conversion(lib, value->name) : 0;
}

/* All becomes what HDF5 would store. *converted is NULL where nothing had to be converted; else
   vol_elements_free frees it. */
static herr_t convert(vol_node *owner, vol_attr_value *value, hid_t shown, const vol_form *form,
                      void **converted) {
    h5_lib *lib = owner->file->lib;
    const hssize_t count = lib->H5Sget_select_npoints(value->space);
    *converted = NULL;
    if (count <= 0 || lib->H5Tequal(value->type, shown) > 0) {
        value->type = shown;
        return 0;
    }
    *converted = calloc((size_t)count, form->size);
    if (!*converted)
        return vol_attr_push_no_memory(lib, value->name);
    if (form->kind == VOL_FORM_TEXT && form->text.is_variable &&
        lib->H5Tget_class(value->type) == H5T_STRING) {
        if (convert_texts(lib, value, (size_t)count, *converted) < 0)
            return -1;
    } else if (form->kind == VOL_FORM_REFERENCE &&
               vol_type_is_reference(lib, value->type, *lib->H5T_STD_REF_g)) {
        vol_refs_to_tokens(owner->file, (size_t)count, value->data, *converted);
    } else if (convert_elements(owner, value, shown, form, (size_t)count, *converted) < 0) {
        return -1;
    }
    value->type = shown;
    value->data = *converted;
    return 0;
}

static herr_t store_in_document(vol_node *owner, const vol_attr_value *value, hid_t shown) {
    h5_lib *lib = owner->file->lib;
    zb_error err = {0};
    char *text, *entry;
    const uint64_t known = vol_node_attrs_change(owner);
    enum zb_code code = print_value(owner, value, &text, &entry, &err);
    if (!code)
        code = vol_edit_attribute(owner, value->name, text, entry, &err);
    free(text);
    free(entry);
    if (code)
        return vol_attr_push_failed(lib, "write", value->name, &err);
    herr_t result = keep_written(owner, value, shown);
    if (result >= 0)
        vol_node_attrs_as_before(owner, known);
    return result;
}

/* Into the document, or to the scales. */
static herr_t store(vol_node *owner, const vol_attr_value *value, hid_t shown) {
    vol_attr_value stored = *value;
    void *converted;
    vol_form *form;
    zb_error err = {0};
    const bool is_of_scale = vol_scale_takes(owner, value);
    const hssize_t count = owner->file->lib->H5Sget_select_npoints(value->space);
    if (vol_form_new(owner->file, shown, &form, &err) != ZB_OK)
        return vol_attr_push_failed(owner->file->lib, "write", value->name, &err);
    herr_t result = convert(owner, &stored, shown, form, &converted);
    if (result >= 0)
        result = is_of_scale ? vol_scale_store(owner, &stored)
                             : store_in_document(owner, &stored, shown);
    if (result >= 0 && is_of_scale)
        vol_node_drop_attr(owner, value->name, VOL_ATTR_UNWRITTEN);
    vol_elements_free(form, count > 0 ? (size_t)count : 0, converted);
    vol_form_free(form);
    return result;
}

/* Whether it is what the node's type says by itself: copies write that, too. */
static bool is_type_text(vol_node *owner, const vol_attr_value *value) {
    h5_lib *lib = owner->file->lib;
    char *made = lib->H5Tget_class(value->type) == H5T_STRING &&
                         lib->H5Sget_select_npoints(value->space) == 1 &&
                         !vol_attribute(owner, value->name) && !value->is_utf8
                     ? vol_node_type_text(owner, value->name)
                     : NULL;
    char *text = made ? vol_attr_text(lib, value->type, value->data) : NULL;
    const bool same = text && strcmp(text, made) == 0;
    free(made);
    free(text);
    return same;
}

/* References of the new kind are kept as those of the old one; new_refs tells of the type. */
static herr_t store_references(vol_node *owner, const vol_attr_value *value, hid_t shown) {
    h5_lib *lib = owner->file->lib;
    vol_attr_value old = *value;
    const bool is_new = vol_refs_are_new(lib, value->type);
    const hssize_t count = lib->H5Sget_select_npoints(value->space);
    void *data = NULL;
    if (is_new && vol_refs_to_old(owner->file, value->type, count > 0 ? (size_t)count : 0,
                                  value->data, &old.type, &data) < 0)
        return -1;
    if (is_new)
        old.data = data;
    if (vol_refs_are_new(lib, shown))
        old.new_refs = shown;
    hid_t old_shown = vol_refs_old_type(lib, shown);
    herr_t result =
        old_shown < 0 ? vol_attr_push_no_memory(lib, value->name) : store(owner, &old, old_shown);
    free(data);
    vol_release_id(lib, old_shown);
    if (is_new)
        vol_release_id(lib, old.type);
    return result;
}

herr_t vol_attr_store(vol_node *owner, const vol_attr_value *value, hid_t shown) {
    if (is_type_text(owner, value)) {
        vol_node_drop_attr(owner, value->name, VOL_ATTR_UNWRITTEN);
        vol_node_attrs_outdate(owner);
        return 0;
    }
    return vol_scale_knows(owner, value->name) ? store_references(owner, value, shown)
                                               : store(owner, value, shown);
}

herr_t vol_attr_store_elements(vol_node *owner, const vol_attr *attr, const void *elements) {
    h5_lib *lib = owner->file->lib;
    hid_t type = vol_attr_type(lib, attr), space = vol_attr_space(lib, attr);
    char *name = strdup(attr->name); /* attr goes when it is stored */
    char *committed = attr->committed ? strdup(attr->committed) : NULL;
    void *zeros = NULL;
    herr_t result = -1;
    if (name && type >= 0 && space >= 0 &&
        (elements || vol_attr_zeros(lib, type, space, &zeros) >= 0)) {
        const vol_attr_value value = {.name = name,
                                      .type = type,
                                      .space = space,
                                      .dxpl = *lib->H5P_LST_DATASET_XFER_ID_g,
                                      .data = elements ? elements : zeros,
                                      .committed = committed,
                                      .is_utf8 = attr->is_utf8};
        result = vol_attr_store(owner, &value, type);
    }
    vol_release_id(lib, type);
    vol_release_id(lib, space);
    free(zeros);
    free(committed);
    free(name);
    return result;
}

/* ---- Attributes that are not written yet ---- */

/* The value is zeros, as HDF5 would show it. */
herr_t vol_attr_store_unwritten(vol_node *owner, const char *name) {
    const vol_attr *attr = vol_node_unwritten(owner, name);
    return attr ? vol_attr_store_elements(owner, attr, NULL) : 0;
}

/* Stores the attributes of a node until one fails, and those of other nodes all the same. */
herr_t vol_attr_store_unwritten_below(vol_node *node) {
    herr_t result = 0;
    while (result >= 0 && vol_node_unwritten(node, NULL))
        result = vol_attr_store_unwritten(node, NULL);
    size_t at = 0;
    for (vol_node *child; (child = vol_links_opened(node, &at));)
        if (vol_attr_store_unwritten_below(child) < 0)
            result = -1;
    return result;
}

void vol_attr_abandon_unwritten_below(vol_node *node, vol_owners handles) {
    const vol_attr *attr;
    while (vol_owners_alone(node, handles) && (attr = vol_node_unwritten(node, NULL))) {
        vol_attr_ids_orphan(node, attr->name);
        vol_node_drop_attr(node, attr->name, VOL_ATTR_UNWRITTEN);
    }
    size_t at = 0;
    for (vol_node *child; (child = vol_links_opened(node, &at));)
        vol_attr_abandon_unwritten_below(child, handles);
}

/* ---- Renaming and removing ---- */

static herr_t rename_in_document(vol_node *owner, const char *from, const char *to) {
    h5_lib *lib = owner->file->lib;
    const zb_json *value = vol_attribute(owner, from), *entry = vol_side_entry(owner, from);
    zb_error err = {0};
    if (!value)
        return VOL_PUSH(lib, ATTR, UNSUPPORTED,
                        "attribute '%s' stands for names of dimensions and cannot be renamed",
                        from);
    char *text = zb_json_print(value), *side = entry ? zb_json_print(entry) : NULL;
    enum zb_code code = text && (side || !entry) ? vol_edit_attribute(owner, to, text, side, &err)
                                                 : zb_fail(&err, ZB_ENOMEM, "no memory for it");
    if (!code)
        code = vol_edit_attribute(owner, from, NULL, NULL, &err);
    free(text);
    free(side);
    return code ? vol_attr_push_failed(lib, "rename", from, &err) : 0;
}

/* The new name goes to the end of the document. */
herr_t vol_attr_rename(vol_node *owner, const char *from, const char *to) {
    h5_lib *lib = owner->file->lib;
    zb_error err = {0};
    const vol_attrs *attrs = vol_node_attrs(owner);
    if (!attrs)
        return -1;
    if (!vol_attrs_find(attrs, from))
        return VOL_PUSH(lib, ATTR, NOTFOUND, "can't locate attribute: '%s'", from);
    if (strcmp(from, to) == 0)
        return 0;
    if (vol_attrs_find(attrs, to))
        return VOL_PUSH(lib, ATTR, EXISTS, "attribute '%s' exists already", to);
    if (check_name(to, &err) != ZB_OK)
        return vol_attr_push_failed(lib, "rename", from, &err);
    const uint64_t known = vol_node_attrs_change(owner);
    if (!vol_node_unwritten(owner, from) && rename_in_document(owner, from, to) < 0)
        return -1;
    vol_attr_ids_rename(owner, from, to);
    if (!vol_node_rename_attr(owner, from, to))
        return vol_attr_push_no_memory(lib, to);
    if (vol_node_attr_is_alone(owner, from) && vol_node_attr_is_alone(owner, to))
        vol_node_attrs_as_before(owner, known);
    return 0;
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
    if (code == ZB_ENOTFOUND)
        return VOL_PUSH(lib, ATTR, NOTFOUND, "can't locate attribute: '%s'", name);
    if (code)
        return vol_attr_push_failed(lib, "delete", name, &err);
    vol_node_drop_attr(owner, name, VOL_ATTR_WRITTEN);
    return 0;
}

herr_t vol_attr_remove(vol_node *owner, const char *name) {
    const uint64_t known = vol_node_attrs_change(owner);
    if (!vol_node_drop_attr(owner, name, VOL_ATTR_UNWRITTEN) &&
        remove_from_document(owner, name) < 0)
        return -1;
    vol_waiting_get(owner); /* so that the number is kept that has gone (attribute_order.h) */
    vol_attr_ids_orphan(owner, name);
    vol_attrs *list = vol_node_attrs_now(owner);
    if (list && vol_node_attr_is_alone(owner, name)) {
        vol_attrs_remove(list, name);
        vol_node_attrs_as_before(owner, known);
    }
    return 0;
}
