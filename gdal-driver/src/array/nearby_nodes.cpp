/* SPDX-License-Identifier: MIT */
/*
 * Absent nodes are remembered like present ones: the same few names ("spatial_ref", "crs", the
 * names of the dimensions) are asked for by several parts of the driver, and each miss would be
 * requests to a server where the store is remote. There the core remembers for all arrays of a
 * store (open_nearby).
 */
#include "array/nearby_nodes.h"

#include <algorithm>
#include <exception>

#include "zarrbridge/conventions.h"

namespace zarr3 {

NearbyNodes::NearbyNodes(const zb_node *node)
    : store_(zb_hierarchy_retain(zb_node_hierarchy(node)), zb_hierarchy_release),
      path_(zb_node_path(node)) {
}

void NearbyNodes::remember(const NodePtr &group) {
    opened_[zb_node_path(group.get())] = group;
}

NodePtr NearbyNodes::at(const std::string &path) {
    const auto known = opened_.find(path);
    if (known != opened_.end())
        return known->second;
    NodePtr node = open_nearby(store_.get(), path, nullptr);
    opened_[path] = node;
    return node;
}

const zb_node *NearbyNodes::at_for_core(void *self, const char *path) noexcept {
    try {
        return static_cast<NearbyNodes *>(self)->at(path).get(); /* opened_ keeps it */
    } catch (const std::exception &) {
        return nullptr;
    }
}

const zb_node *NearbyNodes::group_above(unsigned steps) {
    std::string path = path_;
    for (; steps > 0; steps--) {
        if (path.empty())
            return nullptr;
        path = parent_path(path);
    }
    const NodePtr node = at(path);
    return node != nullptr && zb_node_array(node.get()) == nullptr ? node.get() : nullptr;
}

/* Of the group `level` steps above the array's own. Null for a group of that name. */
NodePtr NearbyNodes::array_in(unsigned level, const std::string &name) {
    std::string group = parent_path(path_);
    for (; level > 0; level--)
        group = parent_path(group);
    NodePtr node = at(join_path(group, name));
    return node != nullptr && zb_node_array(node.get()) != nullptr ? node : nullptr;
}

/* How many groups an array at the path is in. */
static unsigned levels_above(const std::string &path) {
    return path.empty() ? 0 : 1 + static_cast<unsigned>(std::count(path.begin(), path.end(), '/'));
}

NodePtr NearbyNodes::find_array(const std::string &name) {
    if (!is_child_name(name))
        return nullptr;
    for (unsigned level = 0; level < levels_above(path_); level++) {
        NodePtr node = array_in(level, name);
        if (node != nullptr && zb_node_path(node.get()) != path_)
            return node;
    }
    return nullptr;
}

NodePtr NearbyNodes::find_coordinate(const zb_array_info *info, uint32_t dim) {
    const auto info_at = [](void *self, unsigned level,
                            const char *name) noexcept -> const zb_array_info * {
        try {
            const NodePtr node = static_cast<NearbyNodes *>(self)->array_in(level, name);
            return node == nullptr ? nullptr : zb_node_array(node.get()); /* opened_ keeps it */
        } catch (const std::exception &) { /* which C functions do not let through */
            return nullptr;
        }
    };
    const zb_surroundings around = {levels_above(path_), info_at, this};
    const int level = zb_coordinate_find(info, dim, &around);
    return level < 0 ? nullptr : array_in(static_cast<unsigned>(level), info->dimension_names[dim]);
}

} // namespace zarr3
