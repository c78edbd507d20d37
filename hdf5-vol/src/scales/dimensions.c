/* SPDX-License-Identifier: MIT */
/*
 * dimension_names as HDF5 knows named dimensions: labels, and dimension scales.
 *
 * The coordinate of a dimension (zarrbridge/conventions.h) is its scale: an array x of one
 * dimension called x, for the arrays of its group and of the groups below; or x, whose dimension
 * has no name, where an array beside it has a dimension called x of that length. DIMENSION_LIST of
 * an array refers to the scales of its dimensions, when all of them have one: netCDF libraries
 * refuse a mixture. HDF5 also keeps the way back (REFERENCE_LIST of a scale); it would need a look
 * at every array of the store, and readers do without.
 *
 * With the option netcdf_dimensions, dimensions without such an array get a scale as netCDF-4 files
 * have them: a dataset that holds nothing but the dimension's name and length. It is not in the
 * store, so it comes from a small one in memory.
 */
#include "dataset/max_shape.h"
#include "scales/dimension_uses.h"
#include "scales/dimensions.h"
#include "scales/scales.h"
#include "tree/children.h"
#include "waiting/waiting.h"

#include "links/links.h"
#include "links/places.h"
#include "scales/namesakes.h"

#include "zarrbridge/conventions.h"

#include "zarrbridge/change.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Coordinates ---- */

static bool is_endless(vol_node *dataset, uint32_t dim) {
    const uint64_t *max_shape = vol_max_shape(dataset);
    return max_shape && max_shape[dim] == H5S_UNLIMITED;
}

/* What zb_coordinate_find asks with. */
typedef struct asking {
    vol_node *array;
    uint32_t dim;
    zb_array_info dimension; /* of a dataset that stands for a dimension, which is called like it */
    const char *dimension_name;
} asking;

static const zb_array_info *info_at(void *context, unsigned level, const char *name) {
    asking *ask = context;
    vol_node *node = vol_namesake_at(ask->array, level, name);
    if (!node)
        return NULL;
    ask->dimension = *zb_node_array(node->zarr);
    ask->dimension_name = node->name;
    if (node->is_dimension)
        ask->dimension.dimension_names = &ask->dimension_name;
    if (ask->dimension.ndim == 1 && is_endless(node, 0) && is_endless(ask->array, ask->dim))
        ask->dimension.shape = &zb_node_array(ask->array->zarr)->shape[ask->dim];
    return &ask->dimension;
}

/* The coordinate of an array's dimension; NULL when the file shows none. While a program appends to
   unlimited dimensions, one after the other, their lengths differ. */
static vol_node *find_scale(vol_node *array, uint32_t dim) {
    const zb_array_info *info = zb_node_array(array->zarr);
    asking ask = {.array = array, .dim = dim};
    zb_surroundings around = {.array = info_at, .context = &ask};
    for (const vol_node *group = array->parent; group; group = group->parent)
        around.levels++;
    const int level = zb_coordinate_find(info, dim, &around);
    vol_node *found =
        level < 0 ? NULL : vol_namesake_at(array, (unsigned)level, info->dimension_names[dim]);
    const zb_json *scales = found ? vol_scales_get(found) : NULL;
    return scales && !zb_json_get(scales, VOL_SCALE_CLASS) ? NULL : found;
}

vol_node *vol_dims_scale(vol_node *dataset, uint32_t dim) {
    const zb_json *scales = vol_scales_get(dataset);
    const char *name = vol_scales_name_now(dataset, dim);
    if (vol_dims_is_scale(dataset)) {
        vol_node *other = dim > 0 && name ? vol_namesake(dataset, name) : NULL;
        return dim == 0 ? dataset : other && vol_dims_is_scale(other) ? other : NULL;
    }
    if (!scales)
        return name ? find_scale(dataset, dim) : NULL;
    return vol_scales_first(dataset, vol_scales_names(dataset, scales, dim, dataset->name).list);
}

/* True if its own attributes say so, whatever is beside it. */
static bool names_itself(const vol_node *node) {
    if (node->kind != VOL_DATASET || node->is_dimension)
        return node->is_dimension;
    const zb_array_info *info = zb_node_array(node->zarr);
    return info->ndim == 1 && zb_coordinate_fits(info, node->name, info->shape[0], false);
}

/* Is the array, whose one dimension has no name, the coordinate of an array beside it? Not of one
   whose scales an HDF5 program has stated. */
