/* SPDX-License-Identifier: MIT */
/*
 * An array of n dimensions does not say which two make a picture. The writers' habits do, and they
 * differ: numpy stacks (t, y, x), imaging programs (y, x, samples), some Fortran models (x, y, t).
 * The evidence is weighed by how deliberate it is. A convention or option that names the dimensions
 * was written for this purpose; names like "lat" were not but mean it; a shape is a guess, made
 * only where a wrong one is hardly possible.
 *
 * Both axes must be found by one kind of evidence. Half of a pair (a "y" without an "x") says
 * nothing about the other half.
 */
#include "raster/axes.h"

#include <algorithm>
#include <cstring>

#include "array/attributes.h"
#include "array/conventions.h"
#include "array/dimension_names.h"
#include "cpl_string.h"

namespace zarr3 {

static std::string usual_name(const zb_node *array, uint32_t dim) {
    return usual_name(dimension_name(zb_node_array(array), dim), zb_node_name(array));
}

/* Names need not be unique; the first one counts. The empty name matches nothing. */
static int dimension_called(const zb_array_info *info, const std::string &name) {
    for (uint32_t dim = 0; dim < info->ndim; dim++) {
        if (!name.empty() && dimension_name(info, dim) == name)
            return static_cast<int>(dim);
    }
    return -1;
}

/* An option's dimension: its name, or its number. */
static bool option_dimension(const zb_array_info *info, const char *option, const char *value,
                             int *dim, std::string *reason) {
    if (value == nullptr)
        return true;
    *dim = dimension_called(info, value);
    if (*dim < 0 && CPLGetValueType(value) == CPL_VALUE_INTEGER) {
        const int number = atoi(value);
        if (number >= 0 && number < static_cast<int>(info->ndim))
            *dim = number;
    }
    if (*dim >= 0)
        return true;
    *reason = std::string("open option ") + option + "=" + value + " names none of its " +
              std::to_string(info->ndim) + " dimensions";
    return false;
}

static bool is_one_of(const std::string &name, std::initializer_list<const char *> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const char *item) { return EQUAL(item, name.c_str()); });
}

/* Seen in the wild, in any case of letters. Longer lists guess more often wrong than right. */
bool is_x_name(const std::string &name) {
    return is_one_of(name, {"x", "lon", "long", "longitude", "rlon", "easting", "eastings", "xc",
                            "col", "cols", "column", "columns", "width", "projection_x_coordinate",
                            "grid_longitude"});
}

bool is_y_name(const std::string &name) {
    return is_one_of(name,
                     {"y", "lat", "latitude", "rlat", "northing", "northings", "yc", "row", "rows",
                      "line", "lines", "height", "projection_y_coordinate", "grid_latitude"});
}

/* The names that imaging programs give to the samples of a pixel when they stand last. */
static bool is_band_name(const std::string &name) {
    return is_one_of(name, {"band", "bands", "channel", "channels", "c", "rgb", "rgba", "samples"});
}

/* The axis of a coordinate array by CF: 'X', 'Y' or 0. */
static char cf_axis(const zb_node *coordinate) {
    const std::string axis = attribute_text(coordinate, "axis");
    const std::string standard = attribute_text(coordinate, "standard_name");
    const std::string units = attribute_text(coordinate, "units");
    if (EQUAL(axis.c_str(), "X") || is_x_name(standard) ||
        is_one_of(units, {"degrees_east", "degree_east", "degreesE", "degrees_E"}))
        return 'X';
    if (EQUAL(axis.c_str(), "Y") || is_y_name(standard) ||
        is_one_of(units, {"degrees_north", "degree_north", "degreesN", "degrees_N"}))
        return 'Y';
    return 0;
}

char horizontal_axis(const zb_node *coordinate, bool by_name) {
    const char axis = cf_axis(coordinate);
    const std::string name = zb_node_name(coordinate);
    return axis != 0 || !by_name ? axis : is_x_name(name) ? 'X' : is_y_name(name) ? 'Y' : axis;
}

/* `spatial:dimensions` is ["Y", "X"]. */
Axes listed_axes(const zb_array_info *info, const zb_node *node) {
    const zb_json *list = attribute(node, "spatial:dimensions");
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY || zb_json_count(list) != 2)
        return {};
    const char *y = zb_json_string(zb_json_first(list));
    const char *x = zb_json_string(zb_json_next(zb_json_first(list)));
    if (x == nullptr || y == nullptr)
        return {};
    const Axes found = {dimension_called(info, x), dimension_called(info, y)};
    return found.x >= 0 && found.y >= 0 && found.x != found.y ? found : Axes();
}

static void axes_by_convention(const zb_array_info *info, const zb_node *node, NearbyNodes &around,
                               Axes *axes) {
    const Axes found = listed_axes(info, node);
    if (found.x >= 0 && follows(node, kSpatial, around))
        *axes = found;
}

