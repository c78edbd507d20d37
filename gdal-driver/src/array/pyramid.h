/* SPDX-License-Identifier: MIT */
/* Pyramids: the rasters at several resolutions that groups tell of, as the core finds them
   (zarrbridge/multiscales.h). */
#ifndef ZARR3_PYRAMID_H
#define ZARR3_PYRAMID_H

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "array/nearby_nodes.h"

namespace zarr3 {

std::vector<std::string> strings_of(const zb_strings &strings);

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

/* Texts for calls of the core; borrowed. */
class StringsView : public zb_strings {
  public:
    explicit StringsView(const std::vector<std::string> &strings);
    StringsView(const StringsView &) = delete;
    StringsView &operator=(const StringsView &) = delete;

  private:
    std::vector<char *> texts_;
};

/* The same for calls of the core; borrowed from the pyramid. */
class PyramidView : public zb_pyramid {
  public:
    explicit PyramidView(const Pyramid &pyramid);
    PyramidView(const PyramidView &) = delete;
    PyramidView &operator=(const PyramidView &) = delete;

  private:
    StringsView levels_, axes_;
};

/* zb_group_pyramids. */
std::vector<std::vector<std::string>> group_pyramids(const zb_node *group, NearbyNodes &around);

/* zb_pyramid_find. */
Pyramid find_pyramid(const zb_node *array, NearbyNodes &around, uint32_t fewest_dimensions = 2);

/* zb_array_may_be_level. */
bool may_be_level(const zb_array_info *finest, const zb_array_info *level);

/* True if the list was made when the array had other rows and columns: then its levels are of the
   past. */
bool is_of_other_shape(const Pyramid &pyramid, int width, int height);

} // namespace zarr3

#endif
