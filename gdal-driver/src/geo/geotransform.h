/* SPDX-License-Identifier: MIT */
/* The place of an array's pixels on the map: the geotransform. (The meaning of the numbers:
   crs.h.) */
#ifndef ZARR3_GEOTRANSFORM_H
#define ZARR3_GEOTRANSFORM_H

#include <optional>

#include "array/nearby_nodes.h"
#include "array/pyramid.h"
#include "geo/affine.h"
#include "ogr_spatialref.h"
#include "raster/layout.h"

namespace zarr3 {

/* By, in order: the spatial: convention (the array, its entry in a pyramid, the parent group, the
   pyramid's group), GeoTransform of the CF grid mapping, regular 1-D coordinate arrays. A place
   that contradicts the coordinate arrays gives way to them: they are what xarray plots by, and
   attributes are left behind when data are cropped or turned round. `srs` (or NULL) is what
   coordinates are to be in the units of. None for an array without rows. */
std::optional<GeoTransform> find_geotransform(const zb_node *array, const Layout &layout,
                                              const Pyramid &pyramid, NearbyNodes &around,
                                              const OGRSpatialReference *srs);

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
