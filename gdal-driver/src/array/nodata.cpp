/* SPDX-License-Identifier: MIT */
/*
 * See nodata.h for the rule. Exactness makes the code long: nodata is compared with pixels bit for
 * bit, so that it must be the value as the pixels' type holds it. 64-bit integers never pass
 * through a double; a float32 array's 1e20 becomes the float nearest to it; -9999 for an array of
 * bytes cannot occur in it and must not become 0 or 255 on the way.
 */
#include "array/nodata.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "array/attributes.h"
#include "array/types.h"
#include "cpl_string.h"

namespace zarr3 {

static bool is_integer(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_INT || dtype.kind == ZB_KIND_UINT;
}

/* Powers of two are exact doubles, so the ends of the 64-bit types compare right as well. */
static bool double_fits(double value, zb_dtype dtype) {
    if (!is_integer(dtype))
        return true;
    const double bits = dtype.size * 8.0 - (dtype.kind == ZB_KIND_INT ? 1 : 0);
    const double end = std::ldexp(1.0, static_cast<int>(bits));
    const double lowest = dtype.kind == ZB_KIND_INT ? -end : 0;
    return value >= lowest && value < end && value == std::floor(value);
}

/* None when no pixel can have the value. */
NoData nodata_from_double(double value, zb_dtype dtype) {
    NoData nodata;
    const bool real = is_integer(dtype) || dtype.kind == ZB_KIND_FLOAT;
    if (!real || !double_fits(value, dtype))
        return nodata;
    nodata.kind = NoData::Double;
    nodata.as_double = value;
    if (dtype.kind == ZB_KIND_FLOAT && dtype.size < 8 && std::isfinite(value)) {
        /* The nearest value that pixels can have: there is no float32 of exactly 1e20. */
        nodata.as_double = static_cast<double>(static_cast<float>(value));
    } else if (is_integer(dtype) && dtype.size == 8) {
        nodata.kind = dtype.kind == ZB_KIND_INT ? NoData::Int64 : NoData::UInt64;
        if (dtype.kind == ZB_KIND_INT)
            nodata.as_int64 = static_cast<int64_t>(value);
        else
            nodata.as_uint64 = static_cast<uint64_t>(value);
    }
    return nodata;
}

static NoData from_int64(int64_t value) {
    NoData nodata;
    nodata.kind = NoData::Int64;
    nodata.as_int64 = value;
    nodata.as_double = static_cast<double>(value);
    return nodata;
}

static NoData from_uint64(uint64_t value) {
    NoData nodata;
    nodata.kind = NoData::UInt64;
    nodata.as_uint64 = value;
    nodata.as_double = static_cast<double>(value);
    return nodata;
}

/* "AAAAAAAA+H8=" and the like: exactly eight bytes. */
static bool decode_base64(const char *text, double *value) {
    GByte bytes[16];
    if (strlen(text) != 12)
        return false;
    memcpy(bytes, text, 13);
    if (CPLBase64DecodeInPlace(bytes) != 8)
        return false;
    CPL_LSBPTR64(bytes);
    memcpy(value, bytes, sizeof *value);
    return true;
}

/* Forms of the Zarr specification, and "inf" as Python prints it. */
static bool text_value(const char *text, double *value) {
    if (EQUAL(text, "NaN"))
        *value = std::numeric_limits<double>::quiet_NaN();
    else if (EQUAL(text, "Infinity") || EQUAL(text, "inf"))
        *value = std::numeric_limits<double>::infinity();
    else if (EQUAL(text, "-Infinity") || EQUAL(text, "-inf"))
        *value = -std::numeric_limits<double>::infinity();
    else
        return decode_base64(text, value);
    return true;
}

/* xarray and CF allow a list for missing_value; programs that write one put a single value in it.
 */
static NoData from_attribute(const zb_json *value, zb_dtype dtype) {
    if (zb_json_kind_of(value) == ZB_JSON_ARRAY)
        value = zb_json_first(value);
    int64_t signed_value;
    uint64_t unsigned_value;
    if (dtype.kind == ZB_KIND_INT && dtype.size == 8 && zb_json_int64(value, &signed_value))
        return from_int64(signed_value);
    if (dtype.kind == ZB_KIND_UINT && dtype.size == 8 && zb_json_uint64(value, &unsigned_value))
        return from_uint64(unsigned_value);
    double number;
    const char *text = zb_json_string(value);
    if (zb_json_double(value, &number) || (text != nullptr && text_value(text, &number)))
        return nodata_from_double(number, dtype);
    return NoData();
}

/* 1 sign, 5 exponent, 10 fraction bits; exponent 0 is for subnormal numbers, 31 for infinities and
   NaN. */
static double half_to_double(uint16_t half) {
    const int exponent = (half >> 10) & 31;
    const double fraction = half & 1023;
    double value;
    if (exponent == 31)
        value = fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                              : std::numeric_limits<double>::infinity();
    else
        value =
            exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
    return (half & 0x8000) != 0 ? -value : value;
}

/* An integer of one type as what its bits are in the other type, of the same size. */
static NoData with_sign(const NoData &nodata, zb_dtype from, zb_dtype to) {
    if (nodata.kind == NoData::None || from.kind == to.kind)
        return nodata;
    if (from.size == 8)
        return to.kind == ZB_KIND_INT ? from_int64(static_cast<int64_t>(nodata.as_uint64))
                                      : from_uint64(static_cast<uint64_t>(nodata.as_int64));
    NoData other = nodata;
    const double range = std::ldexp(1.0, static_cast<int>(from.size * 8));
    if (to.kind == ZB_KIND_UINT && other.as_double < 0)
        other.as_double += range;
    else if (to.kind == ZB_KIND_INT && other.as_double >= range / 2)
        other.as_double -= range;
    return other;
}

/* The fill value, which the core holds as one element of the array's type. */
static NoData from_fill(const zb_array_info *info) {
    const zb_dtype dtype = info->dtype;
    if (dtype.kind == ZB_KIND_FLOAT && dtype.size == 2) {
        uint16_t half;
        memcpy(&half, info->fill_value, sizeof half);
        return nodata_from_double(half_to_double(half), dtype);
    }
    if (is_integer(dtype) && dtype.size == 8) {
        uint64_t bits;
        memcpy(&bits, info->fill_value, sizeof bits);
        return dtype.kind == ZB_KIND_INT ? from_int64(static_cast<int64_t>(bits))
                                         : from_uint64(bits);
    }
    double value;
    GDALCopyWords(info->fill_value, gdal_type(dtype), 0, &value, GDT_Float64, 0, 1);
    return nodata_from_double(value, dtype);
}

const char *const kFillIsNoData = "zarrbridge:fill_value_is_nodata";

/* The last of the rules. */
static NoData by_fill_value(const zb_node *array) {
    const zb_array_info *info = zb_node_array(array);
    NoData nodata;
    if (info->dtype.kind != ZB_KIND_FLOAT && !is_integer(info->dtype))
        return nodata;
    const zb_json *said = attribute(array, kFillIsNoData);
    const bool denied = zb_json_kind_of(said) == ZB_JSON_BOOL && !zb_json_bool(said);
    if (info->fill_is_default || denied)
        return nodata;
    nodata = from_fill(info);
    /* GDAL writes _CRS whenever a raster has a CRS. Its rasters without one are not told from
     * others. */
    const bool written_by_gdal =
        attribute(array, "_CRS") != nullptr && attribute(array, "grid_mapping") == nullptr;
    if (nodata.as_double == 0 && !written_by_gdal)
        return NoData();
    return with_sign(nodata, info->dtype, pixel_dtype(array));
}

NoData find_nodata(const zb_node *array) {
    const zb_dtype stored = zb_node_array(array)->dtype, shown = pixel_dtype(array);
    for (const char *name : {"_FillValue", "missing_value"}) {
        NoData nodata = with_sign(from_attribute(attribute(array, name), stored), stored, shown);
        if (nodata.kind == NoData::None)
            nodata = from_attribute(attribute(array, name), shown);
        if (nodata.kind != NoData::None)
            return nodata;
    }
    return by_fill_value(array);
}

bool fill_counts_as_nodata(const zb_node *array) {
    return by_fill_value(array).kind != NoData::None;
}

/* ---- Setting ---- */

NoData nodata_from_int64(int64_t value, zb_dtype dtype) {
    if (dtype.kind == ZB_KIND_INT && dtype.size == 8)
        return from_int64(value);
    if (dtype.kind == ZB_KIND_UINT && dtype.size == 8)
        return value < 0 ? NoData() : from_uint64(static_cast<uint64_t>(value));
    return nodata_from_double(static_cast<double>(value), dtype);
}

NoData nodata_from_uint64(uint64_t value, zb_dtype dtype) {
    if (dtype.kind == ZB_KIND_UINT && dtype.size == 8)
        return from_uint64(value);
    if (dtype.kind == ZB_KIND_INT && dtype.size == 8)
        return value > INT64_MAX ? NoData() : from_int64(static_cast<int64_t>(value));
    return nodata_from_double(static_cast<double>(value), dtype);
}

std::string nodata_json(const NoData &shown, const zb_node *array) {
    const zb_dtype dtype = zb_node_array(array)->dtype;
    const NoData nodata = with_sign(shown, pixel_dtype(array), dtype);
    if (nodata.kind == NoData::Int64)
        return std::to_string(nodata.as_int64);
    if (nodata.kind == NoData::UInt64)
        return std::to_string(nodata.as_uint64);
    if (is_integer(dtype))
        return std::to_string(static_cast<int64_t>(nodata.as_double)); /* 32 bits at most */
    unsigned char bytes[sizeof(double)];
    memcpy(bytes, &nodata.as_double, sizeof bytes);
    CPL_LSBPTR64(bytes);
    const GdalText text(CPLBase64Encode(sizeof bytes, bytes));
    return "\"" + std::string(text.get()) + "\"";
}

std::vector<unsigned char> nodata_element(const NoData &nodata, zb_dtype dtype) {
    std::vector<unsigned char> element(dtype.size);
    if (nodata.kind == NoData::Int64)
        memcpy(element.data(), &nodata.as_int64, element.size());
    else if (nodata.kind == NoData::UInt64)
        memcpy(element.data(), &nodata.as_uint64, element.size());
    else if (nodata.kind == NoData::Double)
        GDALCopyWords(&nodata.as_double, GDT_Float64, 0, element.data(), gdal_type(dtype), 0, 1);
    return element;
}

} // namespace zarr3
