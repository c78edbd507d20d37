/* SPDX-License-Identifier: MIT */
/* Units of coordinates. */
#ifndef ZARR3_UNITS_H
#define ZARR3_UNITS_H

#include <string>

#include "ogr_spatialref.h"

namespace zarr3 {

/* The factor from coordinates in `units` (CF's attribute) to the unit of the CRS. 1 where either is
   unknown, or where they measure different things. A geostationary CRS takes angles as seen from
   the satellite: its coordinates are angles times its height. */
double to_units_of(const OGRSpatialReference &srs, const std::string &units);

/* The unit of a geographic CRS, in words that CF's readers and the function above know: "degree",
   or "0.9 degree" for grads. */
std::string angular_units(const OGRSpatialReference &srs);

} // namespace zarr3

#endif
