/* SPDX-License-Identifier: MIT */
/*
 * dimension_names as HDF5 knows named dimensions: labels, and dimension scales.
 *
 * An array x of one dimension called x is the scale of that dimension, in the netCDF way: for the
 * arrays of its group and of the groups below. DIMENSION_LIST of an array refers to the scales of
 * its dimensions. HDF5 also keeps the way back (REFERENCE_LIST of a scale); it would need a look at
 * every array of the store, and readers do without.
 */
#include "h5_attrs.h"

#include <stdlib.h>
#include <string.h>

static bool is_scale(const vol_node *node) {
    if (node->kind != VOL_DATASET)
        return false;
    const zb_array_info *info = zb_node_array(node->zarr);
    return info->ndim == 1 && info->dimension_names && info->dimension_names[0] &&
           strcmp(info->dimension_names[0], node->name) == 0;
}

/* The nearest scale of that name and length, upwards from the array's group. */
static const vol_node *find_scale(const vol_node *array, const char *name, uint64_t length) {
    if (!*name || strchr(name, '/') || strcmp(name, ".") == 0)
        return NULL;
    for (vol_node *group = array->parent; group; group = group->parent) {
        const vol_node *node = vol_node_find(group, name, NULL);
        if (node && is_scale(node) && zb_node_array(node->zarr)->shape[0] == length)
            return node;
    }
    return NULL;
}

static bool add_fixed(vol_attrs *attrs, const char *name, const char *text) {
    size_t size = strlen(text) + 1;
    vol_attr *attr = vol_attrs_add(attrs, name, VOL_ATTR_FIXED, 1, size);
    if (!attr)
        return false;
    attr->scalar = true;
    memcpy(attr->data, text, size);
    return true;
}

static bool add_labels(vol_attrs *attrs, const zb_array_info *info) {
    vol_attr *attr =
        vol_attrs_add(attrs, "DIMENSION_LABELS", VOL_ATTR_TEXT, info->ndim, sizeof(char *));
    if (!attr)
        return false;
    for (uint32_t d = 0; d < info->ndim; d++) {
        const char *name = info->dimension_names[d];
        char *copy = strdup(name ? name : "");
        if (!copy)
            return false;
        ((char **)attr->data)[d] = copy;
    }
    return true;
}

static bool add_scale_list(vol_attrs *attrs, const vol_node *node, const zb_array_info *info) {
    uint64_t tokens[ZB_MAX_NDIM] = {0};
    bool any = false;
    for (uint32_t d = 0; d < info->ndim; d++) {
        const char *name = info->dimension_names[d];
        const vol_node *scale = name ? find_scale(node, name, info->shape[d]) : NULL;
        tokens[d] = scale ? scale->token : 0;
        any |= scale != NULL;
    }
    if (!any)
        return true;
    vol_attr *attr =
        vol_attrs_add(attrs, "DIMENSION_LIST", VOL_ATTR_REFS, info->ndim, sizeof tokens[0]);
    if (attr)
        memcpy(attr->data, tokens, info->ndim * sizeof tokens[0]);
    return attr != NULL;
}

bool vol_dims_add(vol_attrs *attrs, const vol_node *node) {
    const zb_array_info *info = zb_node_array(node->zarr);
    if (!info->dimension_names || info->ndim == 0)
        return true;
    if (is_scale(node) &&
        (!add_fixed(attrs, "CLASS", "DIMENSION_SCALE") || !add_fixed(attrs, "NAME", node->name)))
        return false;
    return add_labels(attrs, info) && (is_scale(node) || add_scale_list(attrs, node, info));
}
