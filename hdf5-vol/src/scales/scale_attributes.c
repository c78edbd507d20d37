/* SPDX-License-Identifier: MIT */
/* The attributes of dimension scales: see scales.h. */
#include "scales/scale_attributes.h"

#include "attributes/attributes.h"
#include "waiting/edit_attribute.h"
#include "attributes/exact.h"
#include "hdf5/errors.h"
#include "links/place_text.h"
#include "links/places.h"
#include "objects/paths.h"
#include "scales/back_references.h"
#include "scales/dimensions.h"
#include "scales/scale_names.h"
#include "scales/scale_paths.h"
#include "scales/scales.h"
#include "scales/stated_attributes.h"
#include "tree/edit.h"
#include "waiting/waiting.h"

#include <stdlib.h>
#include <string.h>

/* ---- What is stated ---- */

/* The entries of a dataset; NULL for those that it does not have. */
typedef struct statement {
    char *entry[VOL_SCALE_ATTRS];
} statement;

static void clear(statement *s) {
    for (size_t i = 0; i < VOL_SCALE_ATTRS; i++)
        free(s->entry[i]);
}

/* Prints an attribute of `form`'s type, whose references lead to nodes of the file. */
static enum zb_code print(vol_node *owner, const vol_attr_elements *e, uint32_t ndim,
                          const hsize_t *dims, char **out, zb_error *err) {
    char *plain;
    zb_json *value = NULL;
    enum zb_code code = vol_attr_print(owner, e, ndim, dims, &plain, err);
    if (!code && vol_form_has(e->form, VOL_FORM_REFERENCE)) {
        code = zb_json_parse(plain, strlen(plain), &value, err);
        free(plain);
        plain = NULL;
        if (!code)
            code = vol_scale_paths_store(owner, value, &plain, err);
        zb_json_free(value);
    }
    if (!code)
        code = vol_exact_print_whole(owner, e, plain, out, err);
    free(plain);
    return code;
}

static enum zb_code print_derived(vol_node *owner, const vol_attr *attr, char **out,
                                  zb_error *err) {
    h5_lib *lib = owner->file->lib;
    hvl_t lists[ZB_MAX_NDIM];
    vol_form *form = NULL;
    hid_t type = vol_attr_type(lib, attr), space = vol_attr_space(lib, attr);
    enum zb_code code = type < 0 || space < 0 ? zb_fail(err, ZB_ENOMEM, "no memory for a type")
                                              : vol_form_new(owner->file, type, &form, err);
    if (!code) {
        vol_form_go_by_path(form);
        const vol_attr_elements e = {.name = attr->name,
                                     .is_utf8 = attr->is_utf8,
                                     .type = type,
                                     .space = space,
                                     .form = form,
                                     .count = attr->count,
                                     .data = vol_attr_data(attr, lists)};
        code = print(owner, &e, attr->ndim, attr->dims, out, err);
    }
    vol_form_free(form);
    vol_release_id(lib, type);
    vol_release_id(lib, space);
    return code;
}

/* What the dataset has now: stated, or made of names. */
static enum zb_code load(vol_node *owner, statement *s, zb_error *err) {
    const zb_json *scales = vol_scales_get(owner);
    const vol_attrs *attrs = scales ? NULL : vol_node_attrs(owner);
    enum zb_code code = ZB_OK;
    *s = (statement){{NULL}};
    for (size_t i = 0; i < VOL_SCALE_ATTRS && !code; i++) {
        const zb_json *entry = zb_json_get(scales, vol_scale_attrs[i]);
        const vol_attr *attr = attrs ? vol_attrs_find(attrs, vol_scale_attrs[i]) : NULL;
        if (entry && !(s->entry[i] = zb_json_print(entry)))
            code = zb_fail(err, ZB_ENOMEM, "no memory for an attribute");
        else if (attr && attr->derived && !attr->unlisted)
            code = print_derived(owner, attr, &s->entry[i], err);
    }
    return code;
}

/* The object of all entries; NULL when there is none, or without memory (*any tells). */
static char *join(const statement *s, bool *any) {
    zb_json_writer *out = zb_json_writer_new();
    *any = false;
    zb_json_begin_object(out);
    for (size_t i = 0; i < VOL_SCALE_ATTRS; i++) {
        if (!s->entry[i])
            continue;
        *any = true;
        zb_json_write_name(out, vol_scale_attrs[i]);
        zb_json_write_raw(out, s->entry[i]);
    }
    zb_json_end_object(out);
    char *text = zb_json_writer_end(out, NULL);
    if (*any)
        return text;
    free(text);
    return NULL;
}

