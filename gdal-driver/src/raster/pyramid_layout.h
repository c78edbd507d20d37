/* SPDX-License-Identifier: MIT */
/* Writing the list of a pyramid's levels: the convention "multiscales", on a group, as the core
   words it (zarrbridge/multiscales.h). */
#ifndef ZARR3_PYRAMID_LAYOUT_H
#define ZARR3_PYRAMID_LAYOUT_H

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "array/attribute_changes.h"

namespace zarr3 {

/* What the list says of a level. */
struct LayoutEntry {
    std::string asset;         /* relative to the group */
    std::string derived_from;  /* the asset of the finest level; "" for that itself */
    std::string method;        /* of resampling; "": as the list says so far */
    std::vector<double> scale; /* along each dimension of the array, relative to the finest level */
    int width = 0, height = 0;
    std::optional<std::array<double, 6>> transform; /* [a, b, c, d, e, f] */
};

/* zb_level_list_put. */
void put_into_layout(const zb_node *group, const std::vector<LayoutEntry> &entries,
                     AttributeChanges *changes);

} // namespace zarr3

#endif
