/* SPDX-License-Identifier: MIT */
/* Arrays in the groups below a group, which look upwards for what is in it. */
#ifndef ZARR3_USES_BELOW_H
#define ZARR3_USES_BELOW_H

#include <functional>
#include <string>

#include "array/nearby_nodes.h"

namespace zarr3 {

using ArrayTest = std::function<bool(const zb_node *array)>;

/* True if an array in the group, or in a group below, passes the test. What cannot be opened, or
   lies too deep to be looked at, passes any. */
bool any_array_below(const zb_node *group, const ArrayTest &passes);

/* True if the array takes the node at `path`, or would take one of `length` elements there, for the
   coordinate of a dimension. */
bool takes_coordinate(const zb_node *array, const std::string &path, uint64_t length);

/* True if the array takes the node at `path`, or would take one there, for its grid mapping. */
bool takes_grid_mapping(const zb_node *array, const std::string &path);

} // namespace zarr3

#endif
