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
#include <stdio.h>
#include <stdlib.h>
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

/* ---- Units of times ----------------------------------------------------------------------- */

/* Years and months of numpy are those of the calendar, which no unit of CF is. */
char *zb_time_units(zb_dtype dtype) {
    static const char *const words[ZB_UNIT_ATTOSECOND + 1] = {
        [ZB_UNIT_WEEK] = "weeks",
        [ZB_UNIT_DAY] = "days",
        [ZB_UNIT_HOUR] = "hours",
        [ZB_UNIT_MINUTE] = "minutes",
        [ZB_UNIT_SECOND] = "seconds",
        [ZB_UNIT_MILLISECOND] = "milliseconds",
        [ZB_UNIT_MICROSECOND] = "microseconds",
        [ZB_UNIT_NANOSECOND] = "nanoseconds",
        [ZB_UNIT_PICOSECOND] = "picoseconds",
        [ZB_UNIT_FEMTOSECOND] = "femtoseconds",
        [ZB_UNIT_ATTOSECOND] = "attoseconds",
    };
    uint32_t scale;
    const char *word = words[zb_dtype_unit(dtype, &scale)];
    const char *since = dtype.kind == ZB_KIND_DATETIME ? " since 1970-01-01" : "";
    char number[16] = "", name[64], *text = NULL;
    if (scale == 0)
        return NULL;
    if (scale > 1)
        snprintf(number, sizeof number, "%u ", scale);
    const int length = word ? asprintf(&text, "%s%s%s", number, word, since)
                            : asprintf(&text, "%s", zb_dtype_print(dtype, name, sizeof name));
    return length < 0 ? NULL : text;
}
