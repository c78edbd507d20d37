/* SPDX-License-Identifier: MIT */
/*
 * Both kinds of arrays are small and made anew for each change: attributes of an older CRS must not
 * stay beside those of the new one. Before that it is made sure that no other array of the group
 * depends on them.
 */
#include "cf_write.h"

#include <cmath>

#include "attributes.h"
#include "coordinates.h"
#include "cpl_conv.h"
#include "cpl_string.h"
#include "json_text.h"
#include "zarrbridge/write.h"

namespace zarr3 {

enum zb_code CfGroup::open(const NodePtr &array, zb_error *err) {
    array_ = array;
    path_ = parent_path(zb_node_path(array.get()));
    const NodePtr group = open_node(zb_node_store(array.get()), path_, err);
    if (group == nullptr)
        return err->code;
    zb_children children;
    const enum zb_code code = zb_group_children(group.get(), &children, err);
    if (code != ZB_OK)
        return code;
    for (size_t i = 0; i < children.count; i++) {
        const zb_child &child = children.child[i];
        if (join_path(path_, child.name) != zb_node_path(array.get()))
            others_.push_back(
                {child.node == nullptr ? nullptr : adopt_node(zb_node_retain(child.node)),
                 child.name});
    }
    zb_children_free(&children);
    return ZB_OK;
}

const CfGroup::Neighbour *CfGroup::find(const std::string &name) const {
    for (const Neighbour &other : others_) {
        if (other.name == name)
            return &other;
    }
    return nullptr;
}

/* Groups may hold arrays that look for their coordinates here: then nothing is ours alone. What
   cannot be opened may depend on anything. */
bool CfGroup::is_shared_mapping(const std::string &name) const {
    for (const Neighbour &other : others_) {
        if (other.node == nullptr || zb_node_array(other.node.get()) == nullptr)
            return true;
        for (const std::string &word : words(attribute_text(other.node.get(), "grid_mapping"))) {
            if (word.substr(0, word.find(':')) == name)
                return true;
        }
    }
    return false;
}

bool CfGroup::is_shared_dimension(const std::string &name) const {
    for (const Neighbour &other : others_) {
        const zb_array_info *info =
            other.node == nullptr ? nullptr : zb_node_array(other.node.get());
        if (info == nullptr)
            return true;
        for (uint32_t dim = 0; dim < info->ndim && other.name != name; dim++) {
            if (dimension_name(info, dim) == name)
                return true;
        }
    }
    return false;
}

/* Readers give spatial_ref to arrays that name no grid mapping, too. */
bool CfGroup::has_other_rasters() const {
    for (const Neighbour &other : others_) {
        const zb_array_info *info =
            other.node == nullptr ? nullptr : zb_node_array(other.node.get());
        if (info == nullptr || info->ndim >= 2)
            return true;
    }
    return false;
}

enum zb_code CfGroup::remove(const std::string &name, zb_error *err) {
    if (find(name) == nullptr)
        return ZB_OK;
    return zb_node_delete(zb_node_store(array_.get()), join_path(path_, name).c_str(), err);
}

/* A coordinate of these values, or a scalar without meaning that carries attributes. */
enum zb_code CfGroup::put(const std::string &name, const std::vector<double> *values,
                          const std::string &attributes, zb_error *err) {
    enum zb_code code = remove(name, err);
    if (code != ZB_OK)
        return code;
    const uint64_t extent = values == nullptr ? 1 : values->size();
    const char *const dimension = name.c_str();
    zb_array_spec spec = {};
    spec.ndim = values == nullptr ? 0 : 1;
    spec.shape = &extent;
    spec.inner_shape = &extent;
    spec.dtype =
        values == nullptr ? zb_dtype{ZB_KIND_INT, 8, false} : zb_dtype{ZB_KIND_FLOAT, 8, false};
    spec.dimension_names = values == nullptr ? nullptr : &dimension;
    spec.attributes = attributes.c_str();
    zb_node *node = nullptr;
    code = zb_array_create(zb_node_store(array_.get()), join_path(path_, name).c_str(), &spec,
                           &node, err);
    if (code != ZB_OK || values == nullptr) {
        zb_node_release(node);
        return code;
    }
    zb_writer *writer = nullptr;
    code = zb_writer_open(node, nullptr, &writer, err);
    zb_node_release(node);
    if (code != ZB_OK)
        return code;
    zb_write write = {};
    write.data = values->data();
    write.dtype = spec.dtype;
    code = zb_writer_write(writer, &write, err);
    if (code == ZB_OK)
        return zb_writer_close(writer, err);
    zb_writer_abandon(writer);
    return code;
}

/* ---- Grid mapping ---- */

/* CF's parameters come as text; numbers and lists of numbers become such. */
static std::string parameter_json(const char *text) {
    const CPLStringList parts(CSLTokenizeString2(text, ",", CSLT_ALLOWEMPTYTOKENS));
    std::vector<double> numbers;
    for (int i = 0; i < parts.size(); i++) {
        if (CPLGetValueType(parts[i]) == CPL_VALUE_STRING)
            return json_quote(text);
        numbers.push_back(CPLAtof(parts[i]));
    }
    if (numbers.empty())
        return json_quote(text);
    return numbers.size() == 1 ? json_number(numbers[0]) : json_numbers(numbers);
}

/* The CRS as CF has it; what CF has no parameters for is in crs_wkt. *units: of its axes. */
static std::vector<std::pair<std::string, std::string>>
cf_parameters(const OGRSpatialReference &srs, std::string *units) {
    std::vector<std::pair<std::string, std::string>> members;
    char *name = nullptr, *unit = nullptr;
    char **pairs = nullptr;
    CPLErrorStateBackuper quiet(CPLQuietErrorHandler);
    if (srs.exportToCF1(&name, &pairs, &unit, nullptr) == OGRERR_NONE) {
        if (name != nullptr && *name != '\0')
            members.emplace_back("grid_mapping_name", json_quote(name));
        for (char **pair = pairs; pair != nullptr && *pair != nullptr; pair++) {
            char *key = nullptr;
            const char *value = CPLParseNameValue(*pair, &key);
            if (key != nullptr && value != nullptr && !EQUAL(key, "grid_mapping_name") &&
                !EQUAL(key, "crs_wkt") && !EQUAL(key, "spatial_ref"))
                members.emplace_back(key, parameter_json(value));
            CPLFree(key);
        }
        *units = unit == nullptr ? "" : unit;
    }
    CPLFree(name);
    CPLFree(unit);
    CSLDestroy(pairs);
    return members;
}

/* A scalar that carries attributes. A name in an attribute may lead to anything, data as well. */
static bool is_mapping(const zb_node *node) {
    const zb_array_info *info = node == nullptr ? nullptr : zb_node_array(node);
    return info != nullptr && (info->ndim == 0 || (info->ndim == 1 && info->shape[0] == 1));
}

enum zb_code CfGroup::write_grid_mapping(const OGRSpatialReference *srs,
                                         const GeoTransform *transform, AttributeChanges *changes,
                                         zb_error *err) {
    const std::vector<std::string> named = words(attribute_text(array_.get(), "grid_mapping"));
    const std::string before = named.empty() ? "" : named[0].substr(0, named[0].find(':'));
    const Neighbour *there = find(before);
    const bool owned =
        there != nullptr && is_mapping(there->node.get()) && !is_shared_mapping(before);
    if (srs == nullptr && transform == nullptr) {
        changes->remove("grid_mapping");
        if (!before.empty() && attribute_text(array_.get(), "coordinates") == before)
            changes->remove("coordinates");
        return owned ? remove(before, err) : ZB_OK;
    }
    /* What has the name without being ours is left alone, whatever it is. */
    std::string name = owned ? before : "spatial_ref";
    if (!owned && (find(name) != nullptr || has_other_rasters()))
        name = "spatial_ref_" + last_part(zb_node_path(array_.get()));
    there = find(name);
    if (!owned && there != nullptr) {
        changes->remove("grid_mapping");
        return ZB_OK;
    }
    std::vector<std::pair<std::string, std::string>> members;
    if (srs != nullptr) {
        std::string units;
        const std::string wkt = json_quote(crs_text(*srs));
        members = cf_parameters(*srs, &units);
        members.emplace_back("crs_wkt", wkt);
        members.emplace_back("spatial_ref", wkt);
    }
    if (transform != nullptr) {
        std::string text;
        for (const double value : *transform)
            text += (text.empty() ? "" : " ") + number_text(value);
        members.emplace_back("GeoTransform", json_quote(text));
    }
    changes->set("grid_mapping", json_quote(name));
    /* Makes it a coordinate in xarray, which otherwise takes it for data. */
    if (attribute(array_.get(), "coordinates") == nullptr ||
        (!before.empty() && attribute_text(array_.get(), "coordinates") == before))
        changes->set("coordinates", json_quote(name));
    return put(name, nullptr, json_object(members), err);
}

/* ---- Coordinates ---- */

static std::string axis_attributes(char axis, const OGRSpatialReference *srs) {
    const bool is_x = axis == 'X';
    std::vector<std::pair<std::string, std::string>> members = {
        {"axis", json_quote(std::string(1, axis))}};
    if (srs != nullptr && srs->IsGeographic()) {
        members.emplace_back("long_name", json_quote(is_x ? "longitude" : "latitude"));
        members.emplace_back("standard_name", json_quote(is_x ? "longitude" : "latitude"));
        members.emplace_back("units", json_quote(is_x ? "degrees_east" : "degrees_north"));
    } else if (srs != nullptr && srs->IsProjected()) {
        std::string units;
        cf_parameters(*srs, &units);
        members.emplace_back(
            "long_name", json_quote(std::string(is_x ? "x" : "y") + " coordinate of projection"));
        members.emplace_back("standard_name", json_quote(std::string("projection_") +
                                                         (is_x ? "x" : "y") + "_coordinate"));
        if (!units.empty())
            members.emplace_back("units", json_quote(units));
    }
    return json_object(members);
}

/* Is the array one that only says where rows or columns lie? */
static bool is_coordinate(const zb_node *node, const std::string &name) {
    const zb_array_info *info = node == nullptr ? nullptr : zb_node_array(node);
    return info != nullptr && info->ndim == 1 && dimension_name(info, 0) == name;
}

enum zb_code CfGroup::write_coordinates(const Layout &layout, const OGRSpatialReference *srs,
                                        const GeoTransform *transform, zb_error *err) {
    const zb_array_info *info = zb_node_array(array_.get());
    const bool upright = transform != nullptr && (*transform)[2] == 0 && (*transform)[4] == 0;
    for (const char axis : {'Y', 'X'}) {
        const int dim = axis == 'X' ? layout.axes.x : layout.axes.y;
        const std::string name = dimension_name(info, static_cast<uint32_t>(dim));
        const Neighbour *there = find(name);
        if (name.empty() || (there != nullptr && !is_coordinate(there->node.get(), name)) ||
            (there == nullptr && !upright))
            continue;
        if (is_shared_dimension(name)) {
            if (there != nullptr)
                CPLError(CE_Warning, CPLE_AppDefined,
                         "array /%s serves other arrays, too, and stays as it is: programs that "
                         "go by coordinates see /%s where it was",
                         zb_node_path(there->node.get()), zb_node_path(array_.get()));
            continue;
        }
        enum zb_code code;
        if (upright) {
            std::vector<double> values(info->shape[dim]);
            const double first = (*transform)[axis == 'X' ? 0 : 3];
            const double step = (*transform)[axis == 'X' ? 1 : 5];
            for (size_t i = 0; i < values.size(); i++)
                values[i] = first + (static_cast<double>(i) + 0.5) * step;
            code = put(name, &values, axis_attributes(axis, srs), err);
        } else {
            code = remove(name, err);
        }
        if (code != ZB_OK)
            return code;
    }
    return ZB_OK;
}

} // namespace zarr3
