/* SPDX-License-Identifier: MIT */
/* The names of an array's dimensions. */
#ifndef ZARR3_DIMENSION_NAMES_H
#define ZARR3_DIMENSION_NAMES_H

#include <string>

#include "zarrbridge/zarrbridge.h"

namespace zarr3 {

/* The dimension's name, or "" when it has none. */
std::string dimension_name(const zb_array_info *info, uint32_t dim);

/* True if the node is an array that has a dimension of the name. Takes NULL. */
bool has_dimension(const zb_node *node, const std::string &name);

/* The name without the array's own in front ("tas_x" of the array "tas"), which dimensions have
   that no other array of the group may have to do with. */
std::string usual_name(const std::string &name, const std::string &array);

/* Its name, or "dimN" where it has none: for display. */
std::string dimension_label(const zb_array_info *info, uint32_t dim);

} // namespace zarr3

#endif
