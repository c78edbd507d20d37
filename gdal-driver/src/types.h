/* SPDX-License-Identifier: MIT */
/* Zarr data types and GDAL's. */
#ifndef ZARR3_TYPES_H
#define ZARR3_TYPES_H

#include "compat.h"
#include "zarrbridge/zarrbridge.h"

namespace zarr3 {

/* GDT_Unknown for types that GDAL does not have (raw bytes). */
GDALDataType gdal_type(zb_dtype dtype);

/* How elements of a GDAL type lie in memory; size 0 for types that the core does not convert to. */
zb_dtype memory_dtype(GDALDataType type);

/* True when the core's conversion of each value of `from` to `to` is exact, so that it cannot
   differ from GDAL's own, which rounds and clamps by other rules. */
bool converts_exactly(zb_dtype from, GDALDataType to);

} // namespace zarr3

#endif
