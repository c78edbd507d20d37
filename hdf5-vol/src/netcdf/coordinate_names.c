/* SPDX-License-Identifier: MIT */
/* Names of the dimensions of coordinates that have several: see coordinate_names.h. */
#include "netcdf/coordinate_names.h"

#include "links/links.h"
#include "scales/dimensions.h"
#include "scales/namesakes.h"
#include "scales/scale_names.h"
#include "scales/scales.h"
#include "waiting/waiting.h"

#include <stdlib.h>
#include <string.h>

/* The scale of that number in a group; NULL when there is none that is open, or there are two. */
static const vol_node *find_in(const vol_node *group, uint64_t number) {
    const vol_node *found = NULL;
    uint64_t its;
    size_t at = 0;
    for (vol_node *node; (node = vol_links_opened(group, &at));)
        if (vol_dims_is_scale(node) &&
            zb_json_uint64(vol_attribute(node, VOL_NETCDF_NUMBER), &its) && its == number) {
            if (found)
                return NULL;
            found = node;
        }
    return found;
}

/* The name of the dimension of that number, if other programs find it by that name. */
static const char *find_name(const vol_node *dataset, uint64_t number) {
    const vol_node *found = NULL;
    for (const vol_node *group = dataset->parent; group && !found; group = group->parent)
        found = find_in(group, number);
    return found && !vol_namesake_hides(dataset, found) ? found->name : NULL;
}

/* False when the attributes do not tell the names of all dimensions. */
static bool find_names(vol_node *dataset, const char **names) {
    const uint32_t ndim = zb_node_array(dataset->zarr)->ndim;
    const zb_json *numbers = vol_attribute(dataset, VOL_NETCDF_NUMBERS);
    uint64_t number;
    uint32_t d = 0;
    if (zb_json_kind_of(numbers) != ZB_JSON_ARRAY || zb_json_count(numbers) != ndim)
        return false;
    for (const zb_json *one = zb_json_first(numbers); one; one = zb_json_next(one), d++) {
        names[d] = zb_json_uint64(one, &number) ? find_name(dataset, number) : NULL;
        if (!names[d])
            return false;
    }
    return true;
}

static bool has_names(const vol_node *dataset, const char *const *names) {
    for (uint32_t d = 0; d < zb_node_array(dataset->zarr)->ndim; d++) {
        const char *now = vol_scales_name_now(dataset, d);
        if (!now || strcmp(now, names[d]) != 0)
            return false;
    }
    return true;
}

static enum zb_code settle(vol_node *node, zb_error *err) {
    const zb_json *scales = node->kind == VOL_DATASET && zb_node_array(node->zarr)->ndim > 1
                                ? vol_scales_get(node)
                                : NULL;
    const char *names[ZB_MAX_NDIM];
    if (!zb_json_get(scales, VOL_SCALE_CLASS) || !find_names(node, names) || has_names(node, names))
        return ZB_OK;
    char *json = zb_json_print(scales);
    const enum zb_code code = json ? vol_scales_set(node, json, names, err)
                                   : zb_fail(err, ZB_ENOMEM, "no memory for dimension scales");
    free(json);
    return code;
}

enum zb_code vol_coordinate_names_settle(vol_file *file, zb_error *err) {
    if (!file->writable || file->names_settled == vol_scales_changes(file))
        return ZB_OK;
    const enum zb_code code = vol_node_each_below(file->root, settle, err);
    if (!code)
        file->names_settled = vol_scales_changes(file);
    return code;
}
