/* SPDX-License-Identifier: MIT */
/* Places that a product states for some of its pixels. */
#ifndef ZARR3_CONTROL_POINTS_H
#define ZARR3_CONTROL_POINTS_H

#include <string>
#include <vector>

#include "array/nearby_nodes.h"
#include "gdal.h"
#include "raster/layout.h"

namespace zarr3 {

/* Numbers of a pixel, longitude and latitude (WGS 84), height. */
struct ControlPoint {
    double pixel, line, x, y, z;
};

/* Those of a radar image among ESA's EOPF products: the arrays `pixel` and `line` of the group
   conditions/gcp, beside the group of the image, with `longitude`, `latitude` and `height` for each
   pair of them. Points without a place are left out. Empty where there are none. */
std::vector<ControlPoint> find_control_points(const zb_node *array, const Layout &layout,
                                              NearbyNodes &around);

} // namespace zarr3

#endif
