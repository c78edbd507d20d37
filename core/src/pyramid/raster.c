/* SPDX-License-Identifier: MIT */
#include "pyramid/raster.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conventions/pyramids.h"
#include "hierarchy/path.h"
#include "util/text.h"

/* ---- Coordinates ---- */

/* Coordinates above are not made smaller: a raster has no more columns than fit in memory twice. */
#define MOST_COORDINATES (UINT64_C(1) << 27)

enum zb_code zb__coordinate_values(const zb_node *coordinate, double **out, zb_error *err) {
    const zb_array_info *info = zb_node_array(coordinate);
    const zb_dtype number = {.kind = ZB_KIND_FLOAT, .size = sizeof(double)};
    const uint64_t count = info->shape[0];
    double scale = 1, offset = 0;
    *out = NULL;
    if ((info->dtype.kind != ZB_KIND_INT && info->dtype.kind != ZB_KIND_UINT &&
         info->dtype.kind != ZB_KIND_FLOAT) ||
        zb__attribute(coordinate, "_Unsigned") || count == 0 || count > MOST_COORDINATES)
        return zb_fail(err, ZB_EUNSUPPORTED, "/%s has no plain numbers", zb_node_path(coordinate));
    *out = malloc(count * sizeof **out);
    if (!*out)
        return zb__no_memory(err);
    const zb_read read = {.node = coordinate, .view = {.data = *out, .dtype = number}};
    enum zb_code code = zb_array_read(&read, 1, err);
    if (code) {
        free(*out);
        *out = NULL;
        return code;
    }
    (void)zb_json_double(zb__attribute(coordinate, "scale_factor"), &scale);
    (void)zb_json_double(zb__attribute(coordinate, "add_offset"), &offset);
    for (uint64_t i = 0; i < count && (scale != 1 || offset != 0); i++)
        (*out)[i] = (*out)[i] * scale + offset;
    return ZB_OK;
}

/* ---- Place ---- */

/* By coordinates at equal distances, whose values are taken for those of the CRS. Those that are
   no numbers place nothing; those that cannot be read are a failure. */
static bool plotted_transform(zb__raster *raster, double out[6]) {
    double first[2], step[2];
    for (int i = 0; i < 2; i++) {
        double *values;
        zb_error reason;
        const zb_node *coordinate = raster->coordinate[i];
        if (!zb_coordinate_is_horizontal(coordinate))
            return false;
        const enum zb_code code = zb__coordinate_values(coordinate, &values, &reason);
        if (code && code != ZB_EUNSUPPORTED)
            raster->opened.failure = reason;
        if (code)
            return false;
        const zb_array_info *info = zb_node_array(coordinate);
        zb_coordinate_unwrap(coordinate, values, info->shape[0]);
        const bool is_regular =
            zb_coordinate_is_regular(values, info->shape[0], info->dtype, &first[i], &step[i]);
        free(values);
        if (!is_regular)
            return false;
    }
    const double affine[6] = {step[0], 0,       first[0] - step[0] / 2,
                              0,       step[1], first[1] - step[1] / 2};
    memcpy(out, affine, sizeof affine);
    return true;
}

/* Coordinates that contradict attributes tell that these were left behind when the data were
   cropped; but where the raster was put elsewhere in spite of them, the attributes count. */
static void find_place(zb__raster *raster) {
    const zb_raster view = {raster->array,    {(int)raster->x, (int)raster->y},
                            raster->width,    raster->height,
                            &raster->pyramid, &raster->nodes};
    double plotted[6], *out = raster->transform;
    const bool is_plotted = plotted_transform(raster, plotted);
    raster->is_left_behind =
        zb_place_is_of_other_shape(raster->array, raster->width, raster->height);
    raster->has_transform = zb_place_by_convention(&view, out) ||
                            zb_place_of_mapping(raster->mapping, out) ||
                            zb_place_of_attribute(raster->array, out);
    if (raster->has_transform && is_plotted &&
        zb_place_contradicts(out, plotted, raster->width, raster->height) &&
        !zb_place_is_overruled(&view, plotted)) {
        raster->is_left_behind = true;
        raster->has_transform = false;
    }
    if (!raster->has_transform && is_plotted) {
        memcpy(raster->transform, plotted, sizeof plotted);
        raster->has_transform = true;
    }
}

