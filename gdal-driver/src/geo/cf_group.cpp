/* SPDX-License-Identifier: MIT */
/*
 * Both kinds of arrays are small and made anew for each change: attributes of an older CRS must not
 * stay beside those of the new one. Before that it is made sure that no other array of the group
 * depends on them.
 */
#include "geo/cf_group.h"

#include <algorithm>
#include <cmath>

#include "array/attributes.h"
#include "array/coordinates.h"
#include "array/dimension_names.h"
#include "array/pyramid.h"
#include "base/json_text.h"
#include "base/name_values.h"
#include "base/number_text.h"
#include "cpl_conv.h"
#include "cpl_string.h"
#include "geo/crs.h"
#include "geo/find_grid_mapping.h"
#include "geo/units.h"
#include "zarrbridge/change.h"

namespace zarr3 {

std::vector<std::string> own_helpers(const std::string &array) {
    return {array + "_x", array + "_y", array + "_band", "spatial_ref_" + array};
}

std::vector<std::string> shared_helpers() {
    return {"x", "y", "spatial_ref"};
}

enum zb_code CfGroup::open(const NodePtr &array, zb_error *err) {
    array_ = array;
    path_ = parent_path(zb_node_path(array.get()));
    const NodePtr group = open_node(zb_node_hierarchy(array.get()), path_, err);
    if (group == nullptr)
        return err->code;
    Children children;
    const enum zb_code code = children.list(group.get(), err);
    if (code != ZB_OK)
        return code;
    NearbyNodes around(array.get());
    levels_ = find_pyramid(array.get(), around).levels;
    const std::string mask = gdal_text(array.get(), ZB_GDAL_MASK); /* goes where the array goes */
    for (const zb_child &child : children) {
        if (join_path(path_, child.name) != zb_node_path(array.get()) && child.name != mask)
            others_.push_back(
                {child.node == nullptr ? nullptr : adopt_node(zb_node_retain(child.node)),
                 child.name});
    }
    return ZB_OK;
}

const CfGroup::Neighbour *CfGroup::find(const std::string &name) const {
    for (const Neighbour &other : others_) {
        if (other.name == name)
            return &other;
    }
    return nullptr;
}

/* A name that holds the array's own was made for it. */
bool CfGroup::is_own(const std::string &name) const {
    const std::vector<std::string> names = own_helpers(zb_node_name(array_.get()));
    return std::find(names.begin(), names.end(), name) != names.end();
}

/* The levels of the raster go where it goes. What cannot be opened may depend on anything. */
bool CfGroup::is_used_below(const Neighbour &other, const ArrayTest &uses) const {
    return other.node == nullptr || any_array_below(other.node.get(), [&](const zb_node *array) {
               const bool is_level =
                   std::find(levels_.begin(), levels_.end(), zb_node_path(array)) != levels_.end();
               return !is_level && uses(array);
           });
}

bool CfGroup::is_shared_mapping(const std::string &name) const {
    const auto uses = [path = join_path(path_, name)](const zb_node *array) {
        return takes_grid_mapping(array, path);
    };
    for (const Neighbour &other : others_) {
        if (other.node == nullptr || zb_node_array(other.node.get()) == nullptr) {
            if (!is_own(name) && is_used_below(other, uses))
                return true;
            continue;
        }
        for (const std::string &word : words(attribute_text(other.node.get(), "grid_mapping"))) {
            if (word.substr(0, word.find(':')) == name)
                return true;
        }
    }
    return false;
}

bool CfGroup::is_shared_dimension(const std::string &name) const {
    const zb_array_info *own = zb_node_array(array_.get());
    uint64_t length = 0;
    for (uint32_t dim = 0; dim < own->ndim; dim++)
        length = dimension_name(own, dim) == name ? own->shape[dim] : length;
    const auto uses = [path = join_path(path_, name), length](const zb_node *array) {
        return takes_coordinate(array, path, length);
    };
    for (const Neighbour &other : others_) {
        const zb_array_info *info =
            other.node == nullptr ? nullptr : zb_node_array(other.node.get());
        if (info == nullptr && !is_own(name) && is_used_below(other, uses))
            return true;
        for (uint32_t dim = 0; info != nullptr && dim < info->ndim && other.name != name; dim++) {
            if (dimension_name(info, dim) == name)
                return true;
        }
    }
    return false;
}

bool CfGroup::serves_others(const std::string &name) const {
    return is_shared_mapping(name) || is_shared_dimension(name);
}

/* Readers give spatial_ref to arrays that name no grid mapping, too. */
bool CfGroup::has_other_rasters() const {
    const auto names_none = [](const zb_node *array) {
        NearbyNodes around(array);
        return zb_node_array(array)->ndim >= 2 && attribute(array, "grid_mapping") == nullptr &&
               find_grid_mapping(array, around) == nullptr;
    };
    for (const Neighbour &other : others_) {
        const zb_array_info *info =
            other.node == nullptr ? nullptr : zb_node_array(other.node.get());
        if (info == nullptr ? is_used_below(other, names_none) : info->ndim >= 2)
            return true;
    }
    return false;
}

enum zb_code CfGroup::remove(const std::string &name, zb_error *err) {
    if (find(name) == nullptr)
        return ZB_OK;
    others_.erase(std::remove_if(others_.begin(), others_.end(),
                                 [&](const Neighbour &other) { return other.name == name; }),
                  others_.end());
    return delete_node(zb_node_hierarchy(array_.get()), join_path(path_, name), err);
}

enum zb_code CfGroup::put(const std::string &name, const std::vector<double> *values,
                          const std::string &attributes, zb_error *err) {
    const enum zb_code code = remove(name, err);
    if (code != ZB_OK)
        return code;
    return create_coordinate(zb_node_hierarchy(array_.get()), join_path(path_, name), values,
                             attributes, err);
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
    const bool exported = srs.exportToCF1(&name, &pairs, &unit, nullptr) == OGRERR_NONE;
    const GdalText name_owner(name), unit_owner(unit);
    const GdalList pairs_owner(pairs);
    if (exported) {
        if (name != nullptr && *name != '\0')
            members.emplace_back("grid_mapping_name", json_quote(name));
        for (const auto &[key, value] : name_values(pairs)) {
            if (!EQUAL(key.c_str(), "grid_mapping_name") && !EQUAL(key.c_str(), "crs_wkt") &&
                !EQUAL(key.c_str(), "spatial_ref"))
                members.emplace_back(key, parameter_json(value.c_str()));
        }
        *units = unit == nullptr ? "" : unit;
    }
    return members;
}

/* A scalar that carries attributes. A name in an attribute may lead to anything, data as well. */
static bool is_mapping(const zb_node *node) {
    const zb_array_info *info = node == nullptr ? nullptr : zb_node_array(node);
    return info != nullptr && (info->ndim == 0 || (info->ndim == 1 && info->shape[0] == 1));
}

/* An array that names no grid mapping gets what others have left under the usual names. Where there
   is such a one, it names one that says nothing. */
enum zb_code CfGroup::write_no_grid_mapping(const std::string &before, AttributeChanges *changes,
                                            zb_error *err) {
    NearbyNodes around(array_.get());
    const std::string name = "spatial_ref_" + std::string(zb_node_name(array_.get()));
    if (has_usual_grid_mapping(around) && (before == name || find(name) == nullptr)) {
        changes->set("grid_mapping", json_quote(name));
        changes->set("coordinates", json_quote(name));
        return put(name, nullptr, "{}", err);
    }
    changes->remove("grid_mapping");
    if (!before.empty() && attribute_text(array_.get(), "coordinates") == before)
        changes->remove("coordinates");
    return ZB_OK;
}

/* True if `there` is a grid mapping of these very attributes. */
bool CfGroup::defines(const Neighbour *there, const std::string &attributes) {
    const Json wanted = parse_json(attributes);
    return there != nullptr && is_mapping(there->node.get()) && wanted != nullptr &&
           zb_json_same(wanted.get(), zb_node_attributes(there->node.get()));
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
        const enum zb_code code = owned ? remove(before, err) : ZB_OK;
        return code == ZB_OK ? write_no_grid_mapping(before, changes, err) : code;
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
    const std::string definition = json_object(members);
    /* A node of that name that is not ours is left alone. One that says the same, as other rasters
       of one grid have it, is shared. */
    const bool keeps = owned || defines(there, definition);
    std::string name = keeps ? before : "spatial_ref";
    const bool same = !owned && defines(find(name), definition);
    if (!owned && !same && (find(name) != nullptr || has_other_rasters()))
        name = "spatial_ref_" + last_part(zb_node_path(array_.get()));
    if (!owned && !same && find(name) != nullptr) {
        changes->remove("grid_mapping");
        return ZB_OK;
    }
    changes->set("grid_mapping", json_quote(name));
    /* Makes it a coordinate in xarray, which otherwise takes it for data. */
    if (attribute(array_.get(), "coordinates") == nullptr ||
        (!before.empty() && attribute_text(array_.get(), "coordinates") == before))
        changes->set("coordinates", json_quote(name));
    return same ? ZB_OK : put(name, nullptr, definition, err);
}

/* ---- Coordinates ---- */

static std::string axis_attributes(char axis, const OGRSpatialReference *srs) {
    const bool is_x = axis == 'X';
    std::vector<std::pair<std::string, std::string>> members = {
        {"axis", json_quote(std::string(1, axis))}};
    if (srs != nullptr && srs->IsGeographic()) {
        members.emplace_back("long_name", json_quote(is_x ? "longitude" : "latitude"));
        members.emplace_back("standard_name", json_quote(is_x ? "longitude" : "latitude"));
        const std::string units = angular_units(*srs);
        members.emplace_back("units", json_quote(units != "degree" ? units
                                                 : is_x            ? "degrees_east"
                                                                   : "degrees_north"));
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

bool is_coordinate(const zb_node *node, const std::string &name) {
    const zb_array_info *info = node == nullptr ? nullptr : zb_node_array(node);
    return info != nullptr && info->ndim == 1 && dimension_name(info, 0) == name;
}

bool has_coordinates(const GeoTransform &transform) {
    return transform[2] == 0 && transform[4] == 0;
}

std::vector<double> axis_values(char axis, uint64_t extent, const GeoTransform &transform) {
    std::vector<double> values(extent);
    const double first = transform[axis == 'X' ? 0 : 3], step = transform[axis == 'X' ? 1 : 5];
    for (size_t i = 0; i < values.size(); i++)
        values[i] = first + (static_cast<double>(i) + 0.5) * step;
    return values;
}

/* Numbers of other writers are rounded in other ways; what moves a pixel is not rounding. */
bool says_same(const zb_node *coordinate, const std::vector<double> &values,
               const OGRSpatialReference *srs) {
    const std::string units = attribute_text(coordinate, "units");
    const bool same_unit =
        srs == nullptr ? units.empty() : !units.empty() && to_units_of(*srs, units) == 1;
    zb_error err;
    const std::vector<double> there =
        read_coordinate(coordinate, 0, zb_node_array(coordinate)->shape[0], &err);
    if (!same_unit || there.size() != values.size())
        return false;
    const double step = values.size() > 1 ? values[1] - values[0] : 1;
    for (size_t i = 0; i < values.size(); i++) {
        if (!(std::fabs(there[i] - values[i]) <= 1e-6 * std::fabs(step)))
            return false;
    }
    return true;
}

/* The place that a raster has by coordinates alone: regular ones, of rows and of columns. */
enum zb_code CfGroup::may_unset(const Layout &layout, zb_error *err) const {
    const zb_array_info *info = zb_node_array(array_.get());
    std::string kept;
    for (const int dim : {layout.axes.y, layout.axes.x}) {
        const std::string name = dimension_name(info, static_cast<uint32_t>(dim));
        const Neighbour *there = name.empty() ? nullptr : find(name);
        if (there == nullptr || !is_coordinate(there->node.get(), name) ||
            !is_shared_dimension(name))
            return ZB_OK;
        const zb_array_info *form = zb_node_array(there->node.get());
        if (!regular_spacing(read_coordinate(there->node.get(), 0, form->shape[0], nullptr),
                             form->dtype))
            return ZB_OK;
        kept += (kept.empty() ? "/" : " and /") + std::string(zb_node_path(there->node.get()));
    }
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "the place cannot be unset: the coordinates %s serve other arrays, too, and "
                   "readers would go by them; nothing was changed",
                   kept.c_str());
}

/* A coordinate array is one chunk, of which the core takes 1 GiB. */
static constexpr int kMostCoordinates = 1 << 27;

enum zb_code CfGroup::write_coordinates(const Layout &layout, const OGRSpatialReference *srs,
                                        const GeoTransform *transform, zb_error *err) {
    const zb_array_info *info = zb_node_array(array_.get());
    const bool upright = transform != nullptr && has_coordinates(*transform) &&
                         std::max(layout.width, layout.height) <= kMostCoordinates;
    for (const char axis : {'Y', 'X'}) {
        const int dim = axis == 'X' ? layout.axes.x : layout.axes.y;
        const std::string name = dimension_name(info, static_cast<uint32_t>(dim));
        const Neighbour *there = find(name);
        if (name.empty() || (there != nullptr && !is_coordinate(there->node.get(), name)) ||
            (there == nullptr && !upright))
            continue;
        std::vector<double> values;
        if (upright)
            values = axis_values(axis, info->shape[dim], *transform);
        if (is_shared_dimension(name)) {
            if (there != nullptr && !(upright && says_same(there->node.get(), values, srs)))
                CPLError(CE_Warning, CPLE_AppDefined,
                         "array /%s serves other arrays, too, and stays as it is: programs that "
                         "go by coordinates see /%s where it was",
                         zb_node_path(there->node.get()), zb_node_path(array_.get()));
            continue;
        }
        const enum zb_code code =
            upright ? put(name, &values, axis_attributes(axis, srs), err) : remove(name, err);
        if (code != ZB_OK)
            return code;
    }
    return ZB_OK;
}

} // namespace zarr3
