/* SPDX-License-Identifier: MIT */
/* Dimension scales as HDF5 programs state them: see scales.h. */
#include "model/scales.h"

#include "model/edit_dataset.h"
#include "model/namesakes.h"
#include "model/node_attrs.h"
#include "model/places.h"
#include "model/scale_paths.h"
#include "model/side.h"

#include <stdlib.h>
#include <string.h>

bool vol_scales_refers(const zb_json *entry) {
    const char *name = zb_json_name(entry);
    return strcmp(name, VOL_SCALE_LIST) == 0 || strcmp(name, VOL_SCALE_BACK) == 0;
}

char *vol_scales_value(vol_node *dataset, const zb_json *entry) {
    const zb_json *value = zb_json_get(entry, VOL_SCALES_VALUE);
    return vol_scales_refers(entry) ? vol_scale_paths_open(dataset, value) : zb_json_print(value);
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

/* The label of a dimension; NULL for none. */
static const char *label_of(const zb_json *scales, uint32_t d) {
    const char *label = zb_json_string(element(value_of(scales, VOL_SCALE_LABELS), d));
    return label && *label ? label : NULL;
}

/* A scale's only dimension is called like the scale. `name`: of the dataset. */
static const char *own_name(const vol_node *dataset, const zb_json *scales, const char *name) {
    return zb_node_array(dataset->zarr)->ndim == 1 && !dataset->loose &&
                   zb_json_get(scales, VOL_SCALE_CLASS)
               ? name
               : NULL;
}

/* The first scale of a dimension that is there. */
static const vol_node *first_scale(vol_node *dataset, const zb_json *list) {
    for (const zb_json *one = zb_json_first(list); one; one = zb_json_next(one)) {
        const char *path = zb_json_string(one);
        const vol_node *scale = path ? vol_place_node(dataset, path) : NULL;
        if (scale && scale->kind == VOL_DATASET)
            return scale;
    }
    return NULL;
}

static bool is_last_part(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    return strcmp(slash ? slash + 1 : path, name) == 0;
}

enum opinion { SILENT, AGREES, DIFFERS };

/* What the member says to the name of a dimension. Whether there are such scales, and others, is
   another question: they come and go. */
static enum opinion ask(const zb_json *scales, uint32_t d, const char *own, const char *name) {
    const zb_json *list = element(value_of(scales, VOL_SCALE_LIST), d);
    const char *label = label_of(scales, d);
    if (!name)
        return own ? DIFFERS : SILENT;
    if ((own && strcmp(own, name) == 0) || (label && strcmp(label, name) == 0))
        return AGREES;
    for (const zb_json *one = zb_json_first(list); one; one = zb_json_next(one)) {
        const char *path = zb_json_string(one);
        if (path && is_last_part(path, name))
            return AGREES;
    }
    return own || label || zb_json_first(list) ? DIFFERS : SILENT;
}

const char *vol_scales_name_now(const vol_node *dataset, uint32_t d) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    return info->dimension_names ? info->dimension_names[d] : NULL;
}

bool vol_scales_count(const vol_node *dataset, const zb_json *scales, const char *name) {
    bool agrees = false, silent = false;
    if (zb_json_kind_of(scales) != ZB_JSON_OBJECT)
        return false;
    const char *own = own_name(dataset, scales, name);
    for (uint32_t d = 0; d < zb_node_array(dataset->zarr)->ndim && !dataset->is_dimension; d++) {
        const enum opinion opinion = ask(scales, d, own, vol_scales_name_now(dataset, d));
        if (opinion == DIFFERS)
            return false;
        agrees |= opinion == AGREES;
        silent |= vol_scales_name_now(dataset, d) && opinion == SILENT;
    }
    return agrees || !silent;
}

const zb_json *vol_scales_get(vol_node *dataset) {
    const zb_json *scales = dataset->kind == VOL_DATASET ? vol_side_get(dataset, VOL_SCALES) : NULL;
    return vol_scales_count(dataset, scales, dataset->name) ? scales : NULL;
}

/* ---- Setting ---- */

/* No name is one by which other Zarr programs would take another array for the coordinate. */
static const char *name_of(vol_node *dataset, const zb_json *scales, uint32_t d,
                           const char *other) {
    const char *own = own_name(dataset, scales, dataset->name), *label = label_of(scales, d);
    const vol_node *scale = first_scale(dataset, element(value_of(scales, VOL_SCALE_LIST), d));
    const vol_node *seen = scale ? vol_namesake(dataset, scale->name) : NULL;
    if (own)
        return own;
    if (scale && (!seen || seen == scale))
        return scale->name;
    if (label)
        return label;
    return scale || !other || ask(scales, d, own, other) == DIFFERS ? NULL : other;
}

static enum zb_code set_names(vol_node *dataset, const zb_json *scales, const char *const *others,
                              zb_error *err) {
    const uint32_t ndim = zb_node_array(dataset->zarr)->ndim;
    const char *names[ZB_MAX_NDIM];
    bool any = false, same = true;
    for (uint32_t d = 0; d < ndim && !dataset->is_dimension; d++) {
        const char *now = vol_scales_name_now(dataset, d);
        names[d] = name_of(dataset, scales, d, others ? others[d] : NULL);
        any |= names[d] != NULL;
        same &= now && names[d] ? strcmp(now, names[d]) == 0 : now == names[d];
    }
    return same ? ZB_OK : vol_edit_dimension_names(dataset, any ? names : NULL, err);
}

enum zb_code vol_scales_set(vol_node *dataset, const char *json, const char *const *others,
                            zb_error *err) {
    enum zb_code code = vol_side_set(dataset, VOL_SCALES, json, err);
    vol_node_attrs_outdate(dataset);
    dataset->file->changes++;
    return code ? code : set_names(dataset, vol_side_get(dataset, VOL_SCALES), others, err);
}

bool vol_scales_says(vol_node *dataset, uint32_t d) {
    const zb_json *scales = vol_scales_get(dataset);
    const char *name = vol_scales_name_now(dataset, d);
    return scales && name &&
           ask(scales, d, own_name(dataset, scales, dataset->name), name) == AGREES;
}

enum zb_code vol_scales_named(vol_node *dataset, zb_error *err) {
    const zb_json *scales = dataset->kind == VOL_DATASET ? vol_side_get(dataset, VOL_SCALES) : NULL;
    return scales ? set_names(dataset, scales, NULL, err) : ZB_OK;
}
