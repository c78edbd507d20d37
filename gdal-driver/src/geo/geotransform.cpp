/* SPDX-License-Identifier: MIT */
/*
 * What attributes say is the core's matter (zarrbridge/multiscales.h, "Where a raster lies"), what
 * coordinates say is read in the units of the CRS.
 *
 * South-up data are left as they are. Turning rows round would show the same map but break the tie
 * between a pixel's row and its index in the array, on which users of both rely.
 */
#include "geo/geotransform.h"

#include <algorithm>
#include <climits>

#include "array/attributes.h"
#include "array/conventions.h"
#include "geo/coordinate_place.h"
#include "geo/grid_mapping.h"

namespace zarr3 {

namespace {

/* A raster in the core's words. */
struct CoreRaster : zb_raster {
    CoreRaster(const zb_node *node, const Layout &layout) : zb_raster() {
        array = node;
        axes = {layout.axes.x, layout.axes.y};
        width = static_cast<uint64_t>(layout.width);
        height = static_cast<uint64_t>(layout.height);
    }
};

/* With what is around it. */
struct PlacedRaster : CoreRaster {
    PlacedRaster(const zb_node *node, const Layout &layout, const Pyramid &of, NearbyNodes &around)
        : CoreRaster(node, layout), view_(of), nodes_(around.for_core()) {
        pyramid = &view_;
        nodes = &nodes_;
    }

  private:
    PyramidView view_;
    zb_nodes nodes_;
};

} // namespace

static std::optional<GeoTransform> found_place(bool found, const double *place) {
    return found ? std::optional<GeoTransform>(from_affine(place)) : std::nullopt;
}

bool states_other_shape(const zb_node *node, const Layout &layout) {
    return zb_place_is_of_other_shape(node, static_cast<uint64_t>(layout.width),
                                      static_cast<uint64_t>(layout.height));
}

bool states_other_shape(const zb_node *array, const Axes &axes) {
    const uint64_t *extent = zb_node_array(array)->shape;
    return axes.y >= 0 && zb_place_is_of_other_shape(array, extent[axes.x], extent[axes.y]);
}

std::optional<GeoTransform> own_place(const zb_node *array, const Layout &layout) {
    const CoreRaster raster(array, layout);
    double place[6];
    return found_place(zb_place_own(&raster, place), place);
}

static std::optional<GeoTransform> by_convention(const zb_node *array, const Layout &layout,
                                                 const Pyramid &pyramid, NearbyNodes &around) {
    const PlacedRaster raster(array, layout, pyramid, around);
    double place[6];
    return found_place(zb_place_by_convention(&raster, place), place);
}

std::string area_or_point(const zb_node *array, const Layout &layout, const Pyramid &pyramid,
                          NearbyNodes &around) {
    bool of_nodes;
    if (layout.axes.y < 0)
        return {};
    const PlacedRaster raster(array, layout, pyramid, around);
    return !zb_place_is_of_nodes(&raster, &of_nodes) ? "" : of_nodes ? "Point" : "Area";
}

std::optional<GeoTransform> grid_mapping_transform(const zb_node *array, NearbyNodes &around) {
    const NodePtr mapping = find_grid_mapping(array, around);
    double place[6];
    return found_place(zb_place_of_mapping(mapping.get(), place), place);
}

/* Where coordinates that contradict a stated place put the array. Nothing where the place was set
   although they, which other arrays need, say this one (georeference.cpp). */
static std::optional<GeoTransform> place_of_coordinates(const zb_node *array, const Layout &layout,
                                                        NearbyNodes &around,
                                                        const OGRSpatialReference *srs,
                                                        const GeoTransform &stated) {
    const std::optional<GeoTransform> plotted =
        contradicting_coordinates(array, layout, around, srs, stated);
    const CoreRaster raster(array, layout);
    if (plotted && zb_place_is_overruled(&raster, to_affine(*plotted).data()))
        return std::nullopt;
    return plotted;
}

/* True if the node states a place by the convention. */
static bool states_place(const zb_node *node, NearbyNodes &around) {
    const bool has = attribute(node, "spatial:transform") != nullptr ||
                     attribute(node, "spatial:bbox") != nullptr;
    return has && follows(node, ZB_CONVENTION_SPATIAL, around);
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
