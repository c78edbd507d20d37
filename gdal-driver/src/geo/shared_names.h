/* SPDX-License-Identifier: MIT */
/* One more array in a hierarchy that has some: which names are its own. */
#ifndef ZARR3_SHARED_NAMES_H
#define ZARR3_SHARED_NAMES_H

#include <string>
#include <vector>

#include "array/new_array.h"
#include "geo/georeference.h"

namespace zarr3 {

/* The names of a new array's dimensions, as far as they can be known while it lies where
   `georeference` says. A dimension has the usual name ("x") where that gives the array the place
   that it has by itself: no other array of the group uses it, or all do for the same coordinates,
   and none come down from groups above. Else it has a name of its own ("<array>_x"). */
enum zb_code name_dimensions(zb_hierarchy *hierarchy, const std::string &array_path,
                             const Georeference &georeference, NewArray *plan, zb_error *err);

/* The paths of the arrays that describe an array alone and have a name that holds its name: its
   coordinates and its grid mapping, as they are written beside an appended array. */
std::vector<std::string> helpers_of(const zb_node *array);

/* Removes those of `helpers` (paths) that are there and serve no other array of the group. */
void remove_helpers(zb_hierarchy *hierarchy, const std::string &array_path,
                    const std::vector<std::string> &helpers);

} // namespace zarr3

#endif
