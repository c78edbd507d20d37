/* SPDX-License-Identifier: MIT */
/*
 * Image pyramids: a group says which of its children are one image at several resolutions. Read are
 * the Zarr convention "multiscales" (known by its UUID; an asset is an array, or a group that holds
 * arrays of the same names), OME-NGFF 0.5 (`attributes.ome`) and ndpyramid's list (`multiscales`,
 * of groups). Products of ESA's EOPF say it by the names of groups.
 */
#ifndef ZARR3_PYRAMID_H
#define ZARR3_PYRAMID_H

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "array/nearby_nodes.h"

namespace zarr3 {

/* Steps from an array up to a group that may describe it: asset/variable and one group between. */
constexpr unsigned kPyramidReach = 3;

struct Pyramid {
    std::vector<std::string> levels; /* paths of the arrays, as listed (finest first) */
    std::string group;               /* the path of the group that says so */
    size_t self = 0;                 /* the place of the array itself among them */
    bool of_groups = false; /* the convention's list has the array's group, not the array */
    std::vector<std::string> ome_axes; /* names of the axes; empty unless OME-NGFF */
    /* Of the array's own entry: `spatial:transform`, [a, b, c, d, e, f], and
     * `spatial:registration`.
     */
    std::optional<std::array<double, 6>> transform;
    std::string registration;
    std::vector<double> shape; /* likewise `spatial:shape`, rows and columns; or empty */

    bool empty() const {
        return levels.empty();
    }
};

/* The pyramids of a group, each with its assets relative to the group, finest first. A list of the
   convention is one pyramid; but where its entries form two or more families by `derived_from`,
   each family is one. */
std::vector<std::vector<std::string>> group_pyramids(const zb_node *group, NearbyNodes &around);

/* The pyramid that the array is a level of, by what the groups above it say. None for arrays of
   fewer dimensions, such as the coordinates of levels. */
Pyramid find_pyramid(const zb_node *array, NearbyNodes &around, uint32_t fewest_dimensions = 2);

/* False for an array that cannot be the finest one at a lower resolution: what has fewer elements
   has them by one factor along all dimensions, or by whole ones. Other programs round up or down,
   from level to level, so that it may be two off. */
bool may_be_level(const zb_array_info *finest, const zb_array_info *level);

/* True if the list was made when the array had other rows and columns: then its levels are of the
   past. */
bool is_of_other_shape(const Pyramid &pyramid, int width, int height);

} // namespace zarr3

#endif
