/* SPDX-License-Identifier: MIT */
#include "multidim/group.h"

#include <algorithm>
#include <iterator>

#include "array/attributes.h"
#include "array/dimension_names.h"
#include "base/entry.h"
#include "base/errors.h"
#include "geo/find_grid_mapping.h"
#include "multidim/dimension.h"
#include "multidim/md_array.h"

namespace zarr3 {

Zarr3Group::Zarr3Group(const std::shared_ptr<Tree> &tree, const std::string &parent,
                       const std::string &name, std::string path, NodePtr node)
    : GDALGroup(parent, name), tree_(tree), path_(std::move(path)), node_(std::move(node)) {
}

std::shared_ptr<Zarr3Group> Zarr3Group::make(const std::shared_ptr<Tree> &tree,
                                             const std::string &path, const NodePtr &node) {
    const bool is_root = path == tree->options().base;
    const std::string name = tree->full_name(path), above = name.substr(0, name.rfind('/'));
    const std::string parent = is_root ? "" : above.empty() ? "/" : above;
    std::shared_ptr<Zarr3Group> group(
        new Zarr3Group(tree, parent, is_root ? "/" : tree->short_name(path), path, node));
    group->SetSelf(group);
    return group;
}

std::shared_ptr<AttributeOwner> Zarr3Group::self() const {
    return std::dynamic_pointer_cast<Zarr3Group>(m_pSelf.lock());
}

void Zarr3Group::moved_to(const std::string &path) {
    path_ = path;
    m_osName = tree_->short_name(path);
    m_osFullName = tree_->full_name(path);
    rename_held();
    refresh();
}

void Zarr3Group::refresh() {
    if (node_ != nullptr) /* the view of a single array has none */
        node_ = open_node(tree_->store(), path_, nullptr);
    forget_listing();
}

/* The names that arrays have for their grid mappings. */
static void note_mappings(const zb_node *array, std::set<std::string> *names) {
    for (const std::string &word : words(attribute_text(array, "grid_mapping")))
        names->insert(word.substr(0, word.find(':')));
}

/* Nodes that cannot be opened are told once: a program that copies the group does not get them. */
const Zarr3Group::Listing *Zarr3Group::listing() const {
    if (listing_)
        return &*listing_;
    Listing found;
    Children children;
    zb_error err;
    if (node_ == nullptr || children.list(node_.get(), &err) != ZB_OK) {
        if (node_ != nullptr)
            report(err);
        return nullptr;
    }
    std::set<std::string> mappings, stored;
    for (const zb_child &child : children)
        stored.insert(child.name);
    for (const zb_child &child : children) {
        if (child.node == nullptr) {
            CPLError(CE_Warning, CPLE_AppDefined, "%s: '%s' is left out: %s", m_osFullName.c_str(),
                     child.name, child.reason);
            continue;
        }
        const NodePtr node = adopt_node(zb_node_retain(child.node));
        /* What would be shown as another node is stored has its own name in the store. */
        const std::string shown = shown_path(child.name);
        const bool is_taken = shown != child.name && stored.count(shown) > 0;
        const std::string name = is_taken ? child.name : shown;
        std::string reason;
        if (zb_node_array(child.node) == nullptr) {
            found.groups[name] = node;
            continue;
        }
        note_mappings(child.node, &mappings);
        if (ElementType::of_array(child.node, &reason) == nullptr)
            CPLError(CE_Warning, CPLE_NotSupported, "%s: the array '%s' is left out: %s",
                     m_osFullName.c_str(), child.name, reason.c_str());
        else
            found.arrays[name] = node;
    }
    for (const auto &[name, node] : found.arrays) {
        const zb_array_info *info = zb_node_array(node.get());
        const bool is_scalar = info->ndim == 0 || (info->ndim == 1 && info->shape[0] == 1);
        if (is_grid_mapping(node.get()) ||
            (is_scalar && mappings.count(zb_node_name(node.get())) > 0))
            found.grid_mappings.insert(name);
    }
    listing_ = std::move(found);
    return &*listing_;
}

/* Grid mappings are the CRS of other arrays; they are there by their names, and with SHOW_ALL. */
std::vector<std::string> Zarr3Group::GetMDArrayNames(CSLConstList options) const try {
    const TreeOptions &shown = tree_->options();
    if (!CheckValidAndErrorOutIfNot())
        return {};
    if (shown.single && path_ == shown.base)
        return {tree_->short_name(shown.array)};
    std::vector<std::string> names;
    const Listing *all = listing();
    const bool show_all = CPLFetchBool(options, "SHOW_ALL", false);
    if (all != nullptr) {
        for (const auto &[name, node] : all->arrays) {
            if (show_all || all->grid_mappings.count(name) == 0)
                names.push_back(name);
        }
        for (const auto &variable : regular_variables(*all))
            names.push_back(variable->GetName());
    }
    return names;
} catch (...) {
    return failed_entry<std::vector<std::string>>();
}

/* True if the group has no array for a dimension of this one. */
static bool lacks_coordinates(const zb_array_info *info,
                              const std::map<std::string, NodePtr> &arrays) {
    for (uint32_t d = 0; d < info->ndim; d++) {
        const std::string name = dimension_name(info, d);
        if (!name.empty() && arrays.count(name) == 0)
            return true;
    }
    return false;
}

/* True if the array may have a place without coordinates beside it. */
static bool may_be_placed(const zb_node *array, const zb_node *group) {
    static const char *const kPlaces[] = {"spatial:transform", "spatial:bbox"};
    return zb_node_array(array)->ndim >= 2 &&
           (attribute(array, "grid_mapping") != nullptr ||
            std::any_of(std::begin(kPlaces), std::end(kPlaces), [&](const char *name) {
                return attribute(array, name) != nullptr || attribute(group, name) != nullptr;
            }));
}

/* Coordinates that are made of the places of arrays, as dimensions of the group have them. Copies
   find them by the names of the group's arrays. */
std::vector<std::shared_ptr<GDALMDArray>> Zarr3Group::regular_variables(const Listing &all) const {
    std::vector<std::shared_ptr<GDALMDArray>> open, variables;
    std::map<std::string, std::shared_ptr<Zarr3Dimension>> placed;
    for (const auto &[name, node] : all.arrays) {
        const bool may_be = lacks_coordinates(zb_node_array(node.get()), all.arrays) &&
                            may_be_placed(node.get(), node_.get());
        const auto array = may_be ? OpenMDArray(name, nullptr) : nullptr;
        open.push_back(array);
        for (uint32_t d = 0; array != nullptr && d < array->GetDimensionCount(); d++) {
            const auto ours = std::dynamic_pointer_cast<Zarr3Dimension>(array->GetDimensions()[d]);
            if (ours != nullptr && !ours->has_variable() && ours->is_shared() &&
                ours->group() == path_ && all.arrays.count(ours->GetName()) == 0)
                placed[ours->GetName()] = ours;
        }
    }
    for (const auto &[name, dimension] : placed) {
        if (auto variable = dimension->regular_variable())
            variables.push_back(variable);
    }
    return variables;
}

std::vector<std::string> Zarr3Group::GetGroupNames(CSLConstList) const try {
    const TreeOptions &shown = tree_->options();
    if (!CheckValidAndErrorOutIfNot() || (shown.single && path_ == shown.base))
        return {};
    std::vector<std::string> names;
    const Listing *all = listing();
    if (all != nullptr) {
        for (const auto &[name, node] : all->groups)
            names.push_back(name);
    }
    return names;
} catch (...) {
    return failed_entry<std::vector<std::string>>();
}

/* Nodes of the listing serve again where nobody changes them through this dataset. Null where there
   is none, with an error reported for a node that cannot be opened; a name that is missing is no
   error, for GDAL tries names. */
static NodePtr find_child(const Tree &tree, const std::map<std::string, NodePtr> *listed,
                          const std::string &group, const std::string &name) {
    if (listed != nullptr && !tree.options().update && listed->count(name) > 0)
        return listed->at(name);
    zb_error err = {};
    NodePtr node = open_shown(tree.store(), join_path(group, name), &err);
    if (node == nullptr && err.code != ZB_ENOTFOUND)
        report(err);
    return node;
}

std::shared_ptr<GDALMDArray> Zarr3Group::regular_variable(const std::string &name) const {
    const CPLErrorStateBackuper quiet(CPLQuietErrorHandler);
    const Listing *all = listing();
    if (all == nullptr)
        return nullptr;
    for (const auto &variable : regular_variables(*all)) {
        if (variable->GetName() == name)
            return variable;
    }
    return nullptr;
}

std::shared_ptr<GDALMDArray> Zarr3Group::OpenMDArray(const std::string &name, CSLConstList) const
    try {
    const TreeOptions &shown = tree_->options();
    if (!CheckValidAndErrorOutIfNot() || !is_child_name(name))
        return nullptr;
    const bool is_single =
        shown.single && path_ == shown.base && name == tree_->short_name(shown.array);
    const NodePtr node =
        is_single ? find_child(*tree_, nullptr, parent_path(shown.array), last_part(shown.array))
                  : find_child(*tree_, listing_ ? &listing_->arrays : nullptr, path_, name);
    if (node == nullptr)
        return regular_variable(name);
    if (zb_node_array(node.get()) == nullptr)
        return nullptr;
    std::string reason;
    std::shared_ptr<GDALMDArray> array = tree_->array(zb_node_path(node.get()), node, &reason);
    if (array == nullptr)
        CPLError(CE_Failure, CPLE_AppDefined, "array %s of %s: %s", name.c_str(),
                 m_osFullName.c_str(), reason.c_str());
    return array;
} catch (...) {
    return failed_entry<std::shared_ptr<GDALMDArray>>();
}

std::shared_ptr<GDALGroup> Zarr3Group::OpenGroup(const std::string &name, CSLConstList) const try {
    if (!CheckValidAndErrorOutIfNot() || !is_child_name(name))
        return nullptr;
    const NodePtr node = find_child(*tree_, listing_ ? &listing_->groups : nullptr, path_, name);
    if (node == nullptr || zb_node_array(node.get()) != nullptr)
        return nullptr;
    return tree_->group(zb_node_path(node.get()), node);
} catch (...) {
    return failed_entry<std::shared_ptr<GDALGroup>>();
}

/* In the order in which the arrays have them. Opening an array makes its dimensions known. */
std::vector<std::shared_ptr<GDALDimension>> Zarr3Group::GetDimensions(CSLConstList) const try {
    std::vector<std::shared_ptr<GDALDimension>> result;
    std::set<const GDALDimension *> seen;
    std::vector<std::shared_ptr<GDALMDArray>> open;
    for (const std::string &name : GetMDArrayNames(nullptr)) {
        std::shared_ptr<GDALMDArray> array = OpenMDArray(name, nullptr);
        if (array == nullptr)
            continue;
        open.push_back(array);
        for (const auto &dimension : array->GetDimensions()) {
            const auto ours = std::dynamic_pointer_cast<Zarr3Dimension>(dimension);
            const bool belongs = ours != nullptr && ours->is_shared() && ours->group() == path_;
            if (belongs && seen.insert(dimension.get()).second)
                result.push_back(dimension);
        }
    }
    for (const auto &dimension : tree_->dimensions(path_)) {
        if (seen.insert(dimension.get()).second)
            result.push_back(dimension);
    }
    return result;
} catch (...) {
    return failed_entry<std::vector<std::shared_ptr<GDALDimension>>>();
}

std::shared_ptr<GDALAttribute> Zarr3Group::GetAttribute(const std::string &name) const try {
    return CheckValidAndErrorOutIfNot() ? find_attribute(self(), name) : nullptr;
} catch (...) {
    return failed_entry<std::shared_ptr<GDALAttribute>>();
}

std::vector<std::shared_ptr<GDALAttribute>> Zarr3Group::GetAttributes(CSLConstList options) const
    try {
    if (!CheckValidAndErrorOutIfNot())
        return {};
    return list_attributes(self(), CPLFetchBool(options, "SHOW_ALL", false));
} catch (...) {
    return failed_entry<std::vector<std::shared_ptr<GDALAttribute>>>();
}

} // namespace zarr3
