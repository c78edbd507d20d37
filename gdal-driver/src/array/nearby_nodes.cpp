/* SPDX-License-Identifier: MIT */
/*
 * Absent nodes are remembered like present ones: the same few names ("spatial_ref", "crs", the
 * names of the dimensions) are asked for by several parts of the driver, and each miss would be
 * requests to a server where the store is remote. There the first miss in a group asks for all of
 * its names, since others are likely to be missed as well.
 */
#include "array/nearby_nodes.h"

#include <algorithm>

#include "zarrbridge/conventions.h"
#include "zarrbridge/sys/store.h"

namespace zarr3 {

NearbyNodes::NearbyNodes(const zb_node *node)
    : store_(zb_store_retain(zb_node_store(node)), zb_store_release), path_(zb_node_path(node)) {
}

void NearbyNodes::remember(const NodePtr &group) {
    opened_[zb_node_path(group.get())] = group;
}

/* Null where they are not known, or not any more. */
const NearbyNodes::Names *NearbyNodes::names_around(const std::string &path) const {
    const auto group = listed_.find(parent_path(path));
    if (path.empty() || group == listed_.end())
        return nullptr;
    const auto age = std::chrono::steady_clock::now() - group->second.time;
    const bool is_fresh = age < std::chrono::nanoseconds(store_->hints.fresh) &&
                          group->second.changes == zb_store_changes(store_.get());
    return is_fresh ? &group->second : nullptr;
}

/* Part of them where there are many: a page of names costs as much as a miss, and more are not
   worth it. */
void NearbyNodes::list_around(const std::string &path) {
    constexpr size_t kMost = 1000;
    const zb_store_hints &hints = store_->hints;
    if (path.empty() || hints.is_local || !hints.can_list || hints.fresh == 0 ||
        names_around(path) != nullptr)
        return;
    Names around = {{}, false, zb_store_changes(store_.get()), std::chrono::steady_clock::now()};
    const auto take = [](void *self, const zb_list_entry *entry) {
        auto *names = static_cast<std::set<std::string> *>(self);
        names->insert(entry->name);
        return names->size() < kMost ? 0 : 1;
    };
    const std::string group = parent_path(path);
    around.is_whole =
        zb_store_list(store_.get(), group.c_str(), take, &around.names, nullptr) == ZB_OK &&
        around.names.size() < kMost;
    listed_[group] = std::move(around);
}

NodePtr NearbyNodes::at(const std::string &path) {
    const auto known = opened_.find(path);
    if (known != opened_.end())
        return known->second;
    const Names *around = names_around(path);
    const bool is_absent =
        around != nullptr && around->is_whole && around->names.count(last_part(path)) == 0;
    NodePtr node = is_absent ? nullptr : open_node(store_.get(), path, nullptr);
    if (node == nullptr)
        list_around(path);
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
    const auto info_at = [](void *self, unsigned level, const char *name) {
        const NodePtr node = static_cast<NearbyNodes *>(self)->array_in(level, name);
        return node == nullptr ? nullptr : zb_node_array(node.get()); /* opened_ keeps it */
    };
    const zb_surroundings around = {levels_above(path_), info_at, this};
    const int level = zb_coordinate_find(info, dim, &around);
    return level < 0 ? nullptr : array_in(static_cast<unsigned>(level), info->dimension_names[dim]);
}

} // namespace zarr3
