/* SPDX-License-Identifier: MIT */
/*
 * What a group says of the place of its rasters. Each raster says it of itself, and readers go by
 * that. But programs that ask a group alone (validators, catalogues, tile servers) open no arrays;
 * for them the group repeats it, as long as it is the same for all of its rasters.
 */
#ifndef ZARR3_GROUP_PLACE_H
#define ZARR3_GROUP_PLACE_H

#include <functional>

#include "store/node.h"

namespace zarr3 {

/* To be called after the place of an array in the group has changed, or an array has gone or come.
   A group that repeats places says what now is the same for all of its rasters. No other group
   changes, but that one which `is_new`: made by this driver, for this array. Where the group leads
   a pyramid of the group above, that one is meant, too. */
enum zb_code repeat_place(zb_hierarchy *hierarchy, const std::string &group, bool is_new,
                          zb_error *err);

/* Runs `add`, which puts another raster into the group. Nothing is known of that yet, so before it
   the group stops repeating a place; what it said comes back if `add` fails. */
enum zb_code add_raster(zb_hierarchy *hierarchy, const std::string &group,
                        const std::function<enum zb_code()> &add, zb_error *err);

} // namespace zarr3

#endif
