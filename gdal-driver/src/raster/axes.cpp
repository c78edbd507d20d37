/* SPDX-License-Identifier: MIT */
#include "raster/axes.h"

#include <algorithm>
#include <cstring>

#include "array/attributes.h"
#include "array/conventions.h"
#include "array/dimension_names.h"
#include "cpl_string.h"

namespace zarr3 {

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

bool is_x_name(const std::string &name) {
    return zb_name_is_x(name.c_str());
}

bool is_y_name(const std::string &name) {
    return zb_name_is_y(name.c_str());
}

char horizontal_axis(const zb_node *coordinate, bool by_name) {
    const char axis = zb_coordinate_axis(coordinate);
    const std::string name = zb_node_name(coordinate);
    return axis != 0 || !by_name ? axis : is_x_name(name) ? 'X' : is_y_name(name) ? 'Y' : axis;
}

Axes listed_axes(const zb_array_info *info, const zb_node *node) {
    const zb_axes found = zb_axes_listed(info, node);
    return {found.x, found.y};
}

bool choose_axes(const zb_node *array, NearbyNodes &around, const Pyramid &pyramid,
                 const char *dim_x, const char *dim_y, Axes *axes, std::string *reason) {
    const zb_array_info *info = zb_node_array(array);
    const zb_nodes nodes = around.for_core();
    const PyramidView view(pyramid);
    const zb_axes found = zb_axes_find(array, &view, &nodes);
    *axes = {found.x, found.y};
    if (info->ndim < 2)
        return true;
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
