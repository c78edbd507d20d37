/* SPDX-License-Identifier: MIT */
/* The place of a raster by the one-dimensional coordinate arrays of its columns and rows. */
#ifndef ZARR3_COORDINATE_PLACE_H
#define ZARR3_COORDINATE_PLACE_H

#include "array/nearby_nodes.h"
#include "geo/affine.h"
#include "ogr_spatialref.h"
#include "raster/layout.h"

namespace zarr3 {

/* Where regular coordinates put the raster, in the units of `srs` (or NULL); else *why may tell why
   not. A damaged coordinate array costs the place, with a warning, but not the pixels. */
std::optional<GeoTransform> place_by_coordinates(const zb_node *array, const Layout &layout,
                                                 NearbyNodes &around,
                                                 const OGRSpatialReference *srs, std::string *why);

/* The same where it does not agree with `stated`; nothing where it does, and where the coordinates
   cannot tell: they are irregular, cannot be read, or only count pixels. A single column or
   row has the size that `stated` gives it. As long as the first and the last values agree, no
   others are read. */
std::optional<GeoTransform> contradicting_coordinates(const zb_node *array, const Layout &layout,
                                                      NearbyNodes &around,
                                                      const OGRSpatialReference *srs,
                                                      const GeoTransform &stated);

} // namespace zarr3

#endif
