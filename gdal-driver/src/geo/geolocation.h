/* SPDX-License-Identifier: MIT */
/* Where rasters lie that no geotransform can place: longitude and latitude of each pixel. */
#ifndef ZARR3_GEOLOCATION_H
#define ZARR3_GEOLOCATION_H

#include <optional>
#include <string>

#include "array/nearby_nodes.h"
#include "raster/layout.h"

namespace zarr3 {

/* Arrays of the raster's rows and columns; or, where all rows have the same longitudes and all
   columns the same latitudes, one of the columns and one of the rows. */
struct Geolocation {
    NodePtr longitude, latitude;
};

/* The two arrays among those that the raster's attribute `coordinates` names, or that of its group,
   as CF knows them: by `standard_name`, else by `units` in degrees. EOPF's products name them in
   the attribute `_eopf_attrs`. */
std::optional<Geolocation> find_named_geolocation(const zb_node *array, const Layout &layout,
                                                  NearbyNodes &around);

/* The same; of local stores, where there is no attribute `coordinates`, such arrays that are called
   lon and lat, or longitude and latitude; else the coordinates of columns and rows, if they are
   longitudes and latitudes (of a Gaussian grid). */
std::optional<Geolocation> find_geolocation(const zb_node *array, const Layout &layout,
                                            NearbyNodes &around);

/* The name of a dataset with the values of such an array, which lies in the store of this root, for
   the domain GEOLOCATION. Packed numbers are those that scale_factor and add_offset make of
   them. */
std::string geolocation_dataset(const std::string &root, const NodePtr &node);

} // namespace zarr3

#endif
