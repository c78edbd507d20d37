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

#include <cmath>

#include "array/attributes.h"
#include "array/conventions.h"
#include "array/coordinates.h"
#include "cpl_conv.h"
#include "geo/crs.h"
#include "geo/units.h"

namespace zarr3 {

/* From the affine order of the spatial: convention: x = a*col + b*row + c, y = d*col + e*row + f.
 */
static GeoTransform from_affine(const std::vector<double> &v) {
    return {v[2], v[0], v[1], v[5], v[3], v[4]};
}

/* Moves the origin from the centre of the first pixel to its outer corner. */
static GeoTransform centre_to_corner(GeoTransform t) {
    t[0] -= (t[1] + t[2]) / 2;
    t[3] -= (t[4] + t[5]) / 2;
    return t;
}

/* GDAL and its callers invert these numbers; a transform that cannot be inverted is not used. */
bool is_usable(const GeoTransform &t) {
    for (const double value : t) {
        if (!std::isfinite(value))
            return false;
    }
    return t[1] * t[5] - t[2] * t[4] != 0;
}

static std::optional<GeoTransform> usable(const GeoTransform &t) {
    return is_usable(t) ? std::optional<GeoTransform>(t) : std::nullopt;
}

/* A transform of a group is for one shape only, when it states that shape: the levels of a pyramid
   share their extent, not their transform. */
static bool states_other_shape(const zb_node *node, const Layout &layout) {
    const std::vector<double> shape = number_list(attribute(node, "spatial:shape"), 2);
    return !shape.empty() && (shape[0] != layout.height || shape[1] != layout.width);
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

/* The registration may be stated once for all entries of a pyramid. */
static std::string entry_registration(const Pyramid &pyramid, const zb_node *group) {
    return pyramid.registration.empty() ? attribute_text(group, "spatial:registration")
                                        : pyramid.registration;
}

/* The transform of an entry in a pyramid, by the convention. */
static std::optional<GeoTransform> by_entry(const Pyramid &pyramid, const zb_node *group) {
    if (!pyramid.transform)
        return std::nullopt;
    return registered(from_affine({pyramid.transform->begin(), pyramid.transform->end()}),
                      entry_registration(pyramid, group));
}

/* True if the node states a place by the convention. */
static bool states_place(const zb_node *node, NearbyNodes &around) {
    const bool has = attribute(node, "spatial:transform") != nullptr ||
                     attribute(node, "spatial:bbox") != nullptr;
    return has && follows(node, kSpatial, around);
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
   group, of the group of its pyramid. The transform of a pyramid's group belongs to the finest
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
        found = by_entry(pyramid, top);
    for (size_t i = 0; i < groups.size() && !found; i++) {
        if (groups[i] != top || pyramid.self == 0)
            found = by_transform(groups[i], layout);
    }
    if (!found && own)
        found = by_box(array, layout);
    for (size_t i = 0; i < groups.size() && !found; i++)
        found = by_box(groups[i], layout);
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

/* A damaged coordinate array costs the geotransform, with a warning, but not the pixels. */
static std::optional<Spacing> axis_spacing(const zb_node *array, int dim, NearbyNodes &around,
                                           const OGRSpatialReference *srs) {
    if (dim < 0)
        return std::nullopt;
    const NodePtr node = find_coordinate(array, static_cast<uint32_t>(dim), around);
    if (node == nullptr)
        return std::nullopt;
    zb_error err;
    const std::vector<double> values =
        read_coordinate(node.get(), 0, zb_node_array(node.get())->shape[0], &err);
    if (values.empty()) {
        CPLError(CE_Warning, CPLE_AppDefined, "No geotransform: %s", err.message);
        return std::nullopt;
    }
    std::optional<Spacing> spacing = regular_spacing(values, zb_node_array(node.get())->dtype);
    if (spacing && srs != nullptr) {
        const double factor = to_units_of(*srs, attribute_text(node.get(), "units"));
        spacing->first *= factor;
        spacing->step *= factor;
    }
    return spacing;
}

static std::optional<GeoTransform> by_coordinates(const zb_node *array, const Layout &layout,
                                                  NearbyNodes &around,
                                                  const OGRSpatialReference *srs) {
    const std::optional<Spacing> x = axis_spacing(array, layout.axes.x, around, srs);
    const std::optional<Spacing> y = axis_spacing(array, layout.axes.y, around, srs);
    if (!x || !y)
        return std::nullopt;
    return usable(centre_to_corner({x->first, x->step, 0, y->first, 0, y->step}));
}

/* True if both put every corner of the raster within half a pixel of the same place. */
static bool agree(const GeoTransform &a, const GeoTransform &b, const Layout &layout) {
    for (const double col : {0.0, static_cast<double>(layout.width)}) {
        for (const double row : {0.0, static_cast<double>(layout.height)}) {
            const double dx = a[0] - b[0] + col * (a[1] - b[1]) + row * (a[2] - b[2]);
            const double dy = a[3] - b[3] + col * (a[4] - b[4]) + row * (a[5] - b[5]);
            if (std::fabs(dx) > std::fabs(b[1]) / 2 || std::fabs(dy) > std::fabs(b[5]) / 2)
                return false;
        }
    }
    return true;
}

/* A convention that was declared is believed; a GeoTransform is checked (see geotransform.h). */
std::optional<GeoTransform> find_geotransform(const zb_node *array, const Layout &layout,
                                              const Pyramid &pyramid, NearbyNodes &around,
                                              const OGRSpatialReference *srs) {
    if (layout.axes.y < 0)
        return std::nullopt;
    std::optional<GeoTransform> found = by_convention(array, layout, pyramid, around);
    if (found)
        return found;
    found = grid_mapping_transform(array, around);
    const std::optional<GeoTransform> plotted = by_coordinates(array, layout, around, srs);
    if (found && plotted && !agree(*found, *plotted, layout)) {
        CPLDebug("ZARR3", "%s: GeoTransform contradicts the coordinate arrays, which are used",
                 zb_node_path(array));
        return plotted;
    }
    return found ? found : plotted;
}

} // namespace zarr3
