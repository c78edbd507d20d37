/* SPDX-License-Identifier: MIT */
/* The six numbers of the affine transformation that puts pixels on the map. */
#ifndef ZARR3_AFFINE_H
#define ZARR3_AFFINE_H

#include <array>
#include <optional>

#include "raster/layout.h"

namespace zarr3 {

/* In GDAL's order: x = t[0] + col * t[1] + row * t[2], y = t[3] + col * t[4] + row * t[5], with col
   and row at the corners of pixels. Rows are never turned round: a south-up array has t[5] > 0. */
using GeoTransform = std::array<double, 6>;

/* Finite, and it can be inverted. */
bool is_usable(const GeoTransform &transform);
std::optional<GeoTransform> usable(const GeoTransform &transform);

/* Moves the origin from the centre of the first pixel to its outer corner. */
GeoTransform centre_to_corner(GeoTransform transform);

/* True if both put every corner of the raster within half a pixel of the same place. */
bool agree(const GeoTransform &a, const GeoTransform &b, const Layout &layout);

} // namespace zarr3

#endif
