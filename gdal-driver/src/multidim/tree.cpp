/* SPDX-License-Identifier: MIT */
#include "multidim/tree.h"

#include "array/attributes.h"
#include "array/dimension_names.h"
#include "base/errors.h"
#include "base/guard.h"
#include "multidim/dimension.h"
#include "multidim/group.h"
#include "multidim/md_array.h"
#include "store/network.h"

#include "zarrbridge/hierarchy.h"

namespace zarr3 {

Tree::Tree(Hierarchy hierarchy, TreeOptions options)
    : hierarchy_(std::move(hierarchy)), options_(std::move(options)) {
}

bool Tree::may_write(const std::string &name) const {
    if (!options_.update)
        CPLError(CE_Failure, CPLE_NoWriteAccess, "%s: the dataset is not open for updating",
                 name.c_str());
    return options_.update;
}

/* ---- Names ---- */

std::string Tree::short_name(const std::string &path) const {
    if (!path.empty())
        return shown_path(last_part(path));
    return name_of_root(hierarchy_.root);
}

std::string Tree::full_name(const std::string &path) const {
    if (path == options_.base && !(options_.single && options_.array == path))
        return "/";
    if (!is_at_or_below(path, options_.base) || path == options_.base)
        return "/" + short_name(path);
    const std::string &base = options_.base;
    return "/" + shown_path(path.substr(base.empty() ? 0 : base.size() + 1));
}

/* ---- Groups and arrays ---- */

std::shared_ptr<Zarr3Group> Tree::root() {
    return group(options_.base);
}

std::shared_ptr<Zarr3Group> Tree::group(const std::string &path, NodePtr known) {
    std::shared_ptr<Zarr3Group> found = groups_[path].lock();
    if (found != nullptr)
        return found;
    zb_error err = {};
    const bool is_view = options_.single && path == options_.base; /* of an array: needs no node */
    if (known == nullptr && !is_view)
        known = open_nearby(store(), path, &err);
    if (!is_view && (known == nullptr || zb_node_array(known.get()) != nullptr)) {
        if (known == nullptr)
            report(err);
        else
            CPLError(CE_Failure, CPLE_AppDefined, "/%s is an array", path.c_str());
        return nullptr;
    }
    found = Zarr3Group::make(shared_from_this(), path, known);
    groups_[path] = found;
    return found;
}

std::shared_ptr<Zarr3MDArray> Tree::array(const std::string &path, NodePtr known,
                                          std::string *reason) {
    std::shared_ptr<Zarr3MDArray> found = arrays_[path].lock();
    if (found != nullptr)
        return found;
    zb_error err = {};
    if (known == nullptr)
        known = open_nearby(store(), path, &err);
    if (known == nullptr || zb_node_array(known.get()) == nullptr) {
        *reason = known == nullptr ? err.message : "it is a group";
        return nullptr;
    }
    found = Zarr3MDArray::make(shared_from_this(), known, reason);
    if (found != nullptr)
        keep(path, found);
    return found;
}

void Tree::keep(const std::string &path, const std::shared_ptr<Zarr3MDArray> &array) {
    arrays_[path] = array;
}

std::vector<std::shared_ptr<Zarr3MDArray>> Tree::open_arrays() const {
    std::vector<std::shared_ptr<Zarr3MDArray>> result;
    for (const auto &[path, array] : arrays_) {
        if (std::shared_ptr<Zarr3MDArray> open = array.lock())
            result.push_back(open);
    }
    return result;
}

/* The entries of a map of groups or arrays under the paths that they have now. Those that are open
   are told. */
template <class Node>
static void rename_all(std::map<std::string, std::weak_ptr<Node>> *nodes, const std::string &from,
                       const std::string &to) {
    std::map<std::string, std::weak_ptr<Node>> renamed;
    for (const auto &[path, weak] : *nodes) {
        const bool moves = is_at_or_below(path, from);
        const std::string now = moves ? to + path.substr(from.size()) : path;
        const auto node = weak.lock();
        if (node != nullptr && moves)
            node->moved_to(now);
        renamed[now] = weak;
    }
    *nodes = std::move(renamed);
}

template <class Node>
static void drop_all(std::map<std::string, std::weak_ptr<Node>> *nodes, const std::string &path) {
    for (auto entry = nodes->begin(); entry != nodes->end();) {
        const auto node = entry->second.lock();
        const bool goes = is_at_or_below(entry->first, path);
        if (goes && node != nullptr)
            node->Deleted();
        entry = goes ? nodes->erase(entry) : std::next(entry);
    }
}

void Tree::moved(const std::string &from, const std::string &to) {
    for (const auto &[path, weak] : groups_) {
        const auto group = weak.lock();
        if (group != nullptr && !is_at_or_below(path, from) && is_at_or_below(from, path))
            group->refresh(); /* it has listed the old name */
    }
    rename_all(&groups_, from, to);
    rename_all(&arrays_, from, to);
    std::map<DimensionKey, std::shared_ptr<Zarr3Dimension>> dimensions;
    for (const auto &[key, dimension] : dimensions_) {
        dimension->moved(from, to);
        dimensions[{dimension->group(), key.second}] = dimension;
    }
    dimensions_ = std::move(dimensions);
}

void Tree::deleted(const std::string &path) {
    drop_all(&groups_, path);
    drop_all(&arrays_, path);
    /* A dimension lives as long as something has it. */
    for (auto entry = dimensions_.begin(); entry != dimensions_.end();) {
        const bool unused =
            entry->second.use_count() == 1 && created_.count(entry->second.get()) == 0;
        const bool goes = unused || (!path.empty() && is_at_or_below(entry->first.first, path));
        if (goes)
            created_.erase(entry->second.get());
        entry = goes ? dimensions_.erase(entry) : std::next(entry);
    }
}

void Tree::forget_missing(const std::string &group) {
    std::set<std::string> paths;
    for (const auto &entry : arrays_)
        paths.insert(entry.first);
    for (const auto &entry : groups_)
        paths.insert(entry.first);
    for (const std::string &path : paths) {
        zb_error err = {};
        if (path != group && is_at_or_below(path, group) &&
            open_node(store(), path, &err) == nullptr && err.code == ZB_ENOTFOUND)
            deleted(path);
    }
}

/* ---- Dimensions ---- */

std::shared_ptr<Zarr3Dimension> Tree::known_dimension(const std::string &group,
                                                      const std::string &name) const {
    const auto found = dimensions_.find({group, name});
    return found == dimensions_.end() ? nullptr : found->second;
}

std::string Tree::home_of(std::string group, const std::string &name, uint64_t size) const {
    const std::string own = group;
    for (;;) {
        const auto known = known_dimension(group, name);
        if (known != nullptr && known->GetSize() == size)
            return group;
        if (group == options_.base || group.empty())
            return own;
        group = parent_path(group);
    }
}

/* One that belongs to an array has no full name: copies look for the group that such a name
   tells. */
std::shared_ptr<Zarr3Dimension> Tree::own_dimension(const std::string &array,
                                                    const std::string &name, uint64_t size) {
    auto made = std::make_shared<Zarr3Dimension>(shared_from_this(), Zarr3Dimension::Of::Array, "",
                                                 array, name, size);
    made->note_user(array);
    return made;
}

std::shared_ptr<Zarr3Dimension> Tree::dimension(const zb_node *array, uint32_t dim,
                                                NearbyNodes &around) {
    const zb_array_info *info = zb_node_array(array);
    const std::string path = zb_node_path(array), name = dimension_name(info, dim);
    const uint64_t size = info->shape[dim];
    if (name.empty())
        return own_dimension(path, dimension_label(info, dim), size);
    const NodePtr coordinate = around.find_coordinate(info, dim);
    const std::string group = coordinate != nullptr ? parent_path(zb_node_path(coordinate.get()))
                                                    : home_of(parent_path(path), name, size);
    std::shared_ptr<Zarr3Dimension> known = known_dimension(group, name);
    if (known != nullptr && known->GetSize() != size) /* a namesake */
        return own_dimension(path, name, size);
    if (known == nullptr) {
        known = std::make_shared<Zarr3Dimension>(shared_from_this(), Zarr3Dimension::Of::Group,
                                                 full_name(group), group, name, size);
        dimensions_[{group, name}] = known;
    }
    if (coordinate != nullptr)
        known->take_coordinate(coordinate);
    known->note_user(path);
    return known;
}

std::shared_ptr<Zarr3Dimension>
Tree::create_dimension(const std::string &group, const std::string &name, const std::string &type,
                       const std::string &direction, uint64_t size) {
    if (has_dimension(group, name)) {
        CPLError(CE_Failure, CPLE_AppDefined, "%s has a dimension %s already",
                 full_name(group).c_str(), name.c_str());
        return nullptr;
    }
    auto made = std::make_shared<Zarr3Dimension>(shared_from_this(), Zarr3Dimension::Of::Group,
                                                 full_name(group), group, name, size);
    made->set_axis(type, direction);
    dimensions_[{group, name}] = made;
    created_.insert(made.get());
    return made;
}

/* The arrays of the group make its dimensions known. */
bool Tree::has_dimension(const std::string &group_path, const std::string &name) {
    const std::shared_ptr<Zarr3Group> owner = group(group_path);
    if (owner != nullptr)
        owner->GetDimensions(nullptr);
    return known_dimension(group_path, name) != nullptr;
}

std::vector<std::shared_ptr<Zarr3Dimension>> Tree::dimensions(const std::string &group) {
    std::vector<std::shared_ptr<Zarr3Dimension>> result;
    for (const auto &[key, dimension] : dimensions_) {
        if (key.first == group)
            result.push_back(dimension);
    }
    return result;
}

void Tree::rename_dimension(const Zarr3Dimension &dimension, const std::string &name) {
    const DimensionKey before = {dimension.group(), dimension.GetName()};
    const auto found = dimensions_.find(before);
    if (found == dimensions_.end())
        return;
    const std::shared_ptr<Zarr3Dimension> kept = found->second;
    dimensions_.erase(found);
    dimensions_[{before.first, name}] = kept;
}

bool Tree::arrays_with(const Zarr3Dimension &dimension,
                       std::vector<std::shared_ptr<Zarr3MDArray>> *arrays) {
    std::vector<std::string> paths; /* of arrays with a dimension of that name and length */
    const auto note_array = [&](const zb_entry *entry) {
        for (uint32_t d = 0; entry->array != nullptr && d < entry->array->ndim; d++) {
            if (dimension_name(entry->array, d) == dimension.GetName() &&
                entry->array->shape[d] == dimension.GetSize()) {
                paths.push_back(entry->path);
                break;
            }
        }
    };
    zb_error err;
    if (each_node(store(), dimension.group().c_str(), note_array, &err) != ZB_OK) {
        report(err);
        return false;
    }
    for (const std::string &path : paths) {
        std::string reason;
        const auto found = array(path, nullptr, &reason);
        if (found == nullptr) {
            CPLError(CE_Failure, CPLE_NotSupported,
                     "array /%s, which may have the dimension %s: %s", path.c_str(),
                     dimension.GetFullName().c_str(), reason.c_str());
            return false;
        }
        for (const auto &other : found->GetDimensions()) {
            if (other.get() == &dimension) {
                arrays->push_back(found);
                break;
            }
        }
    }
    return true;
}

bool Tree::change(const std::string &path, const AttributeChanges &changes) {
    const auto array_held = arrays_.find(path);
    const auto group_held = groups_.find(path);
    const auto array = array_held == arrays_.end() ? nullptr : array_held->second.lock();
    const auto group = group_held == groups_.end() ? nullptr : group_held->second.lock();
    if (array != nullptr)
        return array->change(changes);
    if (group != nullptr && group->attributes_of() != nullptr)
        return group->change(changes);
    zb_error err;
    NodePtr node = open_node(store(), path, &err);
    if (node != nullptr && changes.apply(&node, &err) == ZB_OK)
        return true;
    report(err);
    return false;
}

bool Tree::change(const std::vector<NamedBy> &references) {
    bool done = true;
    for (const NamedBy &by : references)
        done = change(by.path, by.changes) && done;
    return done;
}

void Tree::changed_below(const std::string &group) {
    for (const auto &[path, known] : groups_) {
        const std::shared_ptr<Zarr3Group> held = known.lock();
        if (held != nullptr && (is_at_or_below(path, group) || is_at_or_below(group, path)))
            held->refresh();
    }
}

/* ---- Storing ---- */

CPLErr Tree::flush() {
    CPLErr result = has_loss_ ? CE_Failure : CE_None;
    has_loss_ = false;
    for (const auto &[path, weak] : groups_) {
        const std::shared_ptr<Zarr3Group> group = weak.lock();
        if (group != nullptr && !group->store_created())
            result = CE_Failure;
    }
    for (const auto &array : open_arrays()) {
        if (!array->flush())
            result = CE_Failure;
    }
    zb_error err;
    if (options_.update && zb_hierarchy_write_back(store(), &err) != ZB_OK) {
        report(err);
        result = CE_Failure;
    }
    return result;
}

/* The store would do this by itself when its last user lets it go, and report nothing. */
Tree::~Tree() {
    zb_error err;
    if (options_.update && !is_abandoned_ && zb_hierarchy_commit(store(), &err) != ZB_OK)
        report(err);
}

void Tree::abandon() {
    is_abandoned_ = true;
    for (const auto &array : open_arrays())
        array->abandon();
}

} // namespace zarr3
