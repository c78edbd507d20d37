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

static bool is_zero(const void *element, zb_dtype dtype);

static bool parts_are_zero(const unsigned char *element, zb_dtype part) {
    return is_zero(element, part) && is_zero(element + part.size, part);
}

static bool fields_are_zero(const unsigned char *element, zb_dtype dtype) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    for (size_t i = 0; i < count; i++) {
        if (!is_zero(element + fields[i].offset, fields[i].dtype))
            return false;
    }
    return true;
}

/* Of a number, a complex number or a struct of such. */
static bool is_zero(const void *element, zb_dtype dtype) {
    float parts[2];
    switch (dtype.kind) {
    case ZB_KIND_STRUCT:
        return fields_are_zero(element, dtype);
    case ZB_KIND_COMPLEX:
        return parts_are_zero(element, (zb_dtype){.kind = ZB_KIND_FLOAT, .size = dtype.size / 2});
    case ZB_KIND_SMALL_COMPLEX:
        return zb_dtype_convert(dtype, element, zb_dtype_shown(dtype), parts, 1) &&
               is_zero(parts, zb_dtype_shown(dtype));
    default:
        return zb_element_to_double(element, dtype) == 0;
    }
}

static bool is_complex_type(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_COMPLEX || dtype.kind == ZB_KIND_SMALL_COMPLEX;
}

static bool are_numbers(zb_dtype dtype) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    if (dtype.kind != ZB_KIND_STRUCT)
        return is_number_type(dtype) || is_complex_type(dtype);
    for (size_t i = 0; i < count; i++) {
        if (!are_numbers(fields[i].dtype))
            return false;
    }
    return true;
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
    if (!are_numbers(info->dtype))
        return false;
    return !is_zero(info->fill_value, info->dtype) ||
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
    if (!is_number_type(info->dtype) || !zb_array_fill_is_nodata(array))
        return false;
    memcpy(element, info->fill_value, info->dtype.size);
    return true;
}
