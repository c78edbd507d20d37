/* SPDX-License-Identifier: MIT */
/*
 * Nodata. It is compared with elements bit for bit, so that it has to be the value as an element
 * holds it: 64-bit integers never pass through a double, 1e20 of a float32 array is the float
 * nearest to it, and -9999 is not a value of an array of bytes.
 *
 * Where `_Unsigned` gives the elements another sign, attributes have the stored type, as the NetCDF
 * Users' Guide asks; a value that only the shown type holds is taken as well. Elements of both
 * types are the same bits.
 */
#include <string.h>

#include "zarrbridge/conventions.h"

static const zb_json *attribute(const zb_node *array, const char *name) {
    return zb_json_get(zb_node_attributes(array), name);
}

static bool is_number_type(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_INT || dtype.kind == ZB_KIND_UINT || dtype.kind == ZB_KIND_FLOAT;
}

static bool is_empty_text(const zb_array_info *info) {
    return ((const zb_slice *)info->fill_value)->size == 0;
}

/* Most writers put a zero there without meaning anything. GDAL's own driver keeps its nodata value
   there, zero included; it writes _CRS whenever a raster has a CRS, and never a grid mapping, which
   all others write. */
bool zb_array_fill_is_nodata(const zb_node *array) {
    const zb_array_info *info = zb_node_array(array);
    const zb_json *said = attribute(array, ZB_FILL_IS_NODATA);
    const bool denied = zb_json_kind_of(said) == ZB_JSON_BOOL && !zb_json_bool(said);
    if (info->fill_is_default || denied)
        return false;
    if (info->dtype.kind == ZB_KIND_STRING)
        return !is_empty_text(info);
    if (!is_number_type(info->dtype))
        return false;
    return zb_element_to_double(info->fill_value, info->dtype) != 0 ||
           (attribute(array, "_CRS") && !attribute(array, "grid_mapping"));
}

bool zb_array_nodata(const zb_node *array, zb_dtype shown, void *element) {
    static const char *const names[] = {"_FillValue", "missing_value"};
    const zb_array_info *info = zb_node_array(array);
    if (info->dtype.kind == ZB_KIND_STRING)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const zb_json *value = attribute(array, names[i]);
        if (value && (zb_fill_attribute_parse(value, info->dtype, element) ||
                      zb_fill_attribute_parse(value, shown, element)))
            return true;
    }
    if (!zb_array_fill_is_nodata(array))
        return false;
    memcpy(element, info->fill_value, info->dtype.size);
    return true;
}
