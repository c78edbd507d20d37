/* SPDX-License-Identifier: MIT */
/*
 * The coordinate of a dimension.
 *
 * In netCDF a coordinate variable is "a one-dimensional variable with the same name as a
 * dimension", which is its own dimension (NetCDF Users' Guide, "Coordinate Variables"); the
 * dimension is the one of that name in the variable's group or the nearest group above that has it.
 * CF adds to its search by proximity (CF 1.8 and later, 2.7.1, "Scope") that coordinate variables
 * "must share dimensions with the variables that reference them". An array of another length, of
 * more dimensions, or along another dimension therefore shares no more than the name, and the
 * search goes on. xarray combines no arrays whose dimensions of one name differ in length.
 *
 * Zarr knows arrays whose dimensions have no names, netCDF does not. One that lies beside the array
 * that it fits can only be meant for it; in a group above it may mean anything.
 */
#include <string.h>

#include "zarrbridge/conventions.h"

/* True if an array can have the dimension's name. */
static bool is_node_name(const char *name) {
    return name && *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

bool zb_coordinate_fits(const zb_array_info *candidate, const char *name, uint64_t length,
                        bool beside) {
    if (candidate->ndim != 1 || candidate->shape[0] != length)
        return false;
    const char *own = candidate->dimension_names ? candidate->dimension_names[0] : NULL;
    return own ? strcmp(own, name) == 0 : beside;
}

int zb_coordinate_find(const zb_array_info *array, uint32_t dim, const zb_surroundings *around) {
    const char *name = array->dimension_names ? array->dimension_names[dim] : NULL;
    if (!is_node_name(name))
        return -1;
    for (unsigned level = 0; level < around->levels; level++) {
        const zb_array_info *found = around->array(around->context, level, name);
        if (found && zb_coordinate_fits(found, name, array->shape[dim], level == 0))
            return (int)level;
    }
    return -1;
}
