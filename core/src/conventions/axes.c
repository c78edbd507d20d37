/* SPDX-License-Identifier: MIT */
/*
 * An array of n dimensions does not say which two make a picture. The writers' habits do, and they
 * differ: numpy stacks (t, y, x), imaging programs (y, x, samples), some Fortran models (x, y, t).
 * The evidence is weighed by how deliberate it is. A convention that names the dimensions was
 * written for this purpose; names like "lat" were not but mean it; a shape is a guess, made only
 * where a wrong one is hardly possible.
 *
 * Both axes must be found by one kind of evidence. Half of a pair (a "y" without an "x") says
 * nothing about the other half.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conventions/pyramids.h"

#define NAMES(list) list, sizeof(list) / sizeof *(list)

static bool is_one_of(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

/* Seen in the wild. Longer lists guess more often wrong than right. */
bool zb_name_is_x(const char *name) {
    static const char *const names[] = {"x",
                                        "lon",
                                        "long",
                                        "longitude",
                                        "rlon",
                                        "easting",
                                        "eastings",
                                        "xc",
                                        "col",
                                        "cols",
                                        "column",
                                        "columns",
                                        "width",
                                        "projection_x_coordinate",
                                        "grid_longitude"};
    return is_one_of(name, NAMES(names));
}

bool zb_name_is_y(const char *name) {
    static const char *const names[] = {"y",
                                        "lat",
                                        "latitude",
                                        "rlat",
                                        "northing",
                                        "northings",
                                        "yc",
                                        "row",
                                        "rows",
                                        "line",
                                        "lines",
                                        "height",
                                        "projection_y_coordinate",
                                        "grid_latitude"};
    return is_one_of(name, NAMES(names));
}

/* The names that imaging programs give to the samples of a pixel when they stand last. */
static bool is_band_name(const char *name) {
    static const char *const names[] = {"band", "bands", "channel", "channels",
                                        "c",    "rgb",   "rgba",    "samples"};
    return is_one_of(name, NAMES(names));
}

char zb_degrees_axis(const char *units) {
    static const char *const east[] = {"degrees_east", "degree_east", "degree_E",
                                       "degrees_E",    "degreeE",     "degreesE"};
    static const char *const north[] = {"degrees_north", "degree_north", "degree_N",
                                        "degrees_N",     "degreeN",      "degreesN"};
    return is_one_of(units, NAMES(east)) ? 'X' : is_one_of(units, NAMES(north)) ? 'Y' : 0;
}

char zb_coordinate_axis(const zb_node *coordinate) {
    const char *axis = zb__attribute_text(coordinate, "axis");
    const char *standard = zb__attribute_text(coordinate, "standard_name");
    const char degrees = zb_degrees_axis(zb__attribute_text(coordinate, "units"));
    if (strcasecmp(axis, "X") == 0 || zb_name_is_x(standard) || degrees == 'X')
        return 'X';
    if (strcasecmp(axis, "Y") == 0 || zb_name_is_y(standard) || degrees == 'Y')
        return 'Y';
    return 0;
}

/* "" for none. */
static const char *dimension_name(const zb_array_info *info, uint32_t dim) {
    const char *name = info->dimension_names ? info->dimension_names[dim] : NULL;
    return name ? name : "";
}

/* Of an array "slope" the dimension "slope_y" is y. */
static const char *usual_name(const zb_node *array, uint32_t dim) {
    const char *name = dimension_name(zb_node_array(array), dim), *own = zb_node_name(array);
    const size_t length = strlen(own);
    const bool has_own = length > 0 && strncmp(name, own, length) == 0 && name[length] == '_';
    return has_own ? name + length + 1 : name;
}

/* Names need not be unique; the first one counts. The empty name matches nothing. */
static int dimension_called(const zb_array_info *info, const char *name) {
    for (uint32_t dim = 0; dim < info->ndim && *name; dim++) {
        if (strcmp(dimension_name(info, dim), name) == 0)
            return (int)dim;
    }
    return -1;
}

/* `spatial:dimensions` is ["Y", "X"]. */
zb_axes zb_axes_listed(const zb_array_info *info, const zb_node *node) {
    const zb_axes none = {-1, -1};
    const zb_json *list = zb__attribute(node, "spatial:dimensions");
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY || zb_json_count(list) != 2)
        return none;
    const char *y = zb_json_string(zb_json_first(list));
    const char *x = zb_json_string(zb_json_next(zb_json_first(list)));
    if (!x || !y)
        return none;
    const zb_axes found = {dimension_called(info, x), dimension_called(info, y)};
    return found.x >= 0 && found.y >= 0 && found.x != found.y ? found : none;
}

