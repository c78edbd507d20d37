/* SPDX-License-Identifier: MIT */
/* References back to what names attach to a scale: see back_references.h. */
#include "scales/back_references.h"

#include "attributes/exact.h"
#include "links/links.h"
#include "objects/paths.h"
#include "scales/dimensions.h"
#include "scales/scale_paths.h"
#include "scales/scales.h"
#include "tree/children.h"

#include <stdlib.h>
#include <string.h>

/* The type of the entry (scales.h), as HDF5's scale functions make the attribute. */
#define VOL_BACK_TYPE                                                                              \
    "{\"class\":\"compound\",\"size\":16,\"members\":[[\"dataset\",0,{\"class\":\"reference\","    \
    "\"kind\":\"object\"}],[\"dimension\",8,\"<u4\"]]}"

typedef struct listing {
    vol_node *scale;
    zb_json_writer *out; /* of the list's elements */
    uint64_t count;
} listing;

/* ---- Datasets that names attach ---- */

void vol_back_write(zb_json_writer *out, const char *dataset, uint32_t d) {
    zb_json_begin_object(out);
    zb_json_write_name(out, "dataset");
    zb_json_write_string(out, dataset);
    zb_json_write_name(out, "dimension");
    zb_json_write_uint64(out, d);
    zb_json_end_object(out);
}

/* Whether that is a dataset whose dimensions are known by their names alone. */
static bool is_unstated(vol_node *node) {
    return node->kind == VOL_DATASET && zb_node_array(node->zarr)->dimension_names &&
           !vol_scales_get(node);
}

static void add_dataset(vol_node *dataset, void *context) {
    listing *list = context;
    vol_node *scales[ZB_MAX_NDIM];
    if (!vol_dims_by_name(dataset, scales))
        return;
    for (uint32_t d = 0; d < zb_node_array(dataset->zarr)->ndim; d++) {
        if (scales[d] != list->scale)
            continue;
        vol_back_write(list->out, dataset->path, d);
        list->count++;
    }
}

/* *any: there are such datasets, or there may be. Groups below which there are none are known as
   such: netCDF's files have no others. */
static enum zb_code each_below(vol_node *group, vol_back_visit *visit, void *context, bool *any,
                               zb_error *err) {
    const uint64_t now = vol_scales_named_dimensions(group->file) + 1;
    bool is_any = false;
    if (group->all_stated == now)
        return ZB_OK;
    vol_children walk = {.group = group, .passes_unopened = true};
    enum zb_code first = ZB_OK;
    for (vol_node *node; (node = vol_children_next(&walk, err));) {
        if (node->kind == VOL_GROUP) {
            const enum zb_code code = each_below(node, visit, context, &is_any, first ? NULL : err);
            first = first ? first : code;
        } else if (is_unstated(node)) {
            is_any = true;
            visit(node, context);
        }
    }
    if (walk.code) {
        *any = true;
        return walk.code;
    }
    if (!is_any)
        group->all_stated = now;
    *any |= is_any;
    return first;
}

enum zb_code vol_back_each_unstated(vol_node *group, vol_back_visit *visit, void *context,
                                    zb_error *err) {
    bool any = false;
    return each_below(group, visit, context, &any, err);
}

zb_json *vol_back_by_name(vol_node *scale) {
    listing list = {.scale = scale, .out = zb_json_writer_new()};
    zb_json_begin_array(list.out);
    vol_back_each_unstated(scale->parent, add_dataset, &list, NULL); /* as far as can be seen */
    zb_json_end_array(list.out);
    return vol_exact_parse(list.out);
}

/* ---- The attribute ---- */

/* What is stated, but for datasets that have been added. */
static void add_stated(listing *list, const zb_json *entry) {
    char *text = vol_scales_value(list->scale, entry);
    zb_json *value = NULL;
    if (text && zb_json_parse(text, strlen(text), &value, NULL) == ZB_OK)
        for (const zb_json *one = zb_json_first(value); one; one = zb_json_next(one)) {
            const zb_json *first = zb_json_first(one);
            const char *path = zb_json_string(first);
            vol_node *dataset = path ? vol_node_find(list->scale->file->root, path, NULL) : NULL;
            if (!dataset || is_unstated(dataset))
                continue;
            zb_json_write_value(list->out, one);
            list->count++;
        }
    zb_json_free(value);
    free(text);
}

void vol_back_write_form(zb_json_writer *out, const zb_json *entry, uint64_t count) {
    const zb_json *type = zb_json_get(entry, "type");
    const zb_json *new_refs = zb_json_get(entry, VOL_EXACT_NEW_REFS);
    zb_json_write_name(out, "type");
    if (type)
        zb_json_write_value(out, type);
    else
        zb_json_write_raw(out, VOL_BACK_TYPE);
    if (new_refs) {
        zb_json_write_name(out, VOL_EXACT_NEW_REFS);
        zb_json_write_value(out, new_refs);
    }
    zb_json_write_name(out, "shape");
    zb_json_begin_array(out);
    zb_json_write_uint64(out, count);
    zb_json_end_array(out);
}

/* The members "entry" and "value" of an object; NULL without memory. */
static zb_json *print(const zb_json *stated, char *elements, uint64_t count) {
    zb_json_writer *out = zb_json_writer_new();
    zb_json_begin_object(out);
    zb_json_write_name(out, "entry");
    zb_json_begin_object(out);
    vol_back_write_form(out, stated, count);
    zb_json_end_object(out);
    zb_json_write_name(out, VOL_SCALE_BACK);
    zb_json_write_raw(out, elements);
    zb_json_end_object(out);
    return vol_exact_parse(out);
}

/* One that is stated is as before in lists and orders; others are in none. */
static bool apply(vol_attrs *attrs, vol_node *scale, const zb_json *stated, const zb_json *both) {
    const bool good = vol_exact_apply_made(attrs, scale, both, VOL_SCALE_BACK);
    vol_attr *attr = vol_attrs_find(attrs, VOL_SCALE_BACK);
    if (!good || !attr)
        return false;
    attr->place = stated ? VOL_ATTR_STATED : VOL_ATTR_STORED;
    attr->derived = attr->unlisted = !stated;
    return true;
}

bool vol_back_complete(vol_attrs *attrs, vol_node *node, const char *name) {
    const vol_attr *there = strcmp(name, VOL_SCALE_BACK) == 0 ? vol_attrs_find(attrs, name) : NULL;
    if (strcmp(name, VOL_SCALE_BACK) != 0 || (there && there->place == VOL_ATTR_UNWRITTEN) ||
        !node->file->writable || node->loose || !node->parent || attrs->has_back ||
        !vol_dims_is_scale(node))
        return true;
    const zb_json *stated = zb_json_get(vol_scales_get(node), VOL_SCALE_BACK);
    listing list = {.scale = node, .out = zb_json_writer_new()};
    attrs->has_back = true;
    zb_json_begin_array(list.out);
    vol_back_each_unstated(node->parent, add_dataset, &list, NULL);
    const bool any = list.count > 0;
    if (any && stated)
        add_stated(&list, stated);
    zb_json_end_array(list.out);
    char *elements = zb_json_writer_end(list.out, NULL);
    zb_json *both = any && elements ? print(stated, elements, list.count) : NULL;
    const bool good = elements && (!any || (both && apply(attrs, node, stated, both)));
    zb_json_free(both);
    free(elements);
    return good;
}
