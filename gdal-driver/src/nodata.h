/* SPDX-License-Identifier: MIT */
/*
 * The nodata value. Zarr has a fill value (what chunks that were never written read as) and writers
 * add attributes of their own. The rule, the first that applies:
 *
 * 1. `_FillValue`: a number, a string "NaN" / "Infinity" / "-Infinity", or, as xarray writes it for
 *    floats, the base64 text of a little-endian double.
 * 2. `missing_value` in the same forms.
 * 3. The fill value, unless it is zero or was not stated: zero is what most writers put there
 *    without meaning anything. Where GDAL wrote the array (attribute `_CRS`), zero counts as well,
 *    because GDAL keeps its nodata value there.
 *
 * Values that the data type cannot hold are passed over. Booleans and complex numbers have none.
 */
#ifndef ZARR3_NODATA_H
#define ZARR3_NODATA_H

#include <cstdint>

#include "zarrbridge/zarrbridge.h"

namespace zarr3 {

struct NoData {
    enum Kind { None, Double, Int64, UInt64 } kind = None; /* the 64-bit types keep every digit */
    double as_double = 0;                                  /* nearest double, for any kind */
    int64_t as_int64 = 0;
    uint64_t as_uint64 = 0;
};

NoData find_nodata(const zb_node *array);

} // namespace zarr3

#endif
