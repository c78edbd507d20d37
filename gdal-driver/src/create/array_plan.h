/* SPDX-License-Identifier: MIT */
/* The array that a raster becomes: dimensions, blocks (inner chunks), shards. */
#ifndef ZARR3_ARRAY_PLAN_H
#define ZARR3_ARRAY_PLAN_H

#include "array/new_array.h"
#include "options/creation_options.h"
#include "zarrbridge/conventions.h"

namespace zarr3 {

struct RasterShape {
    int width, height, bands;
    GDALDataType type;
};

/* False, with *reason set, when the raster has no Zarr form or the options do not fit it. */
bool plan_array(const RasterShape &raster, const CreationOptions &options, NewArray *array,
                std::string *reason);

/* The form that holds for all arrays: codecs and keys of chunks. Its shape and type are set. */
void plan_form(const CreationOptions &options, NewArray *array);

/* Blocks and shards of an array whose shape and type are set: by the options, as far as they say;
   else by the roles of its dimensions. Two extents in an option are those of a plane; along other
   dimensions a block then has `depth` elements. False, with *reason set, likewise. */
bool plan_chunks(const CreationOptions &options, const std::vector<enum zb_role> &roles,
                 uint64_t depth, NewArray *array, std::string *reason);

} // namespace zarr3

#endif
