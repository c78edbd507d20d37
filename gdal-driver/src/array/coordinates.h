/* SPDX-License-Identifier: MIT */
/* One-dimensional coordinate arrays: their values, and the regular grid that they may describe. */
#ifndef ZARR3_COORDINATES_H
#define ZARR3_COORDINATES_H

#include <optional>
#include <string>
#include <vector>

#include "array/nearby_nodes.h"

namespace zarr3 {

/* The coordinate of an array's dimension, when its values are real numbers. Null when there is
   none. */
NodePtr find_coordinate(const zb_node *array, uint32_t dim, NearbyNodes &around);

/* The coordinate of an array's dimension, when it is text: of any length or a fixed one, or bytes.
   Null when there is none. */
NodePtr find_labels(const zb_node *array, uint32_t dim, NearbyNodes &around);

/* The index-th text of it. Bytes that are not UTF-8 are taken for Latin-1, as everywhere here.
   Nothing, with *err set, when it cannot be read, and when it holds a NUL, which GDAL's texts
   cannot. */
std::optional<std::string> read_label(const zb_node *labels, uint64_t index, zb_error *err);

/* `count` of its values from the first-th on, with the sign that `_Unsigned` says, unpacked by
   scale_factor and add_offset. Empty on failure, with *err set. */
std::vector<double> read_coordinate(const zb_node *coordinate, uint64_t first, uint64_t count,
                                    zb_error *err);

/* All numbers of an array, of which there are `count`. Likewise. */
std::vector<double> read_numbers(const zb_node *array, uint64_t count, zb_error *err);

/* The first and the last of them, or the only one. Likewise. */
std::vector<double> read_coordinate_ends(const zb_node *coordinate, zb_error *err);

/* Creates the coordinates of the dimension that is called like the last part of the path, with
   attributes (JSON). NULL for values: a scalar without meaning, which only carries them. */
enum zb_code create_coordinate(zb_hierarchy *hierarchy, const std::string &path,
                               const std::vector<double> *values, const std::string &attributes,
                               zb_error *err);

/* Centre of the first cell, and the distance from each cell to the next. */
struct Spacing {
    double first;
    double step;
};

/* The spacing when it is the same everywhere, within what the coordinate's type can express.
   One value alone has none. */
std::optional<Spacing> regular_spacing(const std::vector<double> &values, zb_dtype dtype);

} // namespace zarr3

#endif
