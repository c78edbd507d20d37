/* SPDX-License-Identifier: MIT */
#include "dataset/levels.h"

#include <algorithm>
#include <iterator>

#include "array/attributes.h"
#include "array/conventions.h"
#include "array/hdf5_side.h"
#include "base/errors.h"
#include "base/guard.h"
#include "base/handles.h"
#include "base/json_text.h"
#include "geo/group_place.h"
#include "side/side_properties.h"
#include "zarrbridge/companions.h"
#include "zarrbridge/conventions.h"

namespace zarr3 {

/* ---- Properties ---- */

/* What says where the raster lies, or names nodes beside it. A level has its own. */
static bool is_own_matter(const std::string &name) {
    static const char *const kNames[] = {
        "zarr_conventions",  "grid_mapping", "coordinates", "bounds", "ancillary_variables",
        "cell_measures",     "multiscales",  "ome",         "_CRS",   "GeoTransform",
        "_ARRAY_DIMENSIONS",
    };
    return is_place_attribute(name) || zb_gdal_owns_attribute(name.c_str()) ||
           std::any_of(std::begin(kNames), std::end(kNames),
                       [&](const char *one) { return name == one; });
}

/* What the GDAL extension says of all arrays with such pixels. */
static GdalMembers level_members(const zb_node *raster) {
    const GdalExtension extension = gdal_extension(raster);
    GdalMembers members;
    for (const auto member : {ZB_GDAL_NODATA, ZB_GDAL_FILL_IS_NODATA, ZB_GDAL_HAS_CRS})
        members[member] = compact_json(zb_gdal_extension_get(extension.get(), member));
    const XmlTree tree = side_properties_of(raster);
    if (tree != nullptr)
        keep_meanings(tree.get());
    const std::string kept = side_properties_text(tree.get());
    if (!kept.empty())
        members[ZB_GDAL_PAM] = json_quote(kept);
    return members;
}

/* As JSON. */
static std::vector<std::pair<std::string, std::string>> level_attributes(const zb_node *raster) {
    std::vector<std::pair<std::string, std::string>> attributes;
    const zb_json *all = zb_node_attributes(raster);
    for (const zb_json *member = zb_json_first(all); member != nullptr;
         member = zb_json_next(member)) {
        const std::string name = zb_json_name(member);
        const char *text = zb_json_string(member);
        if (name == kHdf5Side) {
            const std::string kept = hdf5_side_of_copies(raster, false, [](const zb_json *one) {
                return !is_own_matter(zb_json_name(one));
            });
            if (!kept.empty())
                attributes.emplace_back(name, kept);
        } else if (!is_own_matter(name)) {
            attributes.emplace_back(name, text != nullptr ? json_quote(text) : json_text(member));
        }
    }
    const std::string extension = gdal_extension_json(level_members(raster));
    if (!extension.empty())
        attributes.emplace_back(ZB_GDAL_EXTENSION, extension);
    return attributes;
}

bool has_side_attributes(const zb_node *raster) {
    return attribute(raster, kHdf5Side) != nullptr || side_properties_of(raster) != nullptr;
}

void copy_attributes(const zb_node *raster, const zb_node *level, AttributeChanges *changes) {
    std::string side;
    for (const auto &[name, before] : level_attributes(level)) {
        if (name != kHdf5Side && name != ZB_GDAL_EXTENSION)
            changes->remove(name);
    }
    for (const auto &[name, value] : level_attributes(raster)) {
        if (name == kHdf5Side)
            side = value;
        else if (name != ZB_GDAL_EXTENSION)
            changes->set(name, value);
    }
    const GdalMembers members = level_members(raster);
    for (const auto member : {ZB_GDAL_PAM, ZB_GDAL_NODATA, ZB_GDAL_FILL_IS_NODATA, ZB_GDAL_HAS_CRS})
        changes->set(member, members[member]);
    if (!side.empty() || attribute(level, kHdf5Side) != nullptr)
        follow_hdf5_side(side, is_own_matter, changes);
}

std::optional<GeoTransform> level_transform(const std::optional<GeoTransform> &raster,
                                            const Layout &from, const Layout &to) {
    if (!raster)
        return std::nullopt;
    GeoTransform t = *raster;
    const double across = static_cast<double>(from.width) / to.width;
    const double down = static_cast<double>(from.height) / to.height;
    for (const size_t i : {size_t{1}, size_t{4}})
        t[i] *= across;
    for (const size_t i : {size_t{2}, size_t{5}})
        t[i] *= down;
    return t;
}

LayoutEntry layout_entry(const LevelPlaces &places, const zb_node *raster,
                         const Layout &raster_layout, const zb_node *level,
                         const std::string &level_path, const Layout &level_layout,
                         const std::optional<GeoTransform> &transform) {
    const std::string path = zb_node_path(raster);
    const zb_array_info *from = zb_node_array(raster), *to = zb_node_array(level);
    LayoutEntry entry;
    entry.asset = places.asset(level_path);
    if (level_path != path)
        entry.derived_from = places.asset(path);
    for (uint32_t d = 0; d < from->ndim; d++)
        entry.scale.push_back(static_cast<double>(from->shape[d]) /
                              static_cast<double>(to->shape[d]));
    entry.width = level_layout.width;
    entry.height = level_layout.height;
    const std::optional<GeoTransform> t = level_transform(transform, raster_layout, level_layout);
    if (t)
        entry.transform = {{(*t)[1], (*t)[2], (*t)[0], (*t)[4], (*t)[5], (*t)[3]}};
    return entry;
}

/* ---- Nodes ---- */

std::vector<int> usual_factors(int width, int height) {
    static constexpr int kSmall = 512;
    std::vector<int> factors;
    for (int before = 1; (std::max(width, height) - 1) / before + 1 > kSmall; before *= 2)
        factors.push_back(before * 2);
    return factors;
}

LevelSize level_size(int width, int height, int factor) {
    const int step = std::max(factor, 1);
    return {factor, (width - 1) / step + 1, (height - 1) / step + 1};
}

std::vector<std::string> made_levels(const NodePtr &array, const Pyramid &pyramid) {
    const LevelPlaces places(pyramid, zb_node_path(array.get()));
    std::vector<std::string> made;
    for (const std::string &level : pyramid.levels) {
        if (places.is_made(zb_node_hierarchy(array.get()), level))
            made.push_back(level);
    }
    return made;
}

/* True if a further hard link of HDF5 leads into what is at or below `moved`, or out of it, that no
   group keeps track of; and where that cannot be told. The places of those within it stay true. */
static bool has_link_across(const NodePtr &node, const std::string &moved) {
    std::vector<std::string> places;
    zb_error err = {};
    if (lost_links(node.get(), &places, &err) != ZB_OK) {
        report(err);
        return true;
    }
    return std::any_of(places.begin(), places.end(),
                       [&](const std::string &place) { return !is_at_or_below(place, moved); });
}

/* In stores of old, HDF5 alone moves the other ends of its links along. */
static bool refuse_if_linked(const NodePtr &node, const std::string &name) {
    zb_hierarchy *hierarchy = zb_node_hierarchy(node.get());
    std::vector<std::string> paths;
    zb_error err = {};
    const auto note_path = [&](const zb_entry *entry) { paths.push_back(entry->path); };
    if (each_node(hierarchy, zb_node_path(node.get()), note_path, &err) != ZB_OK) {
        report(err);
        return false;
    }
    const auto linked = std::find_if(paths.begin(), paths.end(), [&](const std::string &path) {
        return has_link_across(open_node(hierarchy, path, nullptr), zb_node_path(node.get()));
    });
    if (linked == paths.end())
        return true;
    CPLError(CE_Failure, CPLE_NotSupported,
             "%s: /%s has further hard links of HDF5, which would lead nowhere: rename it by HDF5 "
             "(H5Lmove, h5py's move), or remove these links",
             name.c_str(), linked->c_str());
    return false;
}

static bool reported(enum zb_code code, const zb_error &err) {
    if (code != ZB_OK)
        report(err);
    return code == ZB_OK;
}

bool may_be_renamed(const NodePtr &node, const std::string &to, const std::string &name) {
    zb_error err;
    return reported(zb_companions_may_move(node.get(), to.c_str(), &err), err) &&
           refuse_if_linked(node, name);
}

bool may_rename_dimensions(const NodePtr &array) {
    zb_error err;
    return reported(zb_companions_refuse(array.get(), "with its dimensions' names",
                                         "whose levels have the same dimensions", &err),
                    err);
}

bool may_be_resized(const NodePtr &array) {
    zb_error err;
    return reported(zb_companions_refuse(array.get(), "of its present size", nullptr, &err), err);
}

enum zb_code remove_companions(const NodePtr &node, zb_error *err) {
    char *text = nullptr;
    const enum zb_code code = zb_companions_delete(node.get(), nullptr, &text, err);
    const CoreText listed(text);
    return code != ZB_OK || listed == nullptr
               ? code
               : repeat_place(zb_node_hierarchy(node.get()), listed.get(), false, err);
}

} // namespace zarr3
