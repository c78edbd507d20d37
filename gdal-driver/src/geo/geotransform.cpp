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
#include "geo/geolocation.h"
#include "geo/find_grid_mapping.h"

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
    const zb_nodes nodes = around.for_core();
    const std::optional<GeoTransform> own =
        zb_place_is_stated(array, &nodes) ? own_place(array, layout) : std::nullopt;
    return own && place_of_coordinates(array, layout, around, &srs, *own);
}

/* ---- Sources ---- */

static std::optional<GeoTransform> by_ome(const PlaceQuestion &asked, std::string *why) {
    const PlacedRaster raster(asked.array, asked.layout, asked.pyramid, asked.around);
    double place[6];
    *why = asked.by_ome ? "" : "OME_PLACE is not asked for";
    return found_place(asked.by_ome && zb_place_of_ome(&raster, place), place);
}

static std::optional<GeoTransform> by_spatial(const PlaceQuestion &asked, std::string *why) {
    *why = !states_other_shape(asked.array, asked.layout) ? "" : "it is for another shape";
    return by_convention(asked.array, asked.layout, asked.pyramid, asked.around);
}

static std::optional<GeoTransform> by_mapping(const PlaceQuestion &asked, std::string * /*why*/) {
    return grid_mapping_transform(asked.array, asked.around);
}

static std::optional<GeoTransform> by_attribute(const PlaceQuestion &asked, std::string *why) {
    double place[6];
    *why =
        attribute(asked.array, "_TRANSFORM") == nullptr ? "" : "these are no six numbers of a map";
    return found_place(zb_place_of_attribute(asked.array, place), place);
}

/* As GDAL's netCDF driver has it: without a CRS the coordinates may be those of any plane, and the
   longitude and latitude of each pixel say more. */
static std::optional<GeoTransform> by_coordinates(const PlaceQuestion &asked, std::string *why) {
    const std::optional<GeoTransform> found =
        place_by_coordinates(asked.array, asked.layout, asked.around, asked.srs, why);
    if (!found || asked.srs != nullptr ||
        !find_named_geolocation(asked.array, asked.layout, asked.around))
        return found;
    *why = "they have no CRS, and each pixel has a longitude and a latitude";
    return std::nullopt;
}

const std::vector<PlaceSource> &place_sources() {
    static const std::vector<PlaceSource> kSources = {
        {"OME", false, by_ome},
        {"spatial", true, by_spatial},
        {"GeoTransform", true, by_mapping},
        {"_TRANSFORM", true, by_attribute},
        {"coordinates", false, by_coordinates},
    };
    return kSources;
}

static std::optional<GeoTransform> unless_contradicted(const PlaceQuestion &asked,
                                                       const GeoTransform &stated) {
    const std::optional<GeoTransform> plotted =
        place_of_coordinates(asked.array, asked.layout, asked.around, asked.srs, stated);
    if (plotted)
        CPLDebug("ZARR3", "/%s: it contradicts the coordinate arrays, which are used",
                 zb_node_path(asked.array));
    return plotted ? plotted : std::optional<GeoTransform>(stated);
}

std::optional<GeoTransform> find_geotransform(const PlaceQuestion &asked) {
    if (asked.layout.axes.y < 0)
        return std::nullopt;
    for (const PlaceSource &source : place_sources()) {
        std::string why;
        const std::optional<GeoTransform> found = source.find(asked, &why);
        CPLDebug("ZARR3", "/%s: place %s '%s'%s%s", zb_node_path(asked.array),
                 found ? "by" : "not by", source.name, found || why.empty() ? "" : ": ",
                 found ? "" : why.c_str());
        if (found)
            return source.is_stated ? unless_contradicted(asked, *found) : found;
    }
    return std::nullopt;
}

} // namespace zarr3
