/* SPDX-License-Identifier: MIT */
/* Dimension scales as HDF5 programs state them: see scales.h. */
#include "scales/scales.h"

#include "links/places.h"
#include "tree/side.h"

#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

bool vol_scales_refers(const zb_json *entry) {
    const char *name = zb_json_name(entry);
    return strcmp(name, VOL_SCALE_LIST) == 0 || strcmp(name, VOL_SCALE_BACK) == 0;
}

/* ---- Names ---- */

static const zb_json *value_of(const zb_json *scales, const char *attribute) {
    return zb_json_get(zb_json_get(scales, attribute), VOL_SCALES_VALUE);
}

/* Element d of a list; NULL when it is none, or shorter. */
static const zb_json *element(const zb_json *list, uint32_t d) {
    const zb_json *one = zb_json_kind_of(list) == ZB_JSON_ARRAY ? zb_json_first(list) : NULL;
    for (; one && d > 0; d--)
        one = zb_json_next(one);
    return one;
}

/* Paths have the names of the store, and dimensions those that HDF5 programs see. */
static bool is_last_part(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    const char *last = slash ? slash + 1 : path;
    char *shown = zb_name_is_plain(last) ? NULL : zb_name_shown(last);
    const bool is_it = strcmp(shown ? shown : last, name) == 0;
    free(shown);
    return is_it;
}

vol_scale_names vol_scales_names(const vol_node *dataset, const zb_json *scales, uint32_t d,
                                 const char *name) {
    const char *label = zb_json_string(element(value_of(scales, VOL_SCALE_LABELS), d));
    const bool is_scale = zb_node_array(dataset->zarr)->ndim == 1 && !dataset->loose &&
                          zb_json_get(scales, VOL_SCALE_CLASS);
    return (vol_scale_names){.own = is_scale ? name : NULL,
                             .label = label && *label ? label : NULL,
                             .list = element(value_of(scales, VOL_SCALE_LIST), d)};
}

vol_node *vol_scales_first(const vol_node *dataset, const zb_json *list) {
    for (const zb_json *one = zb_json_first(list); one; one = zb_json_next(one)) {
        const char *text = zb_json_string(one);
        vol_node *scale = text ? vol_place_node(dataset, text) : NULL;
        if (scale && scale->kind == VOL_DATASET)
            return scale;
    }
    return NULL;
}

enum vol_scale_opinion vol_scales_ask(const vol_scale_names *says, const char *name) {
    const char *own = says->own, *label = says->label;
    if (!name)
        return own ? VOL_SCALE_DIFFERS : VOL_SCALE_SILENT;
    if ((own && strcmp(own, name) == 0) || (label && strcmp(label, name) == 0))
        return VOL_SCALE_AGREES;
    for (const zb_json *one = zb_json_first(says->list); one; one = zb_json_next(one)) {
        const char *path = zb_json_string(one);
        if (path && is_last_part(path, name))
            return VOL_SCALE_AGREES;
    }
    return own || label || zb_json_first(says->list) ? VOL_SCALE_DIFFERS : VOL_SCALE_SILENT;
}

void vol_scales_name_dimensions(vol_file *file) {
    file->named_dimensions++;
}

uint64_t vol_scales_named_dimensions(const vol_file *file) {
    return file->named_dimensions;
}

const char *vol_scales_name_now(const vol_node *dataset, uint32_t d) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    return info->dimension_names ? info->dimension_names[d] : NULL;
}

/* Whether the dimensions have the names that the member says. */
static bool are_names(const vol_node *dataset, const zb_json *names) {
    const uint32_t ndim = zb_node_array(dataset->zarr)->ndim;
    bool same = zb_json_count(names) == ndim;
    for (uint32_t d = 0; same && d < ndim; d++) {
        const char *now = vol_scales_name_now(dataset, d);
        const char *name = zb_json_string(element(names, d));
        same = now && name ? strcmp(now, name) == 0 : now == name;
    }
    return same;
}

bool vol_scales_count(const vol_node *dataset, const zb_json *scales, const char *name) {
    const zb_json *names = zb_json_get(scales, VOL_SCALES_NAMES);
    bool agrees = false, silent = false;
    if (zb_json_kind_of(scales) != ZB_JSON_OBJECT)
        return false;
    if (zb_json_kind_of(names) == ZB_JSON_ARRAY)
        return dataset->is_dimension || are_names(dataset, names);
    for (uint32_t d = 0; d < zb_node_array(dataset->zarr)->ndim && !dataset->is_dimension; d++) {
        const vol_scale_names says = vol_scales_names(dataset, scales, d, name);
        const enum vol_scale_opinion opinion =
            vol_scales_ask(&says, vol_scales_name_now(dataset, d));
        if (opinion == VOL_SCALE_DIFFERS)
            return false;
        agrees |= opinion == VOL_SCALE_AGREES;
        silent |= vol_scales_name_now(dataset, d) && opinion == VOL_SCALE_SILENT;
    }
    return agrees || !silent;
}

const zb_json *vol_scales_get(vol_node *dataset) {
    const zb_json *scales =
        dataset->kind == VOL_DATASET ? vol_side_get(dataset, ZB_HDF5_SCALES) : NULL;
    return vol_scales_count(dataset, scales, dataset->name) ? scales : NULL;
}

/* Whether one of the scales is called so now. */
static bool is_scale_called(vol_node *dataset, const zb_json *list, const char *name) {
    for (const zb_json *one = zb_json_first(list); one; one = zb_json_next(one)) {
        const char *text = zb_json_string(one);
        const vol_node *scale = text ? vol_place_node(dataset, text) : NULL;
        if (scale && strcmp(scale->name, name) == 0)
            return true;
    }
    return false;
}

bool vol_scales_says(vol_node *dataset, uint32_t d) {
    const zb_json *scales = vol_scales_get(dataset);
    const char *name = vol_scales_name_now(dataset, d);
    const vol_scale_names says = vol_scales_names(dataset, scales, d, dataset->name);
    return scales && name &&
           (vol_scales_ask(&says, name) == VOL_SCALE_AGREES ||
            is_scale_called(dataset, says.list, name));
}
