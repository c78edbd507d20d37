/* SPDX-License-Identifier: MIT */
/*
 * By the conventions, an array that says nothing of its CRS or extent has those of its group. So a
 * group must not say what is true of one of its rasters alone. All rasters of the group have to say
 * the same, each by attributes of its own; the CRS and the extent are looked at separately.
 *
 * A raster that leads a pyramid of groups (0/out, 1/out) is one of the pyramid's group, too, where
 * programs look.
 *
 * Transform, shape and registration are not repeated. They belong to arrays: later texts of the
 * convention forbid them on groups, and GDAL 3.13's own driver crashes where a group has a
 * transform and one of its arrays other dimensions.
 */
#include "geo/group_place.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "array/attributes.h"
#include "array/conventions.h"
#include "array/pyramid.h"
#include "geo/geotransform.h"

namespace zarr3 {

using Members = std::map<std::string, std::string>; /* names, JSON text */

static constexpr const char *kCrs[] = {"proj:code", "proj:wkt2", "proj:projjson"};
static constexpr const char *kExtent[] = {"spatial:dimensions", "spatial:bbox"};

namespace {

struct Statement {
    Members crs, extent;
};

} // namespace

template <size_t N>
static Members members_called(const zb_node *node, const char *const (&names)[N]) {
    Members members;
    for (const char *name : names) {
        if (attribute(node, name) != nullptr)
            members[name] = compact_json(attribute(node, name));
    }
    return members;
}

/* Attributes that another program has left behind when it cropped the array say nothing. */
static bool states_extent(const zb_node *array) {
    const Axes axes = listed_axes(zb_node_array(array), array);
    const std::string registration = attribute_text(array, "spatial:registration");
    return axes.x >= 0 && (registration.empty() || registration == "pixel") &&
           !number_list(attribute(array, "spatial:bbox"), 4).empty() &&
           !states_other_shape(array, axes);
}

static Statement statement_of(const zb_node *array) {
    Statement found;
    NearbyNodes around(array);
    if (follows(array, ZB_CONVENTION_PROJ, around))
        found.crs = members_called(array, kCrs);
    if (states_extent(array) && follows(array, ZB_CONVENTION_SPATIAL, around))
        found.extent = members_called(array, kExtent);
    return found;
}

/* Takes in what the rasters of a group say. A mask lies where its raster does. What cannot be
   opened may be a raster that says nothing. */
static void take_statements(const Children &children, std::optional<Statement> *common) {
    std::set<std::string> masks;
    for (const zb_child &child : children)
        masks.insert(gdal_text(child.node, ZB_GDAL_MASK));
    for (const zb_child &child : children) {
        const zb_array_info *info = child.node == nullptr ? nullptr : zb_node_array(child.node);
        const bool is_raster = child.node == nullptr || (info != nullptr && info->ndim >= 2);
        if (!is_raster || masks.count(child.name) != 0)
            continue;
        const Statement one = info == nullptr ? Statement() : statement_of(child.node);
        if (!*common)
            *common = one;
        if ((*common)->crs != one.crs)
            (*common)->crs.clear();
        if ((*common)->extent != one.extent)
            (*common)->extent.clear();
    }
}

/* The groups that lead the pyramids of a group. */
static std::vector<std::string> leading_groups(const zb_node *group) {
    NearbyNodes around(group);
    std::vector<std::string> leading;
    for (const std::vector<std::string> &assets : group_pyramids(group, around)) {
        const NodePtr first =
            open_node(zb_node_hierarchy(group), join_path(zb_node_path(group), assets[0]), nullptr);
        if (first != nullptr && zb_node_array(first.get()) == nullptr)
            leading.push_back(zb_node_path(first.get()));
    }
    return leading;
}

static enum zb_code common_statement(const zb_node *group, Statement *statement, zb_error *err) {
    std::vector<std::string> groups = leading_groups(group);
    groups.push_back(zb_node_path(group));
    std::optional<Statement> common;
    for (const std::string &path : groups) {
        if (common && common->crs.empty() && common->extent.empty())
            break; /* whatever the others say */
        const NodePtr node = open_node(zb_node_hierarchy(group), path, err);
        Children children;
        const enum zb_code code = node == nullptr ? err->code : children.list(node.get(), err);
        if (code != ZB_OK)
            return code;
        take_statements(children, &common);
    }
    *statement = common.value_or(Statement());
    return ZB_OK;
}

template <size_t N>
static void set_members(const Members &members, const char *const (&names)[N],
                        AttributeChanges *changes) {
    for (const char *name : names) {
        const auto member = members.find(name);
        if (member == members.end())
            changes->remove(name);
        else
            changes->set_last(name, member->second);
    }
}

static enum zb_code say(NodePtr group, const Statement &statement, zb_error *err) {
    AttributeChanges changes;
    const bool says_anything = !statement.crs.empty() || !statement.extent.empty();
    set_members(statement.crs, kCrs, &changes);
    set_members(statement.extent, kExtent, &changes);
    declare_place(group.get(), !statement.crs.empty(), !statement.extent.empty(), &changes);
    /* It stays when nothing is left to be said. */
    if (says_anything || zb_group_repeats_place(group.get()))
        changes.set(ZB_GDAL_REPEATS_PLACE, "true");
    return changes.apply(&group, err);
}

/* True if another program has said something of a place. */
static bool has_own_word(const zb_node *group) {
    const zb_json *attributes = zb_node_attributes(group);
    for (const zb_json *member = zb_json_first(attributes); member != nullptr;
         member = zb_json_next(member)) {
        if (is_place_attribute(zb_json_name(member)))
            return true;
    }
    return false;
}

/* The group, or null where it is not ours to speak for. */
static NodePtr speaking_group(zb_hierarchy *hierarchy, const std::string &path, bool is_new) {
    NodePtr group = open_node(hierarchy, path, nullptr);
    const bool is_group = group != nullptr && zb_node_array(group.get()) == nullptr;
    const bool speaks =
        is_group && (zb_group_repeats_place(group.get()) || (is_new && !has_own_word(group.get())));
    return speaks ? group : nullptr;
}

/* By the list alone: nothing that it names is opened. */
static bool leads_pyramid_of(const zb_node *group, const std::string &path) {
    NearbyNodes around(group);
    const auto lists = group_pyramids(group, around);
    return std::any_of(lists.begin(), lists.end(), [&](const std::vector<std::string> &assets) {
        return join_path(zb_node_path(group), assets[0]) == path;
    });
}

/* The group, and the one above where that is ours, and the group leads a pyramid of it. A new one
   is the last of them. */
static std::vector<NodePtr> speaking_groups(zb_hierarchy *hierarchy, const std::string &path,
                                            bool is_new) {
    const NodePtr above =
        path.empty() ? nullptr : speaking_group(hierarchy, parent_path(path), is_new);
    const bool leads = above != nullptr && leads_pyramid_of(above.get(), path);
    std::vector<NodePtr> groups = {speaking_group(hierarchy, path, is_new && !leads)};
    if (leads)
        groups.push_back(above);
    groups.erase(std::remove(groups.begin(), groups.end(), nullptr), groups.end());
    return groups;
}

enum zb_code repeat_place(zb_hierarchy *hierarchy, const std::string &group, bool is_new,
                          zb_error *err) {
    enum zb_code code = ZB_OK;
    for (const NodePtr &node : speaking_groups(hierarchy, group, is_new)) {
        Statement statement;
        code = common_statement(node.get(), &statement, err);
        if (code == ZB_OK)
            code = say(node, statement, err);
        if (code != ZB_OK)
            break;
    }
    return code;
}

enum zb_code add_raster(zb_hierarchy *hierarchy, const std::string &group,
                        const std::function<enum zb_code()> &add, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (const NodePtr &node : speaking_groups(hierarchy, group, false)) {
        code = say(node, Statement(), err);
        if (code != ZB_OK)
            return code;
    }
    code = add();
    if (code != ZB_OK)
        repeat_place(hierarchy, group, false, nullptr);
    return code;
}

} // namespace zarr3