static bool serves_a_neighbour(const vol_node *node) {
    const zb_array_info *info = zb_node_array(node->zarr);
    return info->ndim == 1 && zb_coordinate_fits(info, node->name, info->shape[0], true) &&
           node->parent && vol_uses_dimension(node->parent, node->name, info->shape[0]);
}

bool vol_dims_is_scale(vol_node *node) {
    const zb_json *scales = vol_scales_get(node);
    if (scales && !node->is_dimension)
        return zb_json_get(scales, VOL_SCALE_CLASS) != NULL;
    return names_itself(node) ||
           (node->kind == VOL_DATASET && !node->is_dimension && serves_a_neighbour(node));
}

bool vol_dims_by_name(vol_node *node, vol_node **scales) {
    const zb_array_info *info = node->kind == VOL_DATASET ? zb_node_array(node->zarr) : NULL;
    if (!info || !info->dimension_names || info->ndim == 0 || vol_scales_get(node) ||
        vol_dims_is_scale(node))
        return false;
    for (uint32_t d = 0; d < info->ndim; d++) {
        scales[d] = find_scale(node, d);
        if (!scales[d])
            return false;
    }
    return true;
}

/* Whether the dimension's name can be that of a dataset. */
static bool is_link_name(const char *name) {
    return name && *name && !strchr(name, '/') && strcmp(name, ".") != 0;
}

/* ---- Attributes ---- */

static bool add_fixed(vol_attrs *attrs, const char *name, const char *text) {
    size_t size = strlen(text) + 1;
    vol_attr *attr = vol_attrs_add(attrs, name, VOL_ATTR_FIXED, 1, size);
    if (!attr)
        return false;
    memcpy(attr->data, text, size);
    return true;
}

/* Labels always answer H5DSget_label. Where scales say the names they stay out of sight, as
   programs that do not know them would take them for the user's. */
static bool add_labels(vol_attrs *attrs, const zb_array_info *info, bool has_scales) {
    vol_attr *attr =
        vol_attrs_add(attrs, "DIMENSION_LABELS", VOL_ATTR_TEXT, info->ndim, sizeof(char *));
    if (!attr)
        return false;
    attr->ndim = 1;
    attr->dims[0] = info->ndim;
    attr->unlisted = has_scales;
    for (uint32_t d = 0; d < info->ndim; d++) {
        const char *name = info->dimension_names[d];
        char *copy = strdup(name ? name : "");
        if (!copy)
            return false;
        ((char **)attr->data)[d] = copy;
    }
    return true;
}

static bool add_scale_list(vol_attrs *attrs, vol_node *node, const zb_array_info *info,
                           bool *added) {
    vol_node *scales[ZB_MAX_NDIM];
    uint64_t tokens[ZB_MAX_NDIM];
    *added = false;
    if (!vol_dims_by_name(node, scales))
        return true;
    for (uint32_t d = 0; d < info->ndim; d++)
        tokens[d] = scales[d]->token;
    vol_attr *attr =
        vol_attrs_add(attrs, "DIMENSION_LIST", VOL_ATTR_REFS, info->ndim, sizeof tokens[0]);
    if (!attr)
        return false;
    attr->ndim = 1;
    attr->dims[0] = info->ndim;
    memcpy(attr->data, tokens, info->ndim * sizeof tokens[0]);
    *added = true;
    return true;
}

/* The NAME that netCDF-4 gives to a dimension without a variable. */
#define NOT_A_VARIABLE VOL_NOT_A_VARIABLE "%10" PRIu64

/* A scale may have another name than its dataset; HDF5 reads both only as fixed strings. */
static bool add_scale_names(vol_attrs *attrs, const vol_node *node) {
    const char *given = zb_json_string(vol_attribute(node, "NAME"));
    char *name = strdup(given ? given : node->name);
    bool added =
        name && add_fixed(attrs, "CLASS", "DIMENSION_SCALE") && add_fixed(attrs, "NAME", name);
    free(name);
    return added;
}

bool vol_dims_add(vol_attrs *attrs, vol_node *node) {
    const zb_array_info *info = zb_node_array(node->zarr);
    char text[96];
    if (node->is_dimension) {
        snprintf(text, sizeof text, NOT_A_VARIABLE, info->shape[0]);
        return add_fixed(attrs, "CLASS", "DIMENSION_SCALE") && add_fixed(attrs, "NAME", text);
    }
    if (vol_dims_is_scale(node))
        return add_scale_names(attrs, node) &&
               (!info->dimension_names || add_labels(attrs, info, true));
    if (!info->dimension_names || info->ndim == 0)
        return true;
    bool has_scales;
    return add_scale_list(attrs, node, info, &has_scales) && add_labels(attrs, info, has_scales);
}

