/* SPDX-License-Identifier: MIT */
/*
 * GDAL's nodata value is one double, also of complex numbers, whose real part it is compared with.
 * So a complex value is shown where it has no imaginary part, or is no number: to leave an
 * imaginary part out would make pixels invalid that are none.
 *
 * It is the list of both parts: for floats in `_FillValue`, as xarray writes it, for complex
 * integers in the GDAL extension, because xarray cannot open a struct that has `_FillValue`,
 * and makes NaN of one that has `missing_value`.
 */
#include "array/nodata.h"

#include <cmath>
#include <cstring>

#include "array/attributes.h"
#include "array/types.h"
#include "base/handles.h"
#include "base/json_text.h"

namespace zarr3 {

static bool is_complex(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_COMPLEX || dtype.kind == ZB_KIND_STRUCT;
}

/* The type of the real part and of the imaginary part; of other numbers their own. */
static zb_dtype part_of(zb_dtype dtype) {
    if (!is_complex(dtype))
        return dtype;
    const enum zb_kind kind = dtype.kind == ZB_KIND_COMPLEX ? ZB_KIND_FLOAT : ZB_KIND_INT;
    return {kind, dtype.size / 2, false, nullptr};
}

/* GDAL asks for 64-bit integers by calls of their own. */
static NoData of_element(const unsigned char *element, zb_dtype dtype) {
    NoData nodata;
    nodata.kind = NoData::Double;
    if (dtype.size == 8 && (dtype.kind == ZB_KIND_INT || dtype.kind == ZB_KIND_UINT))
        nodata.kind = dtype.kind == ZB_KIND_INT ? NoData::Int64 : NoData::UInt64;
    nodata.as_double = zb_element_to_double(element, part_of(dtype));
    memcpy(nodata.element, element, dtype.size);
    memcpy(&nodata.as_int64, nodata.element, sizeof nodata.as_int64);
    memcpy(&nodata.as_uint64, nodata.element, sizeof nodata.as_uint64);
    return nodata;
}

/* ---- Of complex numbers ---- */

/* A list of both parts, or a real number. */
static bool parse_complex(const zb_json *value, zb_dtype part, unsigned char *element) {
    if (zb_json_kind_of(value) != ZB_JSON_ARRAY)
        return value != nullptr && zb_fill_attribute_parse(value, part, element);
    const zb_json *real = zb_json_first(value);
    const zb_json *imaginary = real == nullptr ? nullptr : zb_json_next(real);
    return imaginary != nullptr && zb_json_next(imaginary) == nullptr &&
           zb_fill_attribute_parse(real, part, element) &&
           zb_fill_attribute_parse(imaginary, part, element + part.size);
}

static bool is_real(const unsigned char *element, zb_dtype part) {
    return zb_element_to_double(element + part.size, part) == 0 ||
           std::isnan(zb_element_to_double(element, part));
}

/* The first value that is there counts. */
static NoData find_complex(const zb_node *array, zb_dtype shown) {
    const GdalExtension extension =
        shown.kind == ZB_KIND_STRUCT ? gdal_extension(array) : GdalExtension();
    for (const zb_json *said :
         {zb_gdal_extension_get(extension.get(), ZB_GDAL_NODATA), attribute(array, "_FillValue"),
          attribute(array, "missing_value")}) {
        unsigned char element[2 * sizeof(double)] = {};
        if (parse_complex(said, part_of(shown), element))
            return of_element(element, shown);
    }
    const zb_array_info *info = zb_node_array(array);
    unsigned char element[2 * sizeof(double)];
    return zb_array_fill_is_nodata(array) &&
                   zb_dtype_convert(info->dtype, info->fill_value, shown, element, 1)
               ? of_element(element, shown)
               : NoData();
}

static std::string complex_json(const NoData &nodata, zb_dtype dtype) {
    const zb_dtype part = part_of(dtype);
    std::vector<std::string> parts;
    for (const unsigned char *at : {nodata.element, nodata.element + part.size}) {
        const CoreText text(zb_fill_attribute_print(at, part));
        parts.push_back(text == nullptr ? "null" : text.get());
    }
    return json_list(parts);
}

/* ---- Of all ---- */

NoData raster_nodata(const NoData &nodata, const zb_node *array) {
    const zb_dtype shown = pixel_dtype(array);
    const bool is_shown = nodata.kind == NoData::None || !is_complex(shown) ||
                          is_real(nodata.element, part_of(shown));
    return is_shown ? nodata : NoData();
}

/* No time (NaT) is nodata. */
NoData find_raw_nodata(const zb_node *array) {
    unsigned char element[sizeof(uint64_t)];
    const zb_dtype shown = pixel_dtype(array);
    if (is_complex(shown))
        return gdal_type(shown) == GDT_Unknown ? NoData() : find_complex(array, shown);
    if (zb_array_nodata(array, shown, element))
        return of_element(element, shown);
    return is_time(zb_node_array(array)->dtype) ? nodata_from_int64(INT64_MIN, shown) : NoData();
}

/* ---- Setting ---- */

NoData nodata_from_double(double value, zb_dtype dtype) {
    unsigned char element[2 * sizeof(double)] = {};
    return zb_element_from_double(value, part_of(dtype), element) ? of_element(element, dtype)
                                                                  : NoData();
}

NoData nodata_from_int64(int64_t value, zb_dtype dtype) {
    unsigned char element[sizeof(uint64_t)];
    return zb_element_from_int64(value, dtype, element) ? of_element(element, dtype) : NoData();
}

NoData nodata_from_uint64(uint64_t value, zb_dtype dtype) {
    unsigned char element[sizeof(uint64_t)];
    return zb_element_from_uint64(value, dtype, element) ? of_element(element, dtype) : NoData();
}

NoData band_nodata(const zb_json *item, const zb_node *array) {
    const zb_dtype stored = attribute_dtype(array), shown = pixel_dtype(array);
    unsigned char element[2 * sizeof(double)] = {};
    const bool is_there = is_complex(stored) ? parse_complex(item, part_of(stored), element)
                                             : zb_json_kind_of(item) != ZB_JSON_NULL &&
                                                   zb_fill_attribute_parse(item, stored, element);
    return is_there ? raster_nodata(of_element(element, shown), array) : NoData();
}

/* Where `_Unsigned` gives pixels another sign, the stored type's is written. */
std::string nodata_json(const NoData &nodata, const zb_node *array) {
    const zb_dtype dtype = attribute_dtype(array);
    if (is_complex(dtype))
        return complex_json(nodata, dtype);
    const CoreText text(zb_fill_attribute_print(nodata.element, dtype));
    return text == nullptr ? "null" : text.get();
}

void change_nodata(const NoData &nodata, const zb_node *array, AttributeChanges *changes) {
    const zb_dtype dtype = attribute_dtype(array);
    changes->remove("missing_value");
    changes->remove("_FillValue");
    changes->remove("_FillValues");
    changes->remove(ZB_GDAL_NODATA);
    if (nodata.kind == NoData::None) {
        if (zb_array_fill_is_nodata(array))
            changes->set(ZB_GDAL_FILL_IS_NODATA, "false");
        return;
    }
    changes->remove(ZB_GDAL_FILL_IS_NODATA);
    if (dtype.kind == ZB_KIND_STRUCT)
        changes->set(ZB_GDAL_NODATA, nodata_json(nodata, array));
    else
        changes->set("_FillValue", nodata_json(nodata, array));
}

std::vector<unsigned char> nodata_element(const NoData &nodata, zb_dtype dtype) {
    std::vector<unsigned char> element(dtype.size);
    if (nodata.kind != NoData::None)
        memcpy(element.data(), nodata.element, element.size());
    return element;
}

} // namespace zarr3
