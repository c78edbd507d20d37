/* SPDX-License-Identifier: MIT */
/*
 * Absent nodes are remembered like present ones: the same few names ("spatial_ref", "crs", the
 * names of the dimensions) are asked for by several parts of the driver, and each miss would be a
 * request to a server where the store is remote.
 */
#include "array/nearby_nodes.h"

namespace zarr3 {

NearbyNodes::NearbyNodes(const zb_node *node)
    : store_(zb_store_retain(zb_node_store(node)), zb_store_release), path_(zb_node_path(node)) {
}

NodePtr NearbyNodes::at(const std::string &path) {
    const auto known = opened_.find(path);
    if (known != opened_.end())
        return known->second;
    NodePtr node = open_node(store_.get(), path, nullptr);
    opened_[path] = node;
    return node;
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

NodePtr NearbyNodes::find_array(const std::string &name) {
    if (name.empty() || name.find('/') != std::string::npos || path_.empty())
        return nullptr;
    for (std::string group = path_; !group.empty();) {
        group = parent_path(group);
        const std::string path = join_path(group, name);
        if (path == path_)
            continue;
        NodePtr node = at(path);
        if (node != nullptr && zb_node_array(node.get()) != nullptr)
            return node;
    }
    return nullptr;
}

} // namespace zarr3
