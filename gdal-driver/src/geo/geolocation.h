/* SPDX-License-Identifier: MIT */
/* Where rasters lie that no geotransform can place: longitude and latitude of each pixel. */
#ifndef ZARR3_GEOLOCATION_H
#define ZARR3_GEOLOCATION_H

#include <optional>
#include <string>

#include "array/nearby_nodes.h"
#include "raster/layout.h"

namespace zarr3 {

/* Paths of arrays of the raster's rows and columns. */
struct Geolocation {
    std::string longitude, latitude;
};

/* The two arrays among those that the raster's attribute `coordinates` names, or that of its group,
   as CF knows them: by `standard_name`, else by `units` in degrees. */
std::optional<Geolocation> find_geolocation(const zb_node *array, const Layout &layout,
                                            NearbyNodes &around);

} // namespace zarr3

#endif
