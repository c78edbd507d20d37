/* SPDX-License-Identifier: MIT */
#include "array/nodata.h"

#include <cstring>

#include "array/types.h"
#include "base/handles.h"

namespace zarr3 {

/* GDAL asks for 64-bit integers by calls of their own. */
static NoData of_element(const unsigned char *element, zb_dtype dtype) {
    NoData nodata;
    nodata.kind = NoData::Double;
    if (dtype.size == 8 && dtype.kind != ZB_KIND_FLOAT)
        nodata.kind = dtype.kind == ZB_KIND_INT ? NoData::Int64 : NoData::UInt64;
    nodata.as_double = zb_element_to_double(element, dtype);
    memcpy(nodata.element, element, dtype.size);
    memcpy(&nodata.as_int64, nodata.element, sizeof nodata.as_int64);
    memcpy(&nodata.as_uint64, nodata.element, sizeof nodata.as_uint64);
    return nodata;
}

/* No time (NaT) is nodata. */
NoData find_nodata(const zb_node *array) {
    unsigned char element[sizeof(uint64_t)];
    const zb_dtype shown = pixel_dtype(array);
    if (zb_array_nodata(array, shown, element))
        return of_element(element, shown);
    return is_time(zb_node_array(array)->dtype) ? nodata_from_int64(INT64_MIN, shown) : NoData();
}

/* ---- Setting ---- */

NoData nodata_from_double(double value, zb_dtype dtype) {
    unsigned char element[sizeof(uint64_t)];
    return zb_element_from_double(value, dtype, element) ? of_element(element, dtype) : NoData();
}

NoData nodata_from_int64(int64_t value, zb_dtype dtype) {
    unsigned char element[sizeof(uint64_t)];
    return zb_element_from_int64(value, dtype, element) ? of_element(element, dtype) : NoData();
}

NoData nodata_from_uint64(uint64_t value, zb_dtype dtype) {
    unsigned char element[sizeof(uint64_t)];
    return zb_element_from_uint64(value, dtype, element) ? of_element(element, dtype) : NoData();
}

/* Where `_Unsigned` gives pixels another sign, the stored type's is written. */
std::string nodata_json(const NoData &nodata, const zb_node *array) {
    const CoreText text(zb_fill_attribute_print(nodata.element, attribute_dtype(array)));
    return text == nullptr ? "null" : text.get();
}

void change_nodata(const NoData &nodata, const zb_node *array, AttributeChanges *changes) {
    changes->remove("missing_value");
    if (nodata.kind == NoData::None) {
        changes->remove("_FillValue");
        if (zb_array_fill_is_nodata(array))
            changes->set(ZB_FILL_IS_NODATA, "false");
    } else {
        changes->set("_FillValue", nodata_json(nodata, array));
        changes->remove(ZB_FILL_IS_NODATA);
    }
}

std::vector<unsigned char> nodata_element(const NoData &nodata, zb_dtype dtype) {
    std::vector<unsigned char> element(dtype.size);
    if (nodata.kind != NoData::None)
        memcpy(element.data(), nodata.element, element.size());
    return element;
}

} // namespace zarr3
