/* SPDX-License-Identifier: MIT */
/* Dimensions without a variable: see dimension_records.h. */
#include "scales/dimension_records.h"

#include "dataset/edit_dataset.h"
#include "dataset/max_shape.h"
#include "links/links.h"
#include "links/places.h"
#include "scales/dimensions.h"
#include "scales/scales.h"
#include "tree/children.h"
#include "tree/side.h"
#include "waiting/waiting.h"
#include "waiting/waiting_store.h"

#include <stdlib.h>
#include <string.h>

static const zb_json *records_of(vol_node *group) {
    if (group->kind != VOL_GROUP || !group->zarr ||
        group->file->options.dimensions == VOL_DIMENSIONS_OFF)
        return NULL;
    const zb_json *records = vol_side_get(group, ZB_HDF5_DIMENSIONS);
    return zb_json_kind_of(records) == ZB_JSON_OBJECT ? records : NULL;
}

/* Which dimensions need a dataset shows only when all arrays are known. */
static bool need_list(vol_node *group) {
    return group->file->options.dimensions == VOL_DIMENSIONS_ON || records_of(group) != NULL;
}

/* ---- Showing ---- */

static bool is_sound(const char *name, const zb_json *record, uint64_t *length) {
    const bool is_name =
        *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strchr(name, '/');
    return is_name && zb_json_uint64(zb_json_get(record, "length"), length) &&
           *length <= INT64_MAX &&
           zb_json_kind_of(zb_json_get(record, "attributes")) == ZB_JSON_OBJECT;
}

/* Whether an array beside a dimension, which is not shown yet, has it. What is stated counts more
   than a name, which may be that of a dimension of a group above. */
static bool has_dimension(vol_node *array, uint32_t d, vol_node *group, const char *name) {
    const zb_json *scales = vol_scales_get(array);
    const char *now = vol_scales_name_now(array, d);
    const zb_json *first = zb_json_first(vol_scales_names(array, scales, d, array->name).list);
    if (!now || strcmp(now, name) != 0)
        return false;
    return !first || !zb_json_string(first) ||
           vol_place_leads_to(array, zb_json_string(first), group, name);
}

/* The length that arrays of the group have along the dimension, if they differ from the record. */
static uint64_t length_beside(vol_node *group, const char *name, uint64_t length) {
    vol_children walk = {.group = group, .passes_unopened = true};
    for (vol_node *array; (array = vol_children_next(&walk, NULL));) {
        const zb_array_info *info = array->kind == VOL_DATASET ? zb_node_array(array->zarr) : NULL;
        for (uint32_t d = 0; info && info->dimension_names && d < info->ndim; d++)
            if (info->shape[d] != length && has_dimension(array, d, group, name))
                return info->shape[d];
    }
    return length;
}

static enum zb_code show(vol_node *group, const zb_json *record, uint64_t length, zb_error *err) {
    const char *name = zb_json_name(record);
    char *text = zb_json_print(zb_json_get(record, "attributes")), *path = NULL;
    zb_node *zarr = NULL;
    enum zb_code code = text ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for dimension %s", name);
    if (!code)
        code = vol_node_child_path(group, name, &path, err);
    if (!code)
        code = vol_dims_new_array(group->file, path, length, text, &zarr, err);
    if (!code)
        code = vol_tree_add_dimension(group, name, zarr, err);
    free(path);
    free(text);
    vol_node *node = code ? NULL : vol_links_find(group, name)->node;
    const uint64_t beside = length_beside(group, name, length);
    const uint64_t *longest = node ? vol_max_shape(node) : NULL;
    if (!node || beside == length || (longest && longest[0] == H5S_UNLIMITED))
        return code;
    return vol_edit_resize(node, &beside, err);
}

static enum zb_code show_records(vol_node *group, zb_error *err) {
    const zb_json *records = records_of(group);
    enum zb_code code = ZB_OK;
    if (!group->records && !(group->records = records ? zb_json_print(records) : strdup("{}")))
        code = zb_fail(err, ZB_ENOMEM, "no memory for the dimensions of %s", group->path);
    for (const zb_json *one = zb_json_first(records); one && !code; one = zb_json_next(one)) {
        uint64_t length;
        if (is_sound(zb_json_name(one), one, &length) && !vol_links_find(group, zb_json_name(one)))
            code = show(group, one, length, err);
    }
    return code;
}

const vol_extras vol_dimension_extras = {
    .need_list = need_list, .show_kept = show_records, .show_made = vol_dims_complete};

/* ---- Storing ---- */

/* Those that are made of names alone, by the option netcdf_dimensions, have no attributes. */
static bool has_record(const vol_node *node) {
    return node && node->is_dimension && zb_json_count(zb_node_attributes(node->zarr)) > 0;
}

static int by_shown(const void *a, const void *b) {
    const vol_link *left = *(vol_link *const *)a, *right = *(vol_link *const *)b;
    return (left->shown > right->shown) - (left->shown < right->shown);
}

