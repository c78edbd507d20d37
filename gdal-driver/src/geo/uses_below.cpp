/* SPDX-License-Identifier: MIT */
#include "geo/uses_below.h"

#include "array/attributes.h"
#include "array/dimension_names.h"
#include "geo/find_grid_mapping.h"

namespace zarr3 {

/* A hierarchy may nest and branch without end. */
static constexpr unsigned kMaxDepth = 16;
static constexpr size_t kMaxNodes = 10000;

static bool any_below(const zb_node *group, const ArrayTest &passes, unsigned depth, size_t *seen) {
    Children children;
    if (depth >= kMaxDepth || children.list(group, nullptr) != ZB_OK)
        return true;
    for (const zb_child &child : children) {
        const bool is_group = child.node != nullptr && zb_node_array(child.node) == nullptr;
        if (child.node == nullptr || ++*seen > kMaxNodes ||
            (is_group ? any_below(child.node, passes, depth + 1, seen) : passes(child.node)))
            return true;
    }
    return false;
}

bool any_array_below(const zb_node *group, const ArrayTest &passes) {
    size_t seen = 0;
    return any_below(group, passes, 0, &seen);
}

bool takes_coordinate(const zb_node *array, const std::string &path, uint64_t length) {
    const zb_array_info *info = zb_node_array(array);
    NearbyNodes around(array);
    for (uint32_t dim = 0; dim < info->ndim; dim++) {
        if (dimension_name(info, dim) != last_part(path))
            continue;
        const NodePtr found = around.find_coordinate(info, dim);
        if (found == nullptr ? info->shape[dim] == length : path == zb_node_path(found.get()))
            return true;
    }
    return false;
}

bool takes_grid_mapping(const zb_node *array, const std::string &path) {
    NearbyNodes around(array);
    const NodePtr usual = find_grid_mapping(array, around);
    if (usual != nullptr && path == zb_node_path(usual.get()))
        return true;
    for (const std::string &word : words(attribute_text(array, "grid_mapping"))) {
        const std::string name = word.substr(0, word.find(':'));
        const NodePtr found = around.find_array(name);
        if (name == last_part(path) && (found == nullptr || path == zb_node_path(found.get())))
            return true;
    }
    return false;
}

} // namespace zarr3
