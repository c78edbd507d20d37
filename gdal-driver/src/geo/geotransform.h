/* SPDX-License-Identifier: MIT */
/* The place of an array's pixels on the map: the geotransform. (The meaning of the numbers:
   crs.h.) */
#ifndef ZARR3_GEOTRANSFORM_H
#define ZARR3_GEOTRANSFORM_H

#include <optional>
#include <string>
#include <vector>

#include "array/nearby_nodes.h"
#include "array/pyramid.h"
#include "geo/affine.h"
#include "ogr_spatialref.h"
#include "raster/layout.h"

namespace zarr3 {

/* The raster that the place is looked for. It has rows. */
struct PlaceQuestion {
    const zb_node *array;
    const Layout &layout;
    const Pyramid &pyramid;
    NearbyNodes &around;
    const OGRSpatialReference *srs; /* or NULL: what coordinates are to be in the units of */
    bool by_ome = false;            /* the scale of an OME-NGFF image counts */
};

/* Who says it (docs/gdal.md, "Georeferencing"). */
struct PlaceSource {
    const char *name; /* in messages for CPL_DEBUG */
    bool is_stated;   /* by attributes, which may be those of data that were cropped since */
    /* None where it does not say it; then *why may tell what was there. */
    std::optional<GeoTransform> (*find)(const PlaceQuestion &question, std::string *why);
};

/* In their order. */
const std::vector<PlaceSource> &place_sources();

/* By the first source that says it; CPL_DEBUG tells why others were passed over. A place that
   attributes state, and that contradicts the coordinate arrays, gives way to them: they are what
   xarray plots by, and attributes are left behind when data are cropped or turned round. */
std::optional<GeoTransform> find_geotransform(const PlaceQuestion &question);

/* What `spatial:registration` says of the pixels where the convention states the place: "Area"
   (each is a cell; the convention's default) or "Point" (each is a node); "" where the convention
   does not state it. GDAL's AREA_OR_POINT. */
std::string area_or_point(const zb_node *array, const Layout &layout, const Pyramid &pyramid,
                          NearbyNodes &around);

/* True if the node states a place by the spatial: convention for other rows and columns. */
bool states_other_shape(const zb_node *node, const Layout &layout);

/* The same of an array and its own rows and columns. */
bool states_other_shape(const zb_node *array, const Axes &axes);

/* True if the array's own attributes are those of another raster, from which a program has made it:
   its shape tells, or its coordinates (which are in the units of `srs`). */
bool are_left_behind(const zb_node *array, const Axes &axes, NearbyNodes &around,
                     const OGRSpatialReference &srs);

/* The place by the spatial: attributes of the array itself, as far as they hold for its shape. */
std::optional<GeoTransform> own_place(const zb_node *array, const Layout &layout);

/* The one that the array's grid mapping has. */
std::optional<GeoTransform> grid_mapping_transform(const zb_node *array, NearbyNodes &around);

} // namespace zarr3

#endif
