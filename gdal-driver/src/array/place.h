/* SPDX-License-Identifier: MIT */
/* The place of a raster on the map, as it is found in a store or set by a program (geo/). */
#ifndef ZARR3_PLACE_H
#define ZARR3_PLACE_H

#include <array>
#include <optional>

#include "ogr_spatialref.h"

namespace zarr3 {

/* In GDAL's order: x = t[0] + col * t[1] + row * t[2], y = t[3] + col * t[4] + row * t[5], with col
   and row at the corners of pixels. Rows are never turned round: a south-up array has t[5] > 0. */
using GeoTransform = std::array<double, 6>;

struct Georeference {
    std::optional<OGRSpatialReference> srs;
    std::optional<GeoTransform> transform;
};

} // namespace zarr3

#endif