bool zb__suits_dimensions(const zb_node *group, const zb_node *array, zb_axes axes) {
    if (!zb__attribute(group, "spatial:dimensions") || zb_group_repeats_place(group) ||
        zb_axes_listed(zb_node_array(array), group).x >= 0)
        return true;
    const char *x = usual_name(array, (uint32_t)axes.x), *y = usual_name(array, (uint32_t)axes.y);
    return (!*x && !*y) || (zb_name_is_x(x) && zb_name_is_y(y));
}

static bool are_both(zb_axes axes) {
    return axes.x >= 0 && axes.y >= 0;
}

static void by_convention(const zb_array_info *info, const zb_node *node, const zb_nodes *nodes,
                          zb_axes *axes) {
    const zb_axes found = zb_axes_listed(info, node);
    if (are_both(found) && zb_convention_holds(node, ZB_CONVENTION_SPATIAL, nodes))
        *axes = found;
}

/* With several candidates ("x" and "lon") the last dimension wins: the faster one. */
static zb_axes by_name(const zb_node *array) {
    zb_axes found = {-1, -1};
    for (uint32_t dim = 0; dim < zb_node_array(array)->ndim; dim++) {
        const char *name = usual_name(array, dim);
        if (zb_name_is_x(name))
            found.x = (int)dim;
        else if (zb_name_is_y(name))
            found.y = (int)dim;
    }
    return found;
}

/* Opens one document for each dimension, so it is done only where names leave a choice: arrays of
   three dimensions and more. */
static zb_axes by_coordinates(const zb_node *array, const zb_nodes *nodes) {
    zb_axes found = {-1, -1};
    for (uint32_t dim = 0; dim < zb_node_array(array)->ndim; dim++) {
        const char axis = zb_coordinate_axis(zb__coordinate_of(array, dim, nodes));
        if (axis == 'X')
            found.x = (int)dim;
        else if (axis == 'Y')
            found.y = (int)dim;
    }
    return found;
}

/* Pictures as most imaging programs hold them: rows, columns, then a few samples a pixel. Without a
   name to go by, only 2 to 4 samples after two much longer dimensions count as such. */
static bool is_band_last(const zb_node *array) {
    const zb_array_info *info = zb_node_array(array);
    if (info->ndim != 3)
        return false;
    const uint64_t samples = info->shape[2];
    const bool unnamed =
        !*dimension_name(info, 0) && !*dimension_name(info, 1) && !*dimension_name(info, 2);
    const bool few = samples >= 2 && samples <= 4 && info->shape[0] >= 16 && info->shape[1] >= 16;
    return is_band_name(usual_name(array, 2)) || (unnamed && few);
}

/* The OME-NGFF names of the axes that it calls x and y. */
static zb_axes by_ome(const zb_pyramid *pyramid, uint32_t ndim) {
    zb_axes found = {-1, -1};
    for (uint32_t dim = 0; dim < ndim && pyramid->ome_axes.count == ndim; dim++) {
        if (strcmp(pyramid->ome_axes.text[dim], "x") == 0)
            found.x = (int)dim;
        else if (strcmp(pyramid->ome_axes.text[dim], "y") == 0)
            found.y = (int)dim;
    }
    return found;
}

/* From the weakest evidence to the strongest: each overwrites the one before. */
zb_axes zb_axes_find(const zb_node *array, const zb_pyramid *pyramid, const zb_nodes *nodes) {
    const zb_array_info *info = zb_node_array(array);
    const int last = (int)info->ndim - 1;
    if (info->ndim < 2)
        return (zb_axes){last, -1};
    zb_axes axes = is_band_last(array) ? (zb_axes){1, 0} : (zb_axes){last, last - 1};
    zb_axes named = by_name(array);
    if (!are_both(named) && info->ndim > 2)
        named = by_coordinates(array, nodes);
    if (are_both(named))
        axes = named;
    const zb_axes ome = by_ome(pyramid, info->ndim);
    if (are_both(ome))
        axes = ome;
    if (pyramid->group)
        by_convention(info, nodes->at(nodes->context, pyramid->group), nodes, &axes);
    char *above = *zb_node_path(array) ? zb__parent_path(zb_node_path(array)) : NULL;
    const zb_node *group = above ? nodes->at(nodes->context, above) : NULL;
    if (group && !zb_node_array(group))
        by_convention(info, group, nodes, &axes);
    free(above);
    by_convention(info, array, nodes, &axes);
    return axes;
}