/* The links that have a record, in the order in which they are shown, so that they are again;
   malloc'ed, NULL without memory. */
static vol_link **list_records(vol_node *group, size_t *count) {
    vol_link **list = calloc(vol_links_count(group) + 1, sizeof(vol_link *));
    *count = 0;
    for (size_t i = 0; list && i < vol_links_count(group); i++)
        if (has_record(vol_links_at(group, i)->node))
            list[(*count)++] = vol_links_at(group, i);
    if (list)
        qsort(list, *count, sizeof(vol_link *), by_shown);
    return list;
}

static void print_record(zb_json_writer *w, const char *name, const vol_node *node) {
    zb_json_write_name(w, name);
    zb_json_begin_object(w);
    zb_json_write_name(w, "length");
    zb_json_write_uint64(w, zb_node_array(node->zarr)->shape[0]);
    zb_json_write_name(w, "attributes");
    zb_json_write_value(w, zb_node_attributes(node->zarr));
    zb_json_end_object(w);
}

/* A dimension that is still to come, or none. */
typedef struct to_come {
    const char *name;
    const vol_node *node; /* NULL: none */
} to_come;

static enum zb_code print(vol_node *group, to_come more, char **out, zb_error *err) {
    enum zb_code code = ZB_OK;
    size_t count, at = 0;
    *out = NULL;
    for (vol_node *child; !code && (child = vol_links_opened(group, &at));)
        if (child->is_dimension)
            code = vol_waiting_flush(child, err);
    if (code)
        return code;
    vol_link **list = list_records(group, &count);
    zb_json_writer *w = zb_json_writer_new();
    zb_json_begin_object(w);
    for (size_t i = 0; list && i < count; i++)
        print_record(w, list[i]->node->name, list[i]->node);
    if (more.node)
        print_record(w, more.name, more.node);
    zb_json_end_object(w);
    *out = zb_json_writer_end(w, NULL);
    const bool any = count > 0 || more.node;
    if (!list) {
        free(*out);
        *out = NULL;
    }
    free(list);
    if (!*out)
        return zb_fail(err, ZB_ENOMEM, "no memory for the dimensions of %s", group->path);
    if (!any) {
        free(*out);
        *out = NULL;
    }
    return ZB_OK;
}

static bool is_waiting_dimension(const vol_node *node) {
    return node->is_dimension && vol_waiting_now(node);
}

/* Stores the records of the open file (NULL: none), whose changes are those since they were read or
   printed: the store may have others of another program, which are not shown here. */
static enum zb_code store(vol_node *group, const char *text, zb_error *err) {
    const zb_json *now = vol_side_get(group, ZB_HDF5_DIMENSIONS);
    char *old = now ? zb_json_print(now) : NULL, *merged = NULL;
    zb_json *base = NULL, *ours = NULL;
    enum zb_code code = ZB_OK;
    if (group->records)
        code = zb_json_parse(group->records, strlen(group->records), &base, err);
    if (!code && text)
        code = zb_json_parse(text, strlen(text), &ours, err);
    if (!code)
        code = zb_hdf5_entries_merge(base, ours, now, &merged, err);
    if (!code && strcmp(merged, old ? old : "{}") != 0)
        code =
            vol_side_set(group, ZB_HDF5_DIMENSIONS, strcmp(merged, "{}") == 0 ? NULL : merged, err);
    zb_json_free(base);
    zb_json_free(ours);
    free(merged);
    free(old);
    return code;
}

/* Prints and stores them. */
static enum zb_code renew(vol_node *group, to_come more, zb_error *err) {
    char *text;
    enum zb_code code = vol_node_list(group, err);
    if (!code)
        code = print(group, more, &text, err);
    if (code)
        return code;
    code = store(group, text, err);
    if (code) {
        free(text);
        return code;
    }
    free(group->records);
    group->records = text ? text : strdup("{}"); /* NULL counts as none, too */
    return ZB_OK;
}

enum zb_code vol_records_add(vol_node *group, const char *name, vol_node *dimension,
                             zb_error *err) {
    enum zb_code code = vol_waiting_flush(dimension, err);
    if (code || !has_record(dimension))
        return code;
    code = renew(group, (to_come){name, dimension}, err);
    return code ? code : vol_waiting_flush(group, err);
}

enum zb_code vol_records_store(vol_node *group, zb_error *err) {
    size_t at = 0;
    if (group->kind != VOL_GROUP || !group->zarr || !group->file->writable ||
        !group->file->dimensions)
        return ZB_OK;
    /* A group that was never listed has the records that it had, and those that are new. */
    bool any = vol_links_are_listed(group) && records_of(group);
    for (const vol_node *child; (child = vol_links_opened(group, &at));)
        any |= has_record(child) || is_waiting_dimension(child);
    return any ? renew(group, (to_come){NULL, NULL}, err) : ZB_OK;
}

enum zb_code vol_records_store_below(vol_node *group, zb_error *err) {
    return group->file->dimensions ? vol_node_each_below(group, vol_records_store, err) : ZB_OK;
}
