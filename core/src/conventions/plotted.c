/* SPDX-License-Identifier: MIT */
/*
 * What coordinate arrays can say of a place: which of them lie along columns or rows of a map at
 * all, and at which values those of longitudes go on.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "conventions/pyramids.h"

static bool is_one_of(const char *text, const char *const *words) {
    for (; *words; words++) {
        if (strcasecmp(text, *words) == 0)
            return true;
    }
    return false;
}

/* By CF's attributes: times, heights and depths, members of ensembles. */
static bool says_other(const zb_node *coordinate) {
    static const char *const axes[] = {"T", "Z", "E", NULL};
    static const char *const names[] = {"time",
                                        "forecast_period",
                                        "forecast_reference_time",
                                        "realization",
                                        "height",
                                        "altitude",
                                        "depth",
                                        "air_pressure",
                                        "model_level_number",
                                        "radiation_wavelength",
                                        "radiation_frequency",
                                        NULL};
    const char *units = zb__attribute_text(coordinate, "units");
    return is_one_of(zb__attribute_text(coordinate, "axis"), axes) ||
           is_one_of(zb__attribute_text(coordinate, "standard_name"), names) ||
           zb__attribute(coordinate, "positive") || strstr(units, " since ");
}

/* Names of dimensions that are neither columns nor rows. */
static bool is_called_other(const char *name) {
    static const char *const names[] = {
        "time",     "t",        "date",        "step",      "band",     "bands",
        "channel",  "channels", "wavelength",  "frequency", "depth",    "level",
        "levels",   "lev",      "plev",        "pressure",  "altitude", "z",
        "ensemble", "member",   "realization", "number",    NULL};
    return is_one_of(name, names);
}

bool zb_coordinate_is_horizontal(const zb_node *coordinate) {
    const zb_array_info *info = coordinate ? zb_node_array(coordinate) : NULL;
    if (!info || info->dtype.kind == ZB_KIND_DATETIME || info->dtype.kind == ZB_KIND_TIMEDELTA ||
        says_other(coordinate))
        return false;
    return zb_coordinate_axis(coordinate) != 0 || !is_called_other(zb_node_name(coordinate));
}

/* True for longitudes by CF's attributes. */
static bool is_longitude(const zb_node *coordinate) {
    return strcmp(zb__attribute_text(coordinate, "standard_name"), "longitude") == 0 ||
           strncmp(zb__attribute_text(coordinate, "units"), "degree", 6) == 0;
}

/* 300 ... 359, 0 ... 19 is -60 ... -1, 0 ... 19, as GDAL's netCDF driver has it. */
void zb_coordinate_unwrap(const zb_node *coordinate, double *values, uint64_t count) {
    uint64_t drops = 0, at = 0;
    if (count < 3 || zb_coordinate_axis(coordinate) != 'X' || !is_longitude(coordinate))
        return;
    for (uint64_t i = 1; i < count; i++) {
        if (values[i] < values[i - 1]) {
            drops++;
            at = i;
        }
    }
    /* Those of a whole turn, no more; a drop in falling longitudes is none. */
    if (drops != 1 || values[at - 1] - values[at] > 360 || values[at - 1] - values[at] < 180)
        return;
    for (uint64_t i = 0; i < at; i++)
        values[i] -= 360;
}
