/* SPDX-License-Identifier: MIT */
/*
 * Dimensions of one name are one dimension to xarray, to CF and to GDAL's own driver: they must
 * have one extent, and the coordinates of that name hold for all. So rasters of one grid share
 * their dimensions, and others get dimensions of their own, named as GDAL's own driver names them.
 */
#include "geo/shared_names.h"

#include "array/attributes.h"
#include "array/dimension_names.h"
#include "array/pyramid.h"
#include "geo/cf_group.h"
#include "zarrbridge/write.h"

#include "zarrbridge/change.h"

namespace zarr3 {

namespace {

/* The use that a group makes of a name. */
struct Use {
    bool has_groups = false; /* in which arrays may look for coordinates of that name */
    bool same_extent = true;
    bool used = false;             /* as a dimension, or as a node's name */
    bool above = false;            /* by an array of a group above, whose coordinates reach down */
    bool aligned = false;          /* where coordinates of one name have to be the same, or none */
    const zb_node *node = nullptr; /* the node of that name, if it can be opened */
};

} // namespace

static Use use_of(const Children &children, const std::string &self, const std::string &name,
                  uint64_t extent) {
    Use use;
    for (const zb_child &child : children) {
        if (child.name == self)
            continue;
        if (child.name == name) {
            use.used = true;
            use.node = child.node;
        }
        const zb_array_info *info = child.node == nullptr ? nullptr : zb_node_array(child.node);
        use.has_groups = use.has_groups || info == nullptr;
        for (uint32_t dim = 0; info != nullptr && dim < info->ndim; dim++) {
            if (dimension_name(info, dim) != name)
                continue;
            use.used = true;
            use.same_extent = use.same_extent && info->shape[dim] == extent;
        }
    }
    return use;
}

/* True if the array would have its own place, and no other, with a dimension of the usual name. */
static bool can_share(const Use &use, const std::string &name, uint64_t extent,
                      const Georeference &georeference) {
    const zb_node *coordinate = use.node;
    const bool upright = georeference.transform && has_coordinates(*georeference.transform);
    if (!use.used && (name == "band" || !upright))
        return !use.above;
    if (!use.used)
        return !use.has_groups && !(use.aligned && use.above);
    if (!use.same_extent || (coordinate != nullptr && !is_coordinate(coordinate, name)))
        return false;
    if (name == "band" || !upright)
        return coordinate == nullptr;
    const OGRSpatialReference *srs = georeference.srs ? &*georeference.srs : nullptr;
    return coordinate != nullptr &&
           says_same(coordinate,
                     axis_values(name == "x" ? 'X' : 'Y', extent, *georeference.transform), srs);
}

enum zb_code name_dimensions(zb_hierarchy *hierarchy, const std::string &array_path,
                             const Georeference &georeference, NewArray *plan, zb_error *err) {
    const NodePtr group = open_node(hierarchy, parent_path(array_path), err);
    Children children;
    const enum zb_code code = group == nullptr ? err->code : children.list(group.get(), err);
    if (code != ZB_OK)
        return code;
    const std::string array = last_part(array_path);
    NearbyNodes around(HierarchyPtr(zb_hierarchy_retain(hierarchy), zb_hierarchy_release),
                       array_path);
    /* xarray.open_datatree(), for which levels are groups, wants coordinates below to be those
       above. */
    const NodePtr there = open_node(hierarchy, array_path, nullptr);
    const bool aligned = there != nullptr && zb_node_array(there.get()) != nullptr &&
                         find_pyramid(there.get(), around).of_groups;
    for (size_t d = 0; d < plan->names.size(); d++) {
        const std::string usual = usual_name(plan->names[d], array);
        const uint64_t extent = plan->shape[d];
        Use use = use_of(children, array, usual, extent);
        use.above = around.find_array(usual) != nullptr;
        use.aligned = aligned;
        plan->names[d] = can_share(use, usual, extent, georeference) ? usual : array + "_" + usual;
    }
    return ZB_OK;
}

/* Data may have such a name, too. */
std::vector<std::string> helpers_of(const zb_node *array) {
    const std::string path = zb_node_path(array);
    const zb_array_info *info = zb_node_array(array);
    std::vector<std::string> found;
    for (const std::string &name : own_helpers(last_part(path))) {
        const std::string beside = join_path(parent_path(path), name);
        const NodePtr node = open_node(zb_node_hierarchy(array), beside, nullptr);
        bool serves = node != nullptr && zb_node_array(node.get()) != nullptr &&
                      zb_node_array(node.get())->ndim == 0 &&
                      attribute_text(array, "grid_mapping") == name;
        for (uint32_t dim = 0; dim < info->ndim && !serves; dim++)
            serves = dimension_name(info, dim) == name && is_coordinate(node.get(), name);
        if (serves)
            found.push_back(beside);
    }
    return found;
}

void remove_helpers(zb_hierarchy *hierarchy, const std::string &array_path,
                    const std::vector<std::string> &helpers) {
    const NodePtr array = open_node(hierarchy, array_path, nullptr);
    CfGroup group;
    if (array == nullptr || group.open(array, nullptr) != ZB_OK)
        return;
    for (const std::string &path : helpers) {
        if (!group.serves_others(last_part(path)))
            zb_node_delete(hierarchy, path.c_str(), nullptr);
    }
}

} // namespace zarr3
