/* SPDX-License-Identifier: MIT */
/* Scales stated: see scale_names.h. */
#include "scales/scale_names.h"

#include "attributes/attribute_list.h"
#include "dataset/edit_dataset.h"
#include "links/places.h"
#include "scales/namesakes.h"
#include "scales/scales.h"
#include "tree/side.h"

#include <string.h>

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

/* No name is one by which other Zarr programs would take another array for the coordinate. */
static const char *name_of(vol_node *dataset, const zb_json *scales, uint32_t d,
                           const char *other) {
    const vol_scale_names says = vol_scales_names(dataset, scales, d, dataset->name);
    const vol_node *scale = first_scale(dataset, says.list);
    const vol_node *seen = scale ? vol_namesake(dataset, scale->name) : NULL;
    if (says.own)
        return says.own;
    if (scale && (!seen || seen == scale))
        return scale->name;
    if (says.label)
        return says.label;
    return scale || !other || vol_scales_ask(&says, other) == VOL_SCALE_DIFFERS ? NULL : other;
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
    enum zb_code code = vol_side_set(dataset, ZB_HDF5_SCALES, json, err);
    vol_node_attrs_outdate(dataset);
    dataset->file->changes++;
    return code ? code : set_names(dataset, vol_side_get(dataset, ZB_HDF5_SCALES), others, err);
}

enum zb_code vol_scales_named(vol_node *dataset, zb_error *err) {
    const zb_json *scales =
        dataset->kind == VOL_DATASET ? vol_side_get(dataset, ZB_HDF5_SCALES) : NULL;
    return scales ? set_names(dataset, scales, NULL, err) : ZB_OK;
}
