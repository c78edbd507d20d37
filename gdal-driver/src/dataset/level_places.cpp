/* SPDX-License-Identifier: MIT */
#include "dataset/level_places.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "array/attribute_changes.h"
#include "array/attributes.h"
#include "base/json_text.h"
#include "cpl_string.h"
#include "store/directories.h"
#include "zarrbridge/change.h"

namespace zarr3 {

/* Of a level's group where levels are numbered: {"raster": "0/out", "group": "1"}, a path and a
   name in the group that has the list. A copy that a program makes of the group has another name,
   and is none of ours. */
static constexpr char kLevelOf[] = "zarrbridge:level_of";

static bool is_group(const zb_node *node) {
    return node != nullptr && zb_node_array(node) == nullptr;
}

/* `path` without the group above it. */
static std::string below(const std::string &path, const std::string &group) {
    return group.empty() ? path : path.substr(group.size() + 1);
}

/* What the attribute says of the raster; "" without it. The group may be in the making. */
static std::string stated_raster(const zb_node *group) {
    const zb_json *said = attribute(group, kLevelOf);
    const std::string name = json_text(zb_json_get(said, "group"));
    const std::string own = is_group(group) ? last_part(zb_node_path(group)) : std::string();
    const bool begins = own.compare(0, name.size() + 1, name + ".") == 0;
    return !name.empty() && (own == name || (begins && is_staging(own)))
               ? json_text(zb_json_get(said, "raster"))
               : std::string();
}

LevelPlaces::LevelPlaces(const Pyramid &pyramid, std::string array)
    : array_(std::move(array)), above_(parent_path(array_)) {
    of_groups_ = pyramid.of_groups && pyramid.group == parent_path(above_);
    if (of_groups_)
        above_ = parent_path(above_);
    has_list_ = !pyramid.empty() && pyramid.group == above_ && pyramid.ome_axes.empty();
    leads_ = pyramid.empty() ||
             (pyramid.group == above_ && pyramid.self == 0 && pyramid.levels[0] == array_);
}

std::string LevelPlaces::asset(const std::string &array) const {
    return below(of_groups_ ? parent_path(array) : array, above_);
}

bool LevelPlaces::is_of_raster(const zb_node *group) const {
    return stated_raster(group) == below(array_, above_);
}

bool LevelPlaces::is_made(zb_hierarchy *hierarchy, const std::string &level) const {
    const std::string group = parent_path(level);
    if (!has_list_ || level == array_ || last_part(level) != last_part(array_) || group == above_ ||
        parent_path(group) != above_)
        return false;
    return of_groups_ ? is_of_raster(open_node(hierarchy, group, nullptr).get())
                      : STARTS_WITH(last_part(group).c_str(), "ovr_");
}

std::vector<std::string> LevelPlaces::names_for(int factor) const {
    static constexpr int kMostLevels = 1000;
    const std::string beside = "ovr_" + std::to_string(factor) + "x";
    if (!of_groups_)
        return {beside, beside + "_" + last_part(array_)};
    std::vector<std::string> names;
    for (int number = 1; number < kMostLevels; number++)
        names.push_back(std::to_string(number));
    return names;
}

enum zb_code LevelPlaces::free_group(zb_hierarchy *hierarchy, int factor,
                                     const std::vector<std::string> &taken, std::string *group,
                                     zb_error *err) const {
    const std::vector<std::string> names = names_for(factor);
    for (const std::string &name : names) {
        const std::string path = join_path(above_, name);
        enum zb_place found = ZB_PLACE_EMPTY;
        if (std::find(taken.begin(), taken.end(), path) != taken.end())
            continue;
        const enum zb_code code = zb_place_look(hierarchy, path.c_str(), &found, err);
        *group = path;
        if (code != ZB_OK || found == ZB_PLACE_EMPTY)
            return code;
    }
    return zb_fail(err, ZB_ECONFLICT,
                   "/%s %s /%s are there, and are no levels of it; delete one, or rename it",
                   join_path(above_, names.front()).c_str(), of_groups_ ? "to" : "and",
                   join_path(above_, names.back()).c_str());
}

std::string LevelPlaces::group_attributes(const std::string &group) const {
    const std::string said = json_object(
        {{"raster", json_quote(below(array_, above_))}, {"group", json_quote(last_part(group))}});
    return of_groups_ ? json_object({{kLevelOf, said}}) : "{}";
}

bool LevelPlaces::is_begun(const zb_child &group) const {
    Children inside;
    return is_abandoned(group.name) && is_group(group.node) &&
           (of_groups_ ? is_of_raster(group.node) : STARTS_WITH(group.name, "ovr_")) &&
           inside.list(group.node, nullptr) == ZB_OK && inside.begin() == inside.end();
}

/* ---- Nodes ---- */

std::string mask_of(const NodePtr &array) {
    const std::string name = attribute_text(array.get(), kMask);
    return is_child_name(name) ? join_path(parent_path(zb_node_path(array.get())), name)
                               : std::string();
}

enum zb_code forget_level(zb_hierarchy *hierarchy, const std::string &group, zb_error *err) {
    NodePtr node = open_node(hierarchy, group, err);
    if (node == nullptr)
        return err->code;
    AttributeChanges changes;
    changes.remove(kLevelOf);
    return changes.apply(&node, err);
}

std::string home_of_level(zb_hierarchy *hierarchy, const std::string &level) {
    const std::string path = parent_path(level);
    const NodePtr group = open_node(hierarchy, path, nullptr);
    const NodePtr array = open_node(hierarchy, level, nullptr);
    Children children;
    if (group == nullptr || children.list(group.get(), nullptr) != ZB_OK)
        return level;
    for (const zb_child &child : children) {
        const zb_array_info *info = child.node == nullptr ? nullptr : zb_node_array(child.node);
        const std::string other = join_path(path, child.name);
        const bool helps = info != nullptr && (info->ndim < 2 || other == mask_of(array));
        if (other != level && !helps)
            return level;
    }
    return path;
}

Pyramid pyramid_for_changes(zb_hierarchy *hierarchy, const Pyramid &pyramid,
                            const std::string &array) {
    const std::string own = parent_path(array), above = parent_path(own);
    const NodePtr group =
        pyramid.empty() && !own.empty() ? open_node(hierarchy, above, nullptr) : nullptr;
    Pyramid found = pyramid;
    Children siblings;
    if (group == nullptr || siblings.list(group.get(), nullptr) != ZB_OK)
        return found;
    found.of_groups = std::any_of(siblings.begin(), siblings.end(), [&](const zb_child &child) {
        return stated_raster(child.node) == below(array, above);
    });
    if (found.of_groups)
        found.group = above;
    return found;
}

bool awaits_levels(zb_hierarchy *hierarchy, const Pyramid &pyramid, const std::string &array) {
    return pyramid.levels.size() == 1 && LevelPlaces(pyramid, array).of_groups() &&
           home_of_level(hierarchy, array) != array;
}

/* ---- Levels on no list ---- */

static bool is_raster(const zb_node *node) {
    const zb_array_info *info = node == nullptr ? nullptr : zb_node_array(node);
    return info != nullptr && info->ndim >= 2;
}

static bool is_named_as_level(const std::string &name) {
    const size_t digits = std::min(name.find_first_not_of("0123456789", 4), name.size());
    return name.compare(0, 4, "ovr_") == 0 && digits > 4 && name.compare(digits, 1, "x") == 0;
}

/* The name of a raster beside a group that has one of that name inside. */
static std::string raster_beside(const Children &siblings, const Children &inside) {
    for (const zb_child &raster : siblings) {
        for (const zb_child &level : inside) {
            if (is_raster(raster.node) && is_raster(level.node) &&
                strcmp(raster.name, level.name) == 0)
                return raster.name;
        }
    }
    return {};
}

std::string raster_of_level(const Children &siblings, const zb_node *group,
                            const Children &inside) {
    const std::string own = zb_node_path(group), raster = stated_raster(group);
    if (raster.empty())
        return is_named_as_level(last_part(own)) ? raster_beside(siblings, inside) : std::string();
    const auto has_raster = [&](const std::string &path) {
        return is_raster(open_node(zb_node_hierarchy(group), path, nullptr).get());
    };
    const bool is_level = is_child_name(parent_path(raster)) &&
                          has_raster(join_path(parent_path(own), raster)) &&
                          has_raster(join_path(own, last_part(raster)));
    return is_level ? raster : std::string();
}

std::string raster_of_child(const Children &siblings, const zb_child &child) {
    Children inside;
    const bool may_be = is_group(child.node) &&
                        (is_named_as_level(child.name) || !stated_raster(child.node).empty());
    return may_be && inside.list(child.node, nullptr) == ZB_OK
               ? raster_of_level(siblings, child.node, inside)
               : std::string();
}

} // namespace zarr3
