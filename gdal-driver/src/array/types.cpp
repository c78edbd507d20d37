/* SPDX-License-Identifier: MIT */
/*
 * The conversion rules matter where the core could write into the caller's buffer. Its conversions
 * clamp and turn NaN into 0, as HDF5 wants it; GDAL's round, and treat NaN and overflow in ways of
 * their own. Only conversions that lose nothing are left to the core: there is only one right
 * result.
 */
#include "array/types.h"

#include "array/attributes.h"
#include "array/pairs.h"
#include "cpl_port.h"
#include "zarrbridge/conventions.h"

namespace zarr3 {

/* GDAL has no boolean type; 0 and 1 as bytes is what its own drivers make of one. */
GDALDataType gdal_type(zb_dtype dtype) {
    static constexpr GDALDataType kInt[] = {GDT_Int8, GDT_Int16, GDT_Int32, GDT_Int64};
    static constexpr GDALDataType kUint[] = {GDT_Byte, GDT_UInt16, GDT_UInt32, GDT_UInt64};
    const int width = dtype.size == 1 ? 0 : dtype.size == 2 ? 1 : dtype.size == 4 ? 2 : 3;
    switch (dtype.kind) {
    case ZB_KIND_BOOL:
        return GDT_Byte;
    case ZB_KIND_INT:
        return kInt[width];
    case ZB_KIND_UINT:
        return kUint[width];
    case ZB_KIND_FLOAT:
        return dtype.size == 2 ? kFloat16 : dtype.size == 4 ? GDT_Float32 : GDT_Float64;
    case ZB_KIND_COMPLEX:
        return dtype.size == 4 ? kCFloat16 : dtype.size == 8 ? GDT_CFloat32 : GDT_CFloat64;
    case ZB_KIND_STRUCT:
        return pair_type(dtype);
    default: /* no pixels; some kinds are shown as one of the above (zb_dtype_shown) */
        return GDT_Unknown;
    }
}

std::string without_type(zb_dtype dtype) {
    char name[200];
    if (dtype.kind == ZB_KIND_STRING || dtype.kind == ZB_KIND_CHARS || dtype.kind == ZB_KIND_UTF32)
        return std::string("its elements are text (") + zb_dtype_print(dtype, name, sizeof name) +
               "), of which GDAL makes no bands";
    return gdal_type(shown_dtype(dtype)) == GDT_Unknown
               ? std::string("GDAL has no type for ") + zb_dtype_print(dtype, name, sizeof name)
               : std::string();
}

zb_dtype memory_dtype(GDALDataType type) {
    zb_dtype dtype = {ZB_KIND_RAW, 0, false, nullptr};
    if (type == GDT_CInt16 || type == GDT_CInt32)
        return new_pair(type);
    if (type == GDT_Unknown)
        return dtype;
    dtype.size = static_cast<uint32_t>(GDALGetDataTypeSizeBytes(type));
    if (GDALDataTypeIsComplex(type)) {
        dtype.kind = ZB_KIND_COMPLEX;
    } else if (GDALDataTypeIsFloating(type)) {
        dtype.kind = ZB_KIND_FLOAT;
    } else {
        dtype.kind = GDALDataTypeIsSigned(type) ? ZB_KIND_INT : ZB_KIND_UINT;
    }
    return dtype;
}

/* Value bits: of an integer those besides its sign, of a float those of its significand. */
static uint32_t value_bits(zb_dtype dtype) {
    const uint32_t bits = dtype.size * 8;
    switch (dtype.kind) {
    case ZB_KIND_BOOL:
        return 1;
    case ZB_KIND_INT:
        return bits - 1;
    case ZB_KIND_FLOAT:
        return dtype.size == 2 ? 11 : dtype.size == 4 ? 24 : 53;
    default:
        return bits;
    }
}

/* Within one kind the wider type holds all values; between integers and floats it needs as many
   value bits, and unsigned types never hold signed ones. */
bool converts_exactly(zb_dtype from, GDALDataType to) {
    const zb_dtype target = memory_dtype(to);
    if (target.size == 0 || !zb_dtype_converts(from, target))
        return false;
    if (from.kind == target.kind)
        return from.size <= target.size;
    const bool from_is_integer =
        from.kind == ZB_KIND_BOOL || from.kind == ZB_KIND_UINT || from.kind == ZB_KIND_INT;
    if (!from_is_integer || target.kind == ZB_KIND_COMPLEX)
        return false;
    if (from.kind == ZB_KIND_INT && target.kind == ZB_KIND_UINT)
        return false;
    return value_bits(from) <= value_bits(target);
}

/* ---- Signs ---- */

static bool is_integer(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_INT || dtype.kind == ZB_KIND_UINT;
}

bool is_time(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_DATETIME || dtype.kind == ZB_KIND_TIMEDELTA;
}

zb_dtype shown_dtype(zb_dtype stored) {
    return stored.kind == ZB_KIND_STRUCT ? pair_in_memory(stored) : zb_dtype_shown(stored);
}

zb_dtype attribute_dtype(const zb_node *array) {
    return shown_dtype(zb_node_array(array)->dtype);
}

zb_dtype pixel_dtype(const zb_node *array) {
    zb_dtype dtype = attribute_dtype(array);
    const std::string said = attribute_text(array, "_Unsigned");
    const bool has_sign = is_integer(zb_node_array(array)->dtype);
    if (has_sign && EQUAL(said.c_str(), "true"))
        dtype.kind = ZB_KIND_UINT;
    else if (has_sign && EQUAL(said.c_str(), "false"))
        dtype.kind = ZB_KIND_INT;
    return dtype;
}

GDALDataType pixel_type(const zb_node *array) {
    return gdal_type(pixel_dtype(array));
}

static bool has_other_sign(const zb_node *array) {
    return pixel_dtype(array).kind != attribute_dtype(array).kind;
}

/* Elements that the core hands out in their own type and in no other. */
static bool is_fixed(const zb_node *array) {
    const zb_dtype stored = zb_node_array(array)->dtype;
    return has_other_sign(array) || is_time(stored) || stored.kind == ZB_KIND_STRUCT;
}

/* The core passes elements of its own type unchanged, whatever their bits mean to us. Fields are
   found by the names that the array has. */
zb_dtype exchange_dtype(const zb_node *array, GDALDataType type) {
    const zb_dtype stored = zb_node_array(array)->dtype;
    if (stored.kind == ZB_KIND_STRUCT)
        return pair_in_memory(stored);
    return has_other_sign(array) ? stored : memory_dtype(type);
}

bool reads_exactly(const zb_node *array, GDALDataType type) {
    return is_fixed(array) ? type == pixel_type(array)
                           : converts_exactly(attribute_dtype(array), type);
}

bool writes_exactly(const zb_node *array, GDALDataType type) {
    return is_fixed(array) ? type == pixel_type(array)
                           : converts_exactly(memory_dtype(type), pixel_type(array));
}

} // namespace zarr3