/* The variable that the attribute names, nearest upwards. */
static const zb_node *find_mapping(const zb__raster *raster) {
    const char *named = zb__attribute_text(raster->array, "grid_mapping");
    char *name = strndup(named, strcspn(named, ": "));
    char *group = name && *name ? zb__parent_path(zb_node_path(raster->array)) : NULL;
    const zb_node *found = NULL;
    while (group && !found) {
        char *path = zb__path_join(group, name);
        found = path ? raster->nodes.at(raster->nodes.context, path) : NULL;
        free(path);
        if (found && !zb_node_array(found))
            found = NULL;
        if (!*group)
            break;
        zb__path_up(group);
    }
    free(group);
    free(name);
    return found;
}

/* An array of bytes of the raster's rows and columns; another one is none. */
static const zb_node *open_mask(zb__raster *raster) {
    const char *name = zb_json_string(zb_gdal_extension_get(raster->gdal, ZB_GDAL_MASK));
    if (!name || !zb__is_child_name(name))
        return NULL;
    char *path = zb_array_mask(raster->array);
    if (!path)
        (void)zb__no_memory(&raster->opened.failure);
    const zb_node *mask = path ? raster->nodes.at(raster->nodes.context, path) : NULL;
    free(path);
    const zb_array_info *info = mask ? zb_node_array(mask) : NULL;
    const bool fits = info && info->ndim == 2 && info->dtype.kind == ZB_KIND_UINT &&
                      info->dtype.size == 1 && info->shape[0] == raster->height &&
                      info->shape[1] == raster->width;
    return fits ? mask : NULL;
}

static enum zb_code check(const zb_node *array, zb_error *err) {
    const zb_array_info *info = zb_node_array(array);
    if (!info)
        return zb_fail(err, ZB_EINVAL, "/%s is a group; levels are made of an array",
                       zb_node_path(array));
    if (info->ndim < 2)
        return zb_fail(err, ZB_EINVAL, "array /%s has no rows and columns", zb_node_path(array));
    for (uint32_t d = 0; d < info->ndim; d++) {
        if (info->shape[d] == 0)
            return zb_fail(err, ZB_EINVAL, "array /%s has no elements", zb_node_path(array));
    }
    return zb_node_may_change(array, err);
}

void zb__raster_clear(zb__raster *raster) {
    zb_pyramid_clear(&raster->pyramid);
    zb_level_places_clear(&raster->places);
    zb__opened_clear(&raster->opened);
    zb_gdal_extension_free(raster->gdal);
    zb_node_release(raster->array);
    *raster = (zb__raster){.array = NULL};
}

enum zb_code zb__raster_open(const zb_node *array, zb__raster *out, zb_error *err) {
    *out = (zb__raster){.hierarchy = zb_node_hierarchy(array)};
    out->opened.hierarchy = out->hierarchy;
    out->nodes = zb__opened_nodes(&out->opened);
    enum zb_code code = zb_node_refresh(array, &out->array, err);
    if (!code)
        code = check(out->array, err);
    if (!code)
        code = zb_pyramid_find(out->array, 2, &out->nodes, &out->pyramid, err);
    if (!code)
        code = zb__pyramid_complete(&out->pyramid, out->hierarchy, zb_node_path(array), err);
    if (!code)
        code = zb_level_places_find(&out->pyramid, zb_node_path(array), &out->places, err);
    if (code)
        zb__raster_clear(out);
    return code;
}

enum zb_code zb__raster_place(zb__raster *out, const zb_axes *stated, const double *transform,
                              zb_error *err) {
    const zb_axes axes = stated ? *stated : zb_axes_find(out->array, &out->pyramid, &out->nodes);
    const enum zb_code code =
        zb_gdal_extension_parse(zb_node_attributes(out->array), &out->gdal, err);
    if (code)
        return code;
    out->x = (uint32_t)axes.x;
    out->y = (uint32_t)axes.y;
    out->width = zb_node_array(out->array)->shape[out->x];
    out->height = zb_node_array(out->array)->shape[out->y];
    out->mask = open_mask(out);
    out->mapping = find_mapping(out);
    out->coordinate[0] = zb__coordinate_of(out->array, out->x, &out->nodes);
    out->coordinate[1] = zb__coordinate_of(out->array, out->y, &out->nodes);
    find_place(out);
    if (transform) {
        memcpy(out->transform, transform, sizeof out->transform);
        out->has_transform = true;
    }
    return zb__opened_check(&out->opened, err);
}