/* Names of dimensions that follow of neither scales nor labels stay. An array of its own name, or
   beside one of a name that stays, may have scales to others, and has none to the program. */
static enum zb_code save(vol_node *owner, const statement *s, zb_error *err) {
    const zb_array_info *info = zb_node_array(owner->zarr);
    const char *others[ZB_MAX_NDIM] = {NULL};
    const bool was_stated = vol_scales_get(owner) != NULL;
    bool any, keeps_names = false;
    for (uint32_t d = 0; was_stated && info->dimension_names && d < info->ndim; d++)
        if (!vol_scales_says(owner, d))
            keeps_names |= (others[d] = info->dimension_names[d]) != NULL;
    char *json = join(s, &any);
    if (any && !json)
        return zb_fail(err, ZB_ENOMEM, "no memory for dimension scales");
    enum zb_code code = vol_scales_set(owner, json, others, err);
    free(json);
    const bool is_made_of_names = !code && !any && (keeps_names || vol_dims_is_scale(owner));
    return is_made_of_names ? vol_scales_set(owner, "{}", others, err) : code;
}

/* ---- References back ---- */

/* An entry for references back (NULL: a new one) with one more; malloc'ed, NULL without memory. */
static char *with_reference(const zb_json *entry, const char *way, uint32_t d) {
    const zb_json *list = zb_json_get(entry, VOL_SCALES_VALUE);
    zb_json_writer *out = zb_json_writer_new();
    zb_json_begin_object(out);
    vol_back_write_form(out, entry, zb_json_count(list) + 1);
    zb_json_write_name(out, VOL_SCALES_VALUE);
    zb_json_begin_array(out);
    for (const zb_json *one = zb_json_first(list); one; one = zb_json_next(one))
        zb_json_write_value(out, one);
    vol_back_write(out, way, d);
    zb_json_end_array(out);
    zb_json_end_object(out);
    return zb_json_writer_end(out, NULL);
}

/* Whether an entry has that reference. */
static bool has_reference(vol_node *scale, const zb_json *entry, const vol_node *dataset,
                          uint32_t d) {
    const zb_json *list = zb_json_get(entry, VOL_SCALES_VALUE);
    for (const zb_json *one = zb_json_first(list); one; one = zb_json_next(one)) {
        const zb_json *way = zb_json_first(one);
        const char *text = zb_json_string(way);
        uint64_t dim;
        if (text && zb_json_uint64(zb_json_next(way), &dim) && dim == d &&
            vol_place_node(scale, text) == dataset)
            return true;
    }
    return false;
}

static enum zb_code add_reference(vol_node *scale, const vol_node *dataset, uint32_t d,
                                  zb_error *err) {
    const size_t i = vol_scale_number(VOL_SCALE_BACK);
    statement s = {{NULL}};
    zb_json *entry = NULL;
    char *way = NULL;
    enum zb_code code = load(scale, &s, err);
    if (!code && s.entry[i])
        code = zb_json_parse(s.entry[i], strlen(s.entry[i]), &entry, err);
    if (!code && !has_reference(scale, entry, dataset, d))
        code = vol_place_text(scale, dataset, NULL, &way, err);
    if (way) {
        free(s.entry[i]);
        s.entry[i] = with_reference(entry, way, d);
        code = s.entry[i] ? save(scale, &s, err)
                          : zb_fail(err, ZB_ENOMEM, "no memory for dimension scales");
    }
    zb_json_free(entry);
    free(way);
    clear(&s);
    return code;
}

/* A dataset whose scales are stated is among what is stated of them, as HDF5's functions expect:
   before that of one that names alone attach, which is about to be stated. */
static enum zb_code state_back(vol_node *owner, zb_error *err) {
    vol_node *scales[ZB_MAX_NDIM];
    enum zb_code code = ZB_OK;
    if (owner->loose || !vol_dims_by_name(owner, scales))
        return ZB_OK;
    for (uint32_t d = 0; d < zb_node_array(owner->zarr)->ndim && !code; d++)
        code = add_reference(scales[d], owner, d, err);
    return code;
}

