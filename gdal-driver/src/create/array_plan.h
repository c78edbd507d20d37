/* SPDX-License-Identifier: MIT */
/* The array that a raster becomes: dimensions, blocks (inner chunks), shards. */
#ifndef ZARR3_ARRAY_PLAN_H
#define ZARR3_ARRAY_PLAN_H

#include "array/new_array.h"
#include "options/creation_options.h"

namespace zarr3 {

struct RasterShape {
    int width, height, bands;
    GDALDataType type;
};

/* False, with *reason set, when the raster has no Zarr form or the options do not fit it. */
bool plan_array(const RasterShape &raster, const CreationOptions &options, NewArray *array,
                std::string *reason);

} // namespace zarr3

#endif
