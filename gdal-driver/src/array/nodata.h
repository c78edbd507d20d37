/* SPDX-License-Identifier: MIT */
/* The nodata value in GDAL's words. What it is says zarrbridge/conventions.h; of complex numbers,
   nodata.cpp. */
#ifndef ZARR3_NODATA_H
#define ZARR3_NODATA_H

#include <cstdint>
#include <string>
#include <vector>

#include "array/attribute_changes.h"
#include "zarrbridge/conventions.h"

namespace zarr3 {

struct NoData {
    enum Kind { None, Double, Int64, UInt64 } kind = None; /* the 64-bit types keep every digit */
    double as_double = 0;                                  /* nearest double, for any kind */
    int64_t as_int64 = 0;
    uint64_t as_uint64 = 0;
    /* As a pixel holds it, whichever its sign. Of a complex number as_double is the real part. */
    unsigned char element[2 * sizeof(double)] = {};
};

/* Of the multidimensional API: the element as it is. */
NoData find_raw_nodata(const zb_node *array);
/* Of a raster: what of it GDAL's one double can say. The imaginary part of a complex value is 0, or
   anything beside a NaN. */
NoData raster_nodata(const NoData &raw, const zb_node *array);

/* From what a program sets. None when no element of the type can have the value. */
NoData nodata_from_double(double value, zb_dtype dtype);
NoData nodata_from_int64(int64_t value, zb_dtype dtype);
NoData nodata_from_uint64(uint64_t value, zb_dtype dtype);

/* The value of the array's `_FillValue` as xarray writes it: a number of the stored type, for
   floats the base64 text of a double; of complex numbers the list of both parts. */
std::string nodata_json(const NoData &nodata, const zb_node *array);

/* An item of `_FillValues`, the list of nodata values of bands: in the form of nodata_json, or
   null. None where it is no value of the type. */
NoData band_nodata(const zb_json *item, const zb_node *array);

/* The attributes that say so, those that said something else included. None takes the value
   away. */
void change_nodata(const NoData &nodata, const zb_node *array, AttributeChanges *changes);

/* One element of the type, for a new array's fill value. */
std::vector<unsigned char> nodata_element(const NoData &nodata, zb_dtype dtype);

} // namespace zarr3

#endif
