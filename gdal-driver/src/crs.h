/* SPDX-License-Identifier: MIT */
/* The coordinate reference system, from the several places that Zarr writers put it. */
#ifndef ZARR3_CRS_H
#define ZARR3_CRS_H

#include <optional>

#include "dimensions.h"
#include "neighbours.h"
#include "ogr_spatialref.h"

namespace zarr3 {

/* The variable that holds an array's CF grid mapping: the one that its attribute `grid_mapping`
   names, else one called spatial_ref or crs that carries a definition. Null when there is none. */
NodePtr find_grid_mapping(const zb_node *array, Neighbours &around);

/* By, in order: the proj: convention (array, then parent group), the CF grid mapping, `_CRS`,
   latitude and longitude in degrees (then WGS 84, as GDAL's netCDF driver supposes). The result has
   GIS axis order. */
std::optional<OGRSpatialReference> find_crs(const zb_node *array, const Axes &axes,
                                            Neighbours &around);

/* WKT 2, or WKT 1 for what the former cannot express. */
std::string crs_text(const OGRSpatialReference &srs);

} // namespace zarr3

#endif
