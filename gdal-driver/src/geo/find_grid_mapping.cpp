/* SPDX-License-Identifier: MIT */
#include "geo/find_grid_mapping.h"

#include <algorithm>
#include <iterator>

#include "array/attributes.h"

namespace zarr3 {

/* A variable that only happens to be called "crs" is not meant. */
static bool has_definition(const zb_node *node) {
    return attribute(node, "crs_wkt") != nullptr || attribute(node, "spatial_ref") != nullptr ||
           attribute(node, "grid_mapping_name") != nullptr;
}

bool is_grid_mapping(const zb_node *node) {
    const zb_array_info *info = zb_node_array(node);
    const bool is_scalar =
        info != nullptr && (info->ndim == 0 || (info->ndim == 1 && info->shape[0] == 1));
    return is_scalar && has_definition(node);
}

static constexpr const char *kUsualMappings[] = {"spatial_ref", "crs"};

NodePtr find_usual_grid_mapping(NearbyNodes &around) {
    for (const char *usual : kUsualMappings) {
        NodePtr node = around.find_array(usual);
        if (has_definition(node.get()))
            return node;
    }
    return nullptr;
}

static bool takes_usual_grid_mapping(const zb_node *array) {
    return zb_node_array(array)->ndim >= 2 && zb_gdal_flag(array, ZB_GDAL_HAS_CRS, true);
}

NodePtr find_grid_mapping(const zb_node *array, NearbyNodes &around) {
    /* The extended form is "crs: x y"; the first name is the one for the array's own axes. */
    const std::vector<std::string> named = words(attribute_text(array, "grid_mapping"));
    if (!named.empty())
        return around.find_array(named[0].substr(0, named[0].find(':')));
    return takes_usual_grid_mapping(array) ? find_usual_grid_mapping(around) : nullptr;
}

bool has_usual_grid_mapping(NearbyNodes &around) {
    return std::any_of(std::begin(kUsualMappings), std::end(kUsualMappings),
                       [&](const char *usual) { return around.find_array(usual) != nullptr; });
}

} // namespace zarr3