/* ---- Datasets for dimensions ---- */

#define DIMENSION_CHUNK 65536 /* elements at most */

/* The array is all fill value; the element type is netCDF's. */
enum zb_code vol_dims_new_array(vol_file *file, const char *path, uint64_t length,
                                const char *attributes, zb_node **out, zb_error *err) {
    const uint64_t chunk = length == 0 ? 1 : length < DIMENSION_CHUNK ? length : DIMENSION_CHUNK;
    const zb_array_spec spec = {.ndim = 1,
                                .shape = &length,
                                .inner_shape = &chunk,
                                .dtype = {.kind = ZB_KIND_FLOAT, .size = 4},
                                .codecs = "[]",
                                .attributes = attributes};
    enum zb_code code = ZB_OK;
    if (!file->dimensions)
        code = zb_hierarchy_new_mem("dimensions", &file->dimensions, err);
    if (code)
        return code;
    code = zb_array_create(file->dimensions, path, &spec, out, err);
    /* One of that name has been deleted. */
    if (code == ZB_ECONFLICT && zb_node_delete(file->dimensions, path, NULL) == ZB_OK)
        code = zb_array_create(file->dimensions, path, &spec, out, err);
    return code;
}

/* Dimension d of an array. It has no end when that of the array has none. */
static enum zb_code add_dimension(vol_node *group, vol_node *array, uint32_t d, zb_error *err) {
    const char *name = zb_node_array(array->zarr)->dimension_names[d];
    const uint64_t length = zb_node_array(array->zarr)->shape[d];
    const uint64_t *max_shape = vol_max_shape(array);
    zb_node *zarr = NULL;
    char *path;
    enum zb_code code = vol_node_child_path(group, name, &path, err);
    if (!code)
        code = vol_dims_new_array(group->file, path, length, NULL, &zarr, err);
    if (!code)
        code = vol_tree_add_dimension(group, name, zarr, err);
    const hsize_t longest = max_shape ? max_shape[d] : length;
    if (!code)
        code = vol_max_shape_show(vol_links_find(group, name)->node, &longest, err);
    free(path);
    return code;
}

/* Whether such a way (places.h) from an array leads to a dataset in its group, or in one above.
   That is where netCDF looks for dimensions. */
static bool leads_up(const vol_node *array, const char *text) {
    const vol_node *scale = text ? vol_place_node(array, text) : NULL, *group = array->parent;
    unsigned level = 0;
    for (; scale && group && group != scale->parent; group = group->parent)
        level++;
    return scale && group && vol_namesake_at(array, level, scale->name);
}

/* Whether netCDF finds the scale by its number wherever it lies: it has made both, the array with
   the numbers of its dimensions. */
static bool has_numbers(const vol_node *array, const char *text) {
    const vol_node *scale = text ? vol_place_node(array, text) : NULL;
    return scale && scale->kind == VOL_DATASET && vol_attribute(scale, VOL_NETCDF_NUMBER) &&
           vol_attribute(array, VOL_NETCDF_NUMBERS);
}

/* Whether an HDF5 program has given a dimension a scale that netCDF finds. That may be any dataset,
   as a variable that is called like its first dimension and has more of them. */
static bool is_given_scale(vol_node *array, uint32_t d) {
    const zb_json *scales = vol_scales_get(array);
    if (!scales)
        return false;
    const zb_json *list = vol_scales_names(array, scales, d, array->name).list;
    for (const zb_json *one = zb_json_first(list); one; one = zb_json_next(one))
        if (leads_up(array, zb_json_string(one)) || has_numbers(array, zb_json_string(one)))
            return true;
    return false;
}

enum zb_code vol_dims_complete(vol_node *group, zb_error *err) {
    vol_children walk = {.group = group};
    if (group->file->options.dimensions != VOL_DIMENSIONS_ON)
        return ZB_OK;
    for (vol_node *array; (array = vol_children_next(&walk, err));) {
        const zb_array_info *info =
            array->kind == VOL_DATASET && !array->is_dimension ? zb_node_array(array->zarr) : NULL;
        if (!info || !info->dimension_names || vol_dims_is_scale(array))
            continue;
        for (uint32_t d = 0; d < info->ndim && !walk.code; d++) {
            const char *name = info->dimension_names[d];
            if (is_link_name(name) && !find_scale(array, d) && !is_given_scale(array, d) &&
                !vol_links_find(group, name))
                walk.code = add_dimension(group, array, d, err);
        }
    }
    return walk.code;
}