static enum zb_code state(vol_node *dataset, zb_error *err) {
    statement s = {{NULL}};
    enum zb_code code = state_back(dataset, err);
    if (!code)
        code = load(dataset, &s, err);
    if (!code)
        code = save(dataset, &s, err);
    clear(&s);
    return code;
}

/* The same, where it is known how: an extension of a later version has its own scales. */
static enum zb_code state_known(vol_node *dataset, zb_error *err) {
    const enum zb_code code = state(dataset, err);
    return code == ZB_EUNSUPPORTED ? ZB_OK : code;
}

/* States the scales of the datasets that names attach to a scale. */
static enum zb_code state_users(vol_node *scale, zb_error *err) {
    vol_node *scales[ZB_MAX_NDIM];
    enum zb_code code = ZB_OK;
    zb_json *list = vol_back_by_name(scale);
    if (!list)
        return zb_fail(err, ZB_ENOMEM, "no memory for dimension scales");
    for (const zb_json *one = zb_json_first(list); one && !code; one = zb_json_next(one)) {
        vol_node *dataset =
            vol_node_find(scale->file->root, zb_json_string(zb_json_first(one)), NULL);
        if (dataset && vol_dims_by_name(dataset, scales))
            code = state_known(dataset, err);
    }
    zb_json_free(list);
    return code;
}

/* Whether what lies in a group, or below it, finds the scale by its name. */
static bool is_found_from(const vol_node *scale, vol_node *group) {
    vol_link *link;
    for (; group && group != scale->parent; group = group->parent) {
        if (vol_child_find(group, scale->name, &link, NULL) == ZB_OK)
            return false;
    }
    return group != NULL;
}

/* A node that moves to a group. */
typedef struct move {
    const vol_node *node;
    vol_node *group;
    enum zb_code code;
    zb_error *err;
} move;

/* States the scales of a dataset, which moves or lies below what does, if names would lead to
   others from the new group on. */
static void state_if_lost(vol_node *dataset, void *context) {
    move *m = context;
    vol_node *scales[ZB_MAX_NDIM];
    if (m->code || !vol_dims_by_name(dataset, scales))
        return;
    for (uint32_t d = 0; d < zb_node_array(dataset->zarr)->ndim; d++) {
        if (vol_place_is_below(scales[d], m->node) || is_found_from(scales[d], m->group))
            continue;
        m->code = state_known(dataset, m->err);
        return;
    }
}

enum zb_code vol_scale_before_move(vol_node *node, vol_node *group, zb_error *err) {
    move m = {.node = node, .group = group, .err = err};
    enum zb_code listed = ZB_OK;
    zb_error why;
    if (node->loose)
        return ZB_OK;
    if (node->kind == VOL_DATASET && vol_dims_is_scale(node))
        m.code = state_users(node, err);
    if (m.code || group == node->parent)
        return m.code;
    if (node->kind == VOL_DATASET)
        state_if_lost(node, &m);
    else if (node->kind == VOL_GROUP)
        listed = vol_back_each_unstated(node, state_if_lost, &m, &why);
    if (listed && !m.code)
        *err = why;
    return m.code ? m.code : listed;
}

/* ---- Storing ---- */

static herr_t push_failed(vol_node *owner, const char *name, const zb_error *err) {
    return vol_attr_push_failed(owner->file->lib, "write", name, err);
}

/* Whether a text of a fixed length begins with another one. */
static bool begins_with(vol_node *owner, const vol_attr_value *value, const char *beginning) {
    char *text = vol_attr_text(owner->file->lib, value->type, value->data);
    const bool does = text && strncmp(text, beginning, strlen(beginning)) == 0;
    free(text);
    return does;
}

bool vol_scale_knows(const vol_node *owner, const char *name) {
    return owner->kind == VOL_DATASET &&
           (strcmp(name, VOL_SCALE_LIST) == 0 || strcmp(name, VOL_SCALE_BACK) == 0);
}

bool vol_scale_takes(vol_node *owner, const vol_attr_value *value) {
    if (owner->kind != VOL_DATASET || vol_scale_number(value->name) == VOL_SCALE_ATTRS)
        return false;
    const hssize_t count = owner->file->lib->H5Sget_select_npoints(value->space);
    if (!vol_scale_is_expected(owner, value->name, value->type, count > 0 ? (size_t)count : 0))
        return false;
    if (strcmp(value->name, VOL_SCALE_CLASS) == 0)
        return begins_with(owner, value, "DIMENSION_SCALE");
    return strcmp(value->name, VOL_SCALE_NAME) != 0 || vol_dims_is_scale(owner);
}

