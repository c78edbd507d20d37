/* SPDX-License-Identifier: MIT */
/* The coordinate reference system, from the several places that Zarr writers put it. */
#ifndef ZARR3_CRS_H
#define ZARR3_CRS_H

#include <optional>

#include "array/nearby_nodes.h"
#include "array/pyramid.h"
#include "ogr_spatialref.h"
#include "raster/axes.h"

namespace zarr3 {

/* By the first source that knows it (crs_sources.h); CPL_DEBUG tells why others were passed over.
   The result has GIS axis order. An array of fewer than two dimensions has only the CRS that it
   states itself: a group's CRS is for maps. */
std::optional<OGRSpatialReference> find_crs(const zb_node *array, const Axes &axes,
                                            const Pyramid &pyramid, NearbyNodes &around);

/* WKT 2, or WKT 1 for what the former cannot express. */
std::string crs_text(const OGRSpatialReference &srs);

} // namespace zarr3

#endif