bool suits_spatial_dimensions(const zb_node *group, const zb_node *array, const Axes &axes) {
    const zb_array_info *info = zb_node_array(array);
    if (attribute(group, "spatial:dimensions") == nullptr || repeats_place(group) ||
        listed_axes(info, group).x >= 0)
        return true;
    const std::string x = usual_name(array, static_cast<uint32_t>(axes.x));
    const std::string y = usual_name(array, static_cast<uint32_t>(axes.y));
    return (x.empty() && y.empty()) || (is_x_name(x) && is_y_name(y));
}

/* With several candidates ("x" and "lon") the last dimension wins: the faster one. */
static void axes_by_name(const zb_node *array, Axes *axes) {
    Axes found;
    for (uint32_t dim = 0; dim < zb_node_array(array)->ndim; dim++) {
        const std::string name = usual_name(array, dim);
        if (is_x_name(name))
            found.x = static_cast<int>(dim);
        else if (is_y_name(name))
            found.y = static_cast<int>(dim);
    }
    if (found.x >= 0 && found.y >= 0)
        *axes = found;
}

/* Opens one document for each dimension, so it is done only where names leave a choice: arrays of
   three dimensions and more. */
static void axes_by_coordinates(const zb_array_info *info, NearbyNodes &around, Axes *axes) {
    Axes found;
    for (uint32_t dim = 0; dim < info->ndim; dim++) {
        const NodePtr coordinate = around.find_coordinate(info, dim);
        const char axis = cf_axis(coordinate.get());
        if (axis == 'X')
            found.x = static_cast<int>(dim);
        else if (axis == 'Y')
            found.y = static_cast<int>(dim);
    }
    if (found.x >= 0 && found.y >= 0)
        *axes = found;
}

/* Pictures as most imaging programs hold them: rows, columns, then a few samples a pixel. Without
   a name to go by, only 2 to 4 samples after two much longer dimensions count as such. */
static void axes_by_shape(const zb_node *array, Axes *axes) {
    const zb_array_info *info = zb_node_array(array);
    if (info->ndim != 3)
        return;
    const uint64_t samples = info->shape[2];
    const bool named = is_band_name(usual_name(array, 2));
    const bool unnamed = dimension_name(info, 0).empty() && dimension_name(info, 1).empty() &&
                         dimension_name(info, 2).empty();
    const bool few = samples >= 2 && samples <= 4 && info->shape[0] >= 16 && info->shape[1] >= 16;
    if (named || (unnamed && few))
        *axes = {1, 0};
}

/* The OME-NGFF names of the axes that it calls x and y. */
static void axes_by_ome(const Pyramid &pyramid, uint32_t ndim, Axes *axes) {
    if (pyramid.ome_axes.size() != ndim)
        return;
    Axes found;
    for (uint32_t dim = 0; dim < ndim; dim++) {
        if (pyramid.ome_axes[dim] == "x")
            found.x = static_cast<int>(dim);
        else if (pyramid.ome_axes[dim] == "y")
            found.y = static_cast<int>(dim);
    }
    if (found.x >= 0 && found.y >= 0)
        *axes = found;
}

bool choose_axes(const zb_node *array, NearbyNodes &around, const Pyramid &pyramid,
                 const char *dim_x, const char *dim_y, Axes *axes, std::string *reason) {
    const zb_array_info *info = zb_node_array(array);
    /* The rule for arrays that say nothing: C order, columns fastest. */
    *axes = {static_cast<int>(info->ndim) - 1, static_cast<int>(info->ndim) - 2};
    if (info->ndim < 2) {
        axes->y = -1;
        return true;
    }
    /* From the weakest evidence to the strongest: each overwrites the one before. */
    axes_by_shape(array, axes);
    Axes named;
    axes_by_name(array, &named);
    if (named.x < 0 && info->ndim > 2)
        axes_by_coordinates(info, around, &named);
    if (named.x >= 0)
        *axes = named;
    axes_by_ome(pyramid, info->ndim, axes);
    if (!pyramid.empty())
        axes_by_convention(info, around.at(pyramid.group).get(), around, axes);
    axes_by_convention(info, around.group_above(1), around, axes);
    axes_by_convention(info, array, around, axes);
    if (!option_dimension(info, "DIM_X", dim_x, &axes->x, reason) ||
        !option_dimension(info, "DIM_Y", dim_y, &axes->y, reason))
        return false;
    if (axes->x == axes->y) {
        /* Only one option was given and it took the other axis's dimension: swap roles. */
        const bool both = dim_x != nullptr && dim_y != nullptr;
        if (both) {
            *reason = "open options DIM_X and DIM_Y name the same dimension";
            return false;
        }
        int &other = dim_x != nullptr ? axes->y : axes->x;
        other = axes->x == static_cast<int>(info->ndim) - 1 ? static_cast<int>(info->ndim) - 2
                                                            : static_cast<int>(info->ndim) - 1;
    }
    return true;
}

} // namespace zarr3
