/* SPDX-License-Identifier: MIT */
#include "geo/geolocation.h"

#include "array/attributes.h"
#include "array/dimension_names.h"
#include "array/types.h"
#include "raster/axes.h"

namespace zarr3 {

/* True if the array has a value for each pixel of a band. */
static bool fits(const zb_node *node, const zb_node *array, const Layout &layout) {
    const zb_array_info *info = zb_node_array(node), *of = zb_node_array(array);
    if (info->ndim != 2 || pixel_type(node) == GDT_Unknown)
        return false;
    const int axes[] = {layout.axes.y, layout.axes.x};
    for (uint32_t d = 0; d < 2; d++) {
        const std::string name = dimension_name(info, d);
        const uint32_t dim = static_cast<uint32_t>(axes[d]);
        if (info->shape[d] != of->shape[dim] || name.empty() || name != dimension_name(of, dim))
            return false;
    }
    return true;
}

/* 'X' for longitudes, 'Y' for latitudes; 0 for others, planar coordinates among them. */
static char kind_of(const zb_node *node) {
    const std::string name = attribute_text(node, "standard_name");
    const std::string units = attribute_text(node, "units");
    if (name == "longitude" || name == "latitude")
        return name == "longitude" ? 'X' : 'Y';
    const char axis = horizontal_axis(node, false);
    return name.empty() && units.compare(0, 6, "degree") == 0 ? axis : static_cast<char>(0);
}

std::optional<Geolocation> find_geolocation(const zb_node *array, const Layout &layout,
                                            NearbyNodes &around) {
    Geolocation found;
    if (layout.axes.y < 0)
        return std::nullopt;
    for (const zb_node *said : {array, around.group_above(1)}) {
        for (const std::string &word : words(attribute_text(said, "coordinates"))) {
            const NodePtr node = around.find_array(word);
            const char kind =
                node != nullptr && fits(node.get(), array, layout) ? kind_of(node.get()) : '\0';
            if (kind == 'X' && found.longitude.empty())
                found.longitude = zb_node_path(node.get());
            else if (kind == 'Y' && found.latitude.empty())
                found.latitude = zb_node_path(node.get());
        }
    }
    if (found.longitude.empty() || found.latitude.empty())
        return std::nullopt;
    return found;
}

} // namespace zarr3
