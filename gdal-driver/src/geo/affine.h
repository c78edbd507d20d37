/* SPDX-License-Identifier: MIT */
/* The six numbers of the affine transformation that puts pixels on the map. */
#ifndef ZARR3_AFFINE_H
#define ZARR3_AFFINE_H

#include <optional>

#include "array/place.h"
#include "raster/layout.h"

namespace zarr3 {

/* Finite, and it can be inverted. */
bool is_usable(const GeoTransform &transform);
std::optional<GeoTransform> usable(const GeoTransform &transform);

/* Moves the origin from the centre of the first pixel to its outer corner. */
GeoTransform centre_to_corner(GeoTransform transform);

/* True if both put every corner of the raster within half a pixel of the same place. */
bool agree(const GeoTransform &a, const GeoTransform &b, const Layout &layout);

} // namespace zarr3

#endif
