/* SPDX-License-Identifier: MIT */
/* Zarr data types and GDAL's. */
#ifndef ZARR3_TYPES_H
#define ZARR3_TYPES_H

#include <string>

#include "base/compat.h"
#include "zarrbridge/zarrbridge.h"

namespace zarr3 {

/* GDT_Unknown for types that GDAL does not have (raw bytes). Structs of two integers that are a
   complex number (pairs.h) have one. */
GDALDataType gdal_type(zb_dtype dtype);

/* Why no raster has such elements; empty when one has. */
std::string without_type(zb_dtype dtype);

/* The form of a GDAL type's elements in memory; size 0 for types that the core does not convert
   to. */
zb_dtype memory_dtype(GDALDataType type);

/* True when the core's conversion of each value of `from` to `to` is exact, so that it cannot
   differ from GDAL's own, which rounds and clamps by other rules. */
bool converts_exactly(zb_dtype from, GDALDataType to);

/* How GDAL sees elements of a type that it does not have: times as counts in int64, numbers of few
   bits as float32 or 8-bit integers. Other types as they are. */
zb_dtype shown_dtype(zb_dtype stored);

/* True for a datetime or a timedelta. */
bool is_time(zb_dtype dtype);

/* The type that an array's pixels have: its own, with the sign that the attribute `_Unsigned` gives
   it (netCDF's way to keep unsigned integers in signed arrays). */
zb_dtype pixel_dtype(const zb_node *array);
GDALDataType pixel_type(const zb_node *array);

/* The type in which an array's attributes have values of its pixels: without the sign of
   `_Unsigned`. */
zb_dtype attribute_dtype(const zb_node *array);

/* For pixels of an array in memory of a GDAL type that is exact for them: what the core is to take
   that memory for. */
zb_dtype exchange_dtype(const zb_node *array, GDALDataType type);

/* True if the core converts between pixels and memory of the type with an exact result: as
   converts_exactly, but where `_Unsigned` gives another sign only without any conversion. */
bool reads_exactly(const zb_node *array, GDALDataType type);
bool writes_exactly(const zb_node *array, GDALDataType type);

} // namespace zarr3

#endif
