/* SPDX-License-Identifier: MIT */
/*
 * All sources come down to the six numbers of an affine map. They differ in two ways that matter:
 * which of them come first (the spatial: convention orders them as matrices are written, GDAL puts
 * the origin before the steps), and whether positions are those of pixel corners (GDAL, spatial: by
 * default) or of their centres (coordinate arrays, spatial: registration "node").
 *
 * South-up data are left as they are. Turning rows round would show the same map but break the tie
 * between a pixel's row and its index in the array, on which users of both rely.
 */
#include "geo/geotransform.h"

#include <algorithm>
#include <climits>
#include <cmath>

#include "array/attributes.h"
#include "array/conventions.h"
#include "cpl_conv.h"
#include "geo/coordinate_place.h"
#include "geo/grid_mapping.h"

namespace zarr3 {

/* From the affine order of the spatial: convention: x = a*col + b*row + c, y = d*col + e*row +
   f. */
static GeoTransform from_affine(const std::vector<double> &v) {
    return {v[2], v[0], v[1], v[5], v[3], v[4]};
}

/* True if the list states rows and columns, and the raster has others. */
static bool is_other_shape(const std::vector<double> &shape, double rows, double columns) {
    return !shape.empty() && (shape[0] != rows || shape[1] != columns);
}

/* A place is for one shape only, when it states that shape: attributes travel with data that are
   cropped, thinned or made longer, and levels of a pyramid share their extent, not their
   transform. */
bool states_other_shape(const zb_node *node, const Layout &layout) {
    return is_other_shape(number_list(attribute(node, "spatial:shape"), 2), layout.height,
                          layout.width);
}

bool states_other_shape(const zb_node *array, const Axes &axes) {
    const uint64_t *extent = zb_node_array(array)->shape;
    return axes.y >= 0 &&
           is_other_shape(number_list(attribute(array, "spatial:shape"), 2),
                          static_cast<double>(extent[axes.y]), static_cast<double>(extent[axes.x]));
}

static std::optional<GeoTransform> registered(GeoTransform transform,
                                              const std::string &registration) {
    return usable(registration == "node" ? centre_to_corner(transform) : transform);
}

static std::optional<GeoTransform> by_transform(const zb_node *node, const Layout &layout) {
    const std::string type = attribute_text(node, "spatial:transform_type");
    const std::vector<double> list = number_list(attribute(node, "spatial:transform"), 6);
    if (list.empty() || (!type.empty() && type != "affine") || states_other_shape(node, layout))
        return std::nullopt;
    return registered(from_affine(list), attribute_text(node, "spatial:registration"));
}

/* [xmin, ymin, xmax, ymax] of a north-up raster; nodes sit on the box's edge, pixels inside. */
static std::optional<GeoTransform> by_box(const zb_node *node, const Layout &layout) {
    const std::vector<double> box = number_list(attribute(node, "spatial:bbox"), 4);
    if (box.empty())
        return std::nullopt;
    const std::string registration = attribute_text(node, "spatial:registration");
    const double nodes_less = registration == "node" ? 1 : 0;
    const double across = layout.width - nodes_less, down = layout.height - nodes_less;
    return registered({box[0], (box[2] - box[0]) / across, 0, box[3], 0, (box[1] - box[3]) / down},
                      registration);
}

std::optional<GeoTransform> own_place(const zb_node *array, const Layout &layout) {
    const std::optional<GeoTransform> found = by_transform(array, layout);
    return found || states_other_shape(array, layout) ? found : by_box(array, layout);
}

/* The registration may be stated once for all entries of a pyramid. */
static std::string entry_registration(const Pyramid &pyramid, const zb_node *group) {
    return pyramid.registration.empty() ? attribute_text(group, "spatial:registration")
                                        : pyramid.registration;
}

/* The transform of an entry in a pyramid, by the convention. */
static std::optional<GeoTransform> by_entry(const Pyramid &pyramid, const zb_node *group,
                                            const Layout &layout) {
    if (!pyramid.transform || is_other_shape(pyramid.shape, layout.height, layout.width))
        return std::nullopt;
    return registered(from_affine({pyramid.transform->begin(), pyramid.transform->end()}),
                      entry_registration(pyramid, group));
}

/* True if the node states a place by the convention. */
static bool states_place(const zb_node *node, NearbyNodes &around) {
    const bool has = attribute(node, "spatial:transform") != nullptr ||
                     attribute(node, "spatial:bbox") != nullptr;
    return has && follows(node, ZB_CONVENTION_SPATIAL, around);
}

static const zb_node *pyramid_group(const Pyramid &pyramid, NearbyNodes &around) {
    return pyramid.empty() ? nullptr : around.at(pyramid.group).get();
}

/* The groups that state a place of the array, or of its finest level: its own, the pyramid's. */
static std::vector<const zb_node *> placing_groups(const zb_node *array, const Axes &axes,
                                                   const Pyramid &pyramid, NearbyNodes &around) {
    const zb_node *parent = around.group_above(1), *top = pyramid_group(pyramid, around);
    std::vector<const zb_node *> groups;
    for (const zb_node *group : {parent, top == parent ? nullptr : top}) {
        if (states_place(group, around) && suits_spatial_dimensions(group, array, axes))
            groups.push_back(group);
    }
    return groups;
}

/* From the most specific to the most general: what is said of this array, of this level, of its
   group, of the group of its pyramid. Transform and shape of a pyramid's group belong to the finest
   level; coarser ones derive theirs from the box. */
static std::optional<GeoTransform> by_convention(const zb_node *array, const Layout &layout,
                                                 const Pyramid &pyramid, NearbyNodes &around) {
    const zb_node *top = pyramid_group(pyramid, around);
    const std::vector<const zb_node *> groups = placing_groups(array, layout.axes, pyramid, around);
    const bool own = states_place(array, around);
    std::optional<GeoTransform> found;
    if (own)
        found = by_transform(array, layout);
    if (!found && suits_spatial_dimensions(top, array, layout.axes))
        found = by_entry(pyramid, top, layout);
    const auto is_of_finest = [&](const zb_node *group) {
        return group == top && pyramid.self != 0;
    };
    for (size_t i = 0; i < groups.size() && !found; i++) {
        if (!is_of_finest(groups[i]))
            found = by_transform(groups[i], layout);
    }
    if (!found && own && !states_other_shape(array, layout))
        found = by_box(array, layout);
    for (size_t i = 0; i < groups.size() && !found; i++) {
        if (is_of_finest(groups[i]) || !states_other_shape(groups[i], layout))
            found = by_box(groups[i], layout);
    }
    return found;
}

std::string area_or_point(const zb_node *array, const Layout &layout, const Pyramid &pyramid,
                          NearbyNodes &around) {
    if (layout.axes.y < 0)
        return {};
    const zb_node *top = pyramid_group(pyramid, around);
    std::string registration;
    if (states_place(array, around))
        registration = attribute_text(array, "spatial:registration");
    else if (pyramid.transform && suits_spatial_dimensions(top, array, layout.axes))
        registration = entry_registration(pyramid, top);
    else if (const auto groups = placing_groups(array, layout.axes, pyramid, around);
             !groups.empty())
        registration = attribute_text(groups[0], "spatial:registration");
    else
        return {};
    return registration == "node" ? "Point" : "Area";
}

/* rioxarray and GDAL write six numbers in GDAL's order, separated by spaces. */
std::optional<GeoTransform> grid_mapping_transform(const zb_node *array, NearbyNodes &around) {
    const NodePtr mapping = find_grid_mapping(array, around);
    const zb_json *value = attribute(mapping.get(), "GeoTransform");
    std::vector<double> numbers = number_list(value, 6);
    if (numbers.empty()) {
        for (const std::string &word : words(json_text(value)))
            numbers.push_back(CPLAtof(word.c_str()));
    }
    if (numbers.size() != 6)
        return std::nullopt;
    GeoTransform transform;
    std::copy(numbers.begin(), numbers.end(), transform.begin());
    return usable(transform);
}

/* Where coordinates that contradict a stated place put the array. Nothing where the place was set
   although they, which other arrays need, say this one (georeference.cpp). */
static std::optional<GeoTransform> place_of_coordinates(const zb_node *array, const Layout &layout,
                                                        NearbyNodes &around,
                                                        const OGRSpatialReference *srs,
                                                        const GeoTransform &stated) {
    const std::optional<GeoTransform> plotted =
        contradicting_coordinates(array, layout, around, srs, stated);
    const GdalExtension extension = gdal_extension(array);
    const std::vector<double> known =
        number_list(zb_gdal_extension_get(extension.get(), ZB_GDAL_OVERRULED), 6);
    if (plotted && !known.empty() && agree(from_affine(known), *plotted, layout))
        return std::nullopt;
    return plotted;
}

bool are_left_behind(const zb_node *array, const Axes &axes, NearbyNodes &around,
                     const OGRSpatialReference &srs) {
    const zb_array_info *info = zb_node_array(array);
    if (axes.y < 0 || std::max(info->shape[axes.x], info->shape[axes.y]) > INT_MAX)
        return false;
    if (states_other_shape(array, axes))
        return true;
    Layout layout = {};
    layout.axes = axes;
    layout.width = static_cast<int>(info->shape[axes.x]);
    layout.height = static_cast<int>(info->shape[axes.y]);
    const std::optional<GeoTransform> own =
        states_place(array, around) ? own_place(array, layout) : std::nullopt;
    return own && place_of_coordinates(array, layout, around, &srs, *own);
}

std::optional<GeoTransform> find_geotransform(const zb_node *array, const Layout &layout,
                                              const Pyramid &pyramid, NearbyNodes &around,
                                              const OGRSpatialReference *srs) {
    if (layout.axes.y < 0)
        return std::nullopt;
    std::optional<GeoTransform> found = by_convention(array, layout, pyramid, around);
    if (!found)
        found = grid_mapping_transform(array, around);
    if (!found)
        return place_by_coordinates(array, layout, around, srs);
    const std::optional<GeoTransform> plotted =
        place_of_coordinates(array, layout, around, srs, *found);
    if (!plotted)
        return found;
    CPLDebug("ZARR3",
             "%s: the place by its attributes contradicts the coordinate arrays, which are "
             "used",
             zb_node_path(array));
    return plotted;
}

} // namespace zarr3
