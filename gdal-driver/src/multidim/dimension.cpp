/* SPDX-License-Identifier: MIT */
#include "multidim/dimension.h"

#include <algorithm>
#include <optional>

#include "array/attributes.h"
#include "array/coordinates.h"
#include "array/dimension_names.h"
#include "array/types.h"
#include "base/errors.h"
#include "multidim/group.h"
#include "multidim/md_array.h"
#include "multidim/references.h"
#include "raster/axes.h"

namespace zarr3 {

Zarr3Dimension::Zarr3Dimension(const std::shared_ptr<Tree> &tree, Of owner,
                               const std::string &parent, std::string path, const std::string &name,
                               uint64_t size)
    : GDALDimension(parent, name, "", "", size), tree_(tree), owner_(owner),
      group_(std::move(path)) {
}

/* ---- The axis ---- */

AxisKind axis_kind(const zb_node *coordinate, bool by_name) {
    const std::string axis = attribute_text(coordinate, "axis");
    const std::string standard = attribute_text(coordinate, "standard_name");
    const std::string units = attribute_text(coordinate, "units");
    const std::string positive = attribute_text(coordinate, "positive");
    const bool is_time_axis = is_time(zb_node_array(coordinate)->dtype) ||
                              EQUAL(axis.c_str(), "T") || standard == "time" ||
                              units.find(" since ") != std::string::npos;
    if (is_time_axis)
        return {GDAL_DIM_TYPE_TEMPORAL, ""};
    if (EQUAL(axis.c_str(), "Z") || !positive.empty())
        return {GDAL_DIM_TYPE_VERTICAL, EQUAL(positive.c_str(), "up")     ? "UP"
                                        : EQUAL(positive.c_str(), "down") ? "DOWN"
                                                                          : ""};
    const bool says_where =
        units.compare(0, 6, "degree") == 0 || standard == "longitude" || standard == "latitude";
    switch (horizontal_axis(coordinate, by_name)) {
    case 'X':
        return {GDAL_DIM_TYPE_HORIZONTAL_X, says_where ? "EAST" : ""};
    case 'Y':
        return {GDAL_DIM_TYPE_HORIZONTAL_Y, says_where ? "NORTH" : ""};
    default:
        return {};
    }
}

/* What a program has said of a new dimension stays. */
void Zarr3Dimension::take_coordinate(const NodePtr &coordinate) {
    const AxisKind kind = axis_kind(coordinate.get(), true);
    variable_ = zb_node_path(coordinate.get());
    has_variable_ = true;
    if (m_osType.empty())
        set_axis(kind.type, kind.direction);
}

void Zarr3Dimension::set_axis(const std::string &type, const std::string &direction) {
    m_osType = type;
    m_osDirection = direction;
}

/* ---- The variable ---- */

std::shared_ptr<GDALMDArray> Zarr3Dimension::regular_variable() const {
    const std::shared_ptr<Tree> tree = tree_.lock();
    std::optional<Spacing> found;
    std::shared_ptr<GDALDimension> self;
    if (tree == nullptr || has_variable_ || !is_shared())
        return nullptr;
    for (const std::string &path : users_) {
        std::string reason;
        const auto array = tree->array(path, nullptr, &reason);
        for (uint32_t d = 0; array != nullptr && d < array->GetDimensionCount(); d++) {
            if (array->GetDimensions()[d].get() != this)
                continue;
            const std::optional<Spacing> edges = array->edges_along(d);
            if (edges && found && (edges->first != found->first || edges->step != found->step))
                return nullptr;
            self = array->GetDimensions()[d];
            found = edges ? edges : found;
        }
    }
    const std::string parent = m_osFullName.substr(0, m_osFullName.rfind('/'));
    return !found ? nullptr
                  : GDALMDArrayRegularlySpaced::Create(parent.empty() ? "/" : parent, m_osName,
                                                       self, found->first, found->step, 0.5);
}

std::shared_ptr<GDALMDArray> Zarr3Dimension::GetIndexingVariable() const {
    const std::shared_ptr<Tree> tree = tree_.lock();
    if (tree == nullptr)
        return nullptr;
    /* GDAL opens indexing variables by their names, too, so that the group has to know this one. */
    if (!has_variable_ && regular_variable() != nullptr) {
        const std::shared_ptr<Zarr3Group> owner = tree->group(group_);
        return owner == nullptr ? nullptr : owner->regular_variable(m_osName);
    }
    if (!has_variable_)
        return nullptr;
    std::string reason;
    std::shared_ptr<GDALMDArray> variable = tree->array(variable_, nullptr, &reason);
    if (variable == nullptr)
        CPLDebug("ZARR3", "coordinates %s of %s: %s", variable_.c_str(), m_osFullName.c_str(),
                 reason.c_str());
    return variable;
}

/* A store tells a dimension's coordinates by their name alone. */
bool Zarr3Dimension::SetIndexingVariable(std::shared_ptr<GDALMDArray> variable) {
    if (variable == nullptr) {
        has_variable_ = false;
        return true;
    }
    const auto ours = std::dynamic_pointer_cast<Zarr3MDArray>(variable);
    if (ours == nullptr) {
        CPLError(CE_Failure, CPLE_NotSupported, "%s is no array of this dataset",
                 variable->GetFullName().c_str());
        return false;
    }
    if (ours->GetName() != m_osName || ours->GetDimensionCount() != 1)
        CPLError(
            CE_Warning, CPLE_NotSupported,
            "%s is the indexing variable of the dimension %s until the dataset is closed: in a "
            "store, coordinates are found by the dimension's name",
            ours->GetFullName().c_str(), m_osFullName.c_str());
    variable_ = ours->path();
    has_variable_ = true;
    return true;
}

/* ---- Changes ---- */

static std::string moved_path(const std::string &path, const std::string &from,
                              const std::string &to) {
    return is_at_or_below(path, from) ? to + path.substr(from.size()) : path;
}

void Zarr3Dimension::moved(const std::string &from, const std::string &to) {
    const std::shared_ptr<Tree> tree = tree_.lock();
    group_ = moved_path(group_, from, to);
    std::set<std::string> users;
    for (const std::string &path : users_)
        users.insert(moved_path(path, from, to));
    users_ = users;
    if (has_variable_)
        variable_ = moved_path(variable_, from, to);
    if (tree != nullptr)
        m_osFullName =
            (group_ == tree->options().base ? "/" : tree->full_name(group_) + "/") + m_osName;
}

/* The path of an array of the group that has a dimension of the name; "" without one. */
static std::string array_with(const zb_node *group, const std::string &dimension) {
    Children children;
    if (children.list(group, nullptr) != ZB_OK)
        return {};
    const zb_child *found = std::find_if(children.begin(), children.end(), [&](const auto &child) {
        return has_dimension(child.node, dimension);
    });
    return found == children.end() ? std::string() : zb_node_path(found->node);
}

/* A group may state the place of its arrays, also of those that have another dimension of the name
   and keep it. */
bool Zarr3Dimension::rename_in_group(Tree *tree, const std::string &path, const std::string &name) {
    const NodePtr group = open_node(tree->store(), path, nullptr);
    AttributeChanges changes;
    if (group == nullptr || !follow_dimension(group.get(), m_osName, name, &changes))
        return true;
    const std::string other = array_with(group.get(), m_osName);
    if (other.empty())
        return tree->change(path, changes);
    CPLError(CE_Warning, CPLE_AppDefined,
             "/%s: its spatial:dimensions keep '%s', which /%s has, and name no dimension '%s'",
             path.c_str(), m_osName.c_str(), other.c_str(), name.c_str());
    return true;
}

/* Those that name it without having it. */
bool Zarr3Dimension::find_named(Tree *tree,
                                const std::vector<std::shared_ptr<Zarr3MDArray>> &arrays,
                                const std::string &name, std::vector<NamedBy> *found) {
    std::set<std::string> renamed;
    for (const auto &array : arrays)
        renamed.insert(array->path());
    zb_error err;
    if (!is_shared() || find_dimension_references(tree->store(), group_, renamed, m_osName, name,
                                                  found, &err) == ZB_OK)
        return true;
    report(err);
    return false;
}

bool Zarr3Dimension::rename_in(Tree *tree, const std::vector<std::shared_ptr<Zarr3MDArray>> &arrays,
                               const std::string &name) {
    std::set<std::string> groups;
    for (const auto &array : arrays) {
        if (!array->rename_dimension(this, name))
            return false;
        if (!array->path().empty())
            groups.insert(parent_path(array->path()));
    }
    return std::all_of(groups.begin(), groups.end(),
                       [&](const std::string &path) { return rename_in_group(tree, path, name); });
}

/* In all arrays of the dataset that have it. The coordinates keep their own name, and are found
   again when they are renamed, too. */
bool Zarr3Dimension::Rename(const std::string &name) {
    const std::shared_ptr<Tree> tree = tree_.lock();
    if (tree == nullptr || !tree->may_write(m_osFullName))
        return false;
    if (!is_child_name(name)) {
        CPLError(CE_Failure, CPLE_IllegalArg, "'%s' is no name of a dimension", name.c_str());
        return false;
    }
    if (is_shared() && tree->has_dimension(group_, name)) {
        CPLError(CE_Failure, CPLE_AppDefined,
                 "%s cannot be called '%s': there is a dimension of that name",
                 m_osFullName.c_str(), name.c_str());
        return false;
    }
    std::vector<std::shared_ptr<Zarr3MDArray>> arrays;
    if (!tree->arrays_with(*this, &arrays))
        return false;
    if (arrays.empty() && !tree->has_created(*this)) {
        CPLError(CE_Failure, CPLE_AppDefined,
                 "the dimension %s cannot be called '%s': no array has it any more. Rename the "
                 "dimension of an array that is there, or make one by CreateDimension()",
                 m_osName.c_str(), name.c_str());
        return false;
    }
    const bool may_change = std::all_of(arrays.begin(), arrays.end(), [](const auto &array) {
        return array->may_rename_dimensions();
    });
    std::vector<NamedBy> references;
    if (!may_change || !find_named(tree.get(), arrays, name, &references) ||
        !rename_in(tree.get(), arrays, name))
        return false;
    tree->rename_dimension(*this, name);
    BaseRename(name);
    return tree->change(references);
}

} // namespace zarr3