/* References of a dataset without a name would be ways from nowhere. */
static enum zb_code check_place(const vol_node *owner, const vol_form *form, zb_error *err) {
    if (!owner->loose || !vol_form_has(form, VOL_FORM_REFERENCE))
        return ZB_OK;
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "a dataset without a name cannot have references; link it before");
}

static enum zb_code print_value(vol_node *owner, const vol_attr_value *value, char **out,
                                zb_error *err) {
    h5_lib *lib = owner->file->lib;
    hsize_t dims[ZB_MAX_NDIM];
    vol_form *form = NULL;
    const int ndim = lib->H5Sget_simple_extent_ndims(value->space);
    if (ndim < 0 || lib->H5Sget_simple_extent_dims(value->space, dims, NULL) < 0)
        return zb_fail(err, ZB_EINVAL, "the dataspace cannot be used");
    enum zb_code code = vol_form_new(owner->file, value->type, &form, err);
    if (!code)
        code = check_place(owner, form, err);
    if (!code) {
        vol_form_go_by_path(form);
        const vol_attr_elements e = {.name = value->name,
                                     .is_utf8 = value->is_utf8,
                                     .type = value->type,
                                     .space = value->space,
                                     .new_refs = value->new_refs,
                                     .form = form,
                                     .count = (size_t)lib->H5Sget_select_npoints(value->space),
                                     .data = value->data};
        code = print(owner, &e, (uint32_t)ndim, dims, out, err);
    }
    vol_form_free(form);
    return code;
}

/* A dataset that is only a dimension leaves the store. */
static enum zb_code become_dimension(vol_node *owner, const vol_attr_value *value, zb_error *err) {
    const bool is_one = strcmp(value->name, VOL_SCALE_NAME) == 0 && !owner->is_dimension &&
                        zb_node_array(owner->zarr)->ndim == 1 && !owner->loose &&
                        begins_with(owner, value, VOL_NOT_A_VARIABLE);
    return is_one ? vol_edit_make_dimension(owner, err) : ZB_OK;
}

/* Takes one of that name out of the document: what is stated would hide it. */
static enum zb_code take_out(vol_node *owner, const char *name, zb_error *err) {
    vol_node_drop_attr(owner, name, VOL_ATTR_WRITTEN);
    return vol_attribute(owner, name) ? vol_edit_attribute(owner, name, NULL, NULL, err) : ZB_OK;
}

herr_t vol_scale_store(vol_node *owner, const vol_attr_value *value) {
    const size_t i = vol_scale_number(value->name);
    statement s = {{NULL}};
    char *entry = NULL;
    zb_error err = {0};
    enum zb_code code = vol_waiting_check(owner, &err);
    if (!code)
        code = become_dimension(owner, value, &err);
    if (!code)
        code = print_value(owner, value, &entry, &err);
    if (!code)
        code = state_back(owner, &err);
    if (!code)
        code = load(owner, &s, &err);
    if (!code)
        code = take_out(owner, value->name, &err);
    if (!code) {
        free(s.entry[i]);
        s.entry[i] = entry;
        entry = NULL;
        code = save(owner, &s, &err);
    }
    free(entry);
    clear(&s);
    return code ? push_failed(owner, value->name, &err) : 0;
}

herr_t vol_scale_remove(vol_node *owner, const char *name, bool *handled) {
    const size_t i = vol_scale_number(name);
    statement s = {{NULL}};
    zb_error err = {0};
    *handled = false;
    if (owner->kind != VOL_DATASET || i == VOL_SCALE_ATTRS)
        return 0;
    const vol_attrs *attrs = vol_node_attrs(owner);
    const vol_attr *attr = attrs ? vol_attrs_find(attrs, name) : NULL;
    if (!attrs)
        return -1;
    if (!attr || !(attr->derived || attr->place == VOL_ATTR_STATED))
        return 0;
    *handled = true;
    enum zb_code code = state_back(owner, &err);
    if (!code)
        code = load(owner, &s, &err);
    if (!code)
        code = take_out(owner, name, &err);
    if (!code) {
        free(s.entry[i]);
        s.entry[i] = NULL;
        code = save(owner, &s, &err);
    }
    clear(&s);
    return code ? vol_attr_push_failed(owner->file->lib, "delete", name, &err) : 0;
}
