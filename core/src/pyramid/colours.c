/* SPDX-License-Identifier: MIT */
#include "pyramid/colours.h"

#include <string.h>
#include <strings.h>

#include "util/checked.h"

bool zb__bands_share_chunks(const zb__raster *raster, bool all) {
    const zb_array_info *info = zb_node_array(raster->array);
    bool several = false;
    for (uint32_t d = 0; d < info->ndim; d++) {
        if (d == raster->x || d == raster->y)
            continue;
        if (all && info->inner_shape[d] < info->shape[d])
            return false;
        several = several || (info->inner_shape[d] > 1 && info->shape[d] > 1);
    }
    return all || several;
}

uint64_t zb__band_count(const zb__raster *raster) {
    const zb_array_info *info = zb_node_array(raster->array);
    uint64_t bands = 1;
    for (uint32_t d = 0; d < info->ndim; d++) {
        if (d != raster->x && d != raster->y)
            bands = zb__bound_product(bands, info->shape[d]);
    }
    return bands;
}

/* The colours of bands as the GDAL driver stores them. */
static bool has_colour(const zb__raster *raster, const char *colour, bool only_last) {
    const zb_json *stated = zb__attribute(raster->array, "COLOR_INTERPRETATION");
    const char *text = zb_json_string(stated);
    if (text)
        return strcasecmp(text, colour) == 0;
    if (zb_json_kind_of(stated) != ZB_JSON_ARRAY)
        return false;
    for (const zb_json *one = zb_json_first(stated); one; one = zb_json_next(one)) {
        text = zb_json_string(one);
        if (text && strcasecmp(text, colour) == 0 && (!only_last || !zb_json_next(one)))
            return true;
    }
    return false;
}

/* Four bands of bytes behind rows and columns are red, green, blue and alpha, if nothing else is
   said. */
static bool is_picture_with_alpha(const zb__raster *raster) {
    const zb_array_info *info = zb_node_array(raster->array);
    return !zb__attribute(raster->array, "COLOR_INTERPRETATION") && info->ndim == 3 &&
           info->dtype.kind == ZB_KIND_UINT && info->dtype.size == 1 && raster->x < 2 &&
           raster->y < 2 && info->shape[2] == 4;
}

static bool has_colour_table(const zb__raster *raster) {
    const char *properties = zb_json_string(zb_gdal_extension_get(raster->gdal, ZB_GDAL_PAM));
    return properties && strstr(properties, "<ColorTable");
}

/* GDAL averages the colours of indices, and leaves out what is transparent. */
enum zb_code zb__check_colours(const zb__raster *raster, const zb__values_plan *values,
                               bool *has_alpha, zb_error *err) {
    const zb_dtype dtype = zb_node_array(raster->array)->dtype;
    const bool is_integer = dtype.kind == ZB_KIND_UINT || dtype.kind == ZB_KIND_INT;
    *has_alpha = false;
    if (values->method == ZB_RESAMPLE_NEAREST)
        return ZB_OK;
    if (zb__attribute(raster->array, "_Unsigned"))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "array /%s is shown with another sign (_Unsigned): make its levels by "
                       "gdaladdo, or by `nearest`",
                       zb_node_path(raster->array));
    if (values->method == ZB_RESAMPLE_AVERAGE && is_integer &&
        (has_colour(raster, "Palette", false) || has_colour_table(raster)))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "array /%s has indices of a colour table: make averages of its colours by "
                       "gdaladdo, or levels by `mode` or `nearest`",
                       zb_node_path(raster->array));
    if (!has_colour(raster, "Alpha", false) && !is_picture_with_alpha(raster))
        return ZB_OK;
    const uint64_t bands = zb__band_count(raster);
    *has_alpha = !raster->mask && !values->has_nodata;
    if (*has_alpha && !(zb__bands_share_chunks(raster, true) && (bands == 2 || bands == 4) &&
                        is_integer && dtype.kind == ZB_KIND_UINT && dtype.size <= 2 &&
                        (is_picture_with_alpha(raster) || has_colour(raster, "Alpha", true))))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "array /%s has an alpha band apart from the others: make its levels by "
                       "gdaladdo, or by `nearest`",
                       zb_node_path(raster->array));
    return ZB_OK;
}
