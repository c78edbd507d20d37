/* SPDX-License-Identifier: MIT */
/*
 * `_FillValue` and `missing_value`. No specification binds them in Zarr: xarray writes integers as
 * numbers and floats as the base64 text of a double (FillValueCoder in xarray/backends/zarr.py),
 * other writers numbers and words. A value means the same whichever way it is written.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "types/fill.h"
#include "util/base64.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/gdal_extension.h"

static bool is_number_type(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_INT || dtype.kind == ZB_KIND_UINT || dtype.kind == ZB_KIND_FLOAT;
}

/* Words as Python and other programs print them. */
static bool word_to_double(const char *text, double *out) {
    const char *word = text + (*text == '-' || *text == '+');
    if (strcasecmp(word, "nan") == 0)
        *out = NAN;
    else if (strcasecmp(word, "inf") == 0 || strcasecmp(word, "infinity") == 0)
        *out = *text == '-' ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

/* The core takes a number that is too large for a float for an infinity, as a reader of
   `fill_value` has to; here it is a value that no element has. */
static bool is_too_large(const zb_json *value, zb_dtype dtype, const void *element) {
    const char *number = zb_json_number(value);
    return dtype.kind == ZB_KIND_FLOAT && number && !strpbrk(number, "NI") &&
           isinf(zb_element_to_double(element, dtype));
}

bool zb_fill_attribute_parse(const zb_json *value, zb_dtype dtype, void *element) {
    unsigned char parsed[sizeof(double)];
    double number;
    zb__fill_form form; /* numbers need no memory */
    if (zb_json_kind_of(value) == ZB_JSON_ARRAY)
        value = zb_json_first(value);
    if (!is_number_type(dtype) || zb_json_kind_of(value) == ZB_JSON_NULL)
        return false;
    const char *text = zb_json_string(value);
    if (text && (word_to_double(text, &number) || zb__base64_to_double(text, &number)))
        return zb_element_from_double(number, dtype, element);
    if (zb__fill_parse(value, dtype, NULL, parsed, &form, NULL) != ZB_OK ||
        is_too_large(value, dtype, parsed))
        return false;
    memcpy(element, parsed, dtype.size);
    return true;
}

char *zb_fill_attribute_print(const void *element, zb_dtype dtype) {
    zb_json_writer *w = zb_json_writer_new();
    char base64[ZB__BASE64_SIZE];
    if (dtype.kind == ZB_KIND_FLOAT)
        zb_json_write_string(w,
                             zb__base64_from_double(zb_element_to_double(element, dtype), base64));
    else
        zb__fill_print(w, dtype, element);
    return zb_json_writer_end(w, NULL);
}

/* ---- Nodata of arrays --------------------------------------------------------------------- */

/*
 * Nodata. It is compared with elements bit for bit, so that it has to be the value as an element
 * holds it: 64-bit integers never pass through a double, 1e20 of a float32 array is the float
 * nearest to it, and -9999 is not a value of an array of bytes.
 *
 * Where `_Unsigned` gives the elements another sign, attributes have the stored type, as the NetCDF
 * Users' Guide asks; a value that only the shown type holds is taken as well. Elements of both
 * types are the same bits.
 */

static const zb_json *attribute(const zb_node *array, const char *name) {
    return zb_json_get(zb_node_attributes(array), name);
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
    if (info->fill_is_default || !zb_gdal_flag(array, ZB_GDAL_FILL_IS_NODATA, true))
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
