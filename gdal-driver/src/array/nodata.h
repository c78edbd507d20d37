/* SPDX-License-Identifier: MIT */
/*
 * The nodata value. Zarr has a fill value (what chunks that were never written read as) and writers
 * add attributes of their own. The rule, the first that applies:
 *
 * 1. `_FillValue`: a number, a string "NaN" / "Infinity" / "-Infinity", or, as xarray writes it for
 *    floats, the base64 text of a little-endian double.
 * 2. `missing_value` in the same forms.
 * 3. The fill value, unless it is zero or was not stated: zero is what most writers put there
 *    without meaning anything. Where GDAL's own driver wrote the array (attribute `_CRS` without a
 *    `grid_mapping`, which that driver never writes and we always do), zero counts as well, because
 *    it keeps its nodata value there.
 *
 * Values that the data type cannot hold are passed over. Booleans and complex numbers have none.
 * Where `_Unsigned` gives pixels another sign than the stored type has, values are of the stored
 * type, as CF asks, and shown as pixels are; one that only the pixels' type holds is taken as well.
 */
#ifndef ZARR3_NODATA_H
#define ZARR3_NODATA_H

#include <cstdint>
#include <string>
#include <vector>

#include "zarrbridge/zarrbridge.h"

namespace zarr3 {

struct NoData {
    enum Kind { None, Double, Int64, UInt64 } kind = None; /* the 64-bit types keep every digit */
    double as_double = 0;                                  /* nearest double, for any kind */
    int64_t as_int64 = 0;
    uint64_t as_uint64 = 0;
};

NoData find_nodata(const zb_node *array);

/* From what a program sets. None when no element of the type can have the value. */
NoData nodata_from_double(double value, zb_dtype dtype);
NoData nodata_from_int64(int64_t value, zb_dtype dtype);
NoData nodata_from_uint64(uint64_t value, zb_dtype dtype);

/* The value of the array's `_FillValue` as xarray writes it: a number of the stored type, for
   floats the base64 text of a double. */
std::string nodata_json(const NoData &nodata, const zb_node *array);

/* One element of the type, for a new array's fill value. */
std::vector<unsigned char> nodata_element(const NoData &nodata, zb_dtype dtype);

/* True if the array's fill value is its nodata value where `_FillValue` and `missing_value` say
   nothing. */
bool fill_counts_as_nodata(const zb_node *array);

/* Attribute of an array; false takes the last of the rules away. The fill value of an array cannot
   be changed, so that this is how nodata that comes from it is unset. */
extern const char *const kFillIsNoData;

} // namespace zarr3

#endif
