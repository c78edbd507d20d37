/* SPDX-License-Identifier: MIT */
/* The six numbers of the affine transformation that puts pixels on the map. */
#ifndef ZARR3_AFFINE_H
#define ZARR3_AFFINE_H

#include <array>
#include <optional>

#include "array/place.h"

namespace zarr3 {

/* GDAL and its callers invert these numbers: zb_place_is_usable. */
bool is_usable(const GeoTransform &transform);
std::optional<GeoTransform> usable(const GeoTransform &transform);

/* Moves the origin from the centre of the first pixel to its outer corner. */
GeoTransform centre_to_corner(GeoTransform transform);

/* To the order of the core's places (zarrbridge/multiscales.h), which is that of the spatial:
   convention, and back. */
std::array<double, 6> to_affine(const GeoTransform &transform);
GeoTransform from_affine(const double *place);

} // namespace zarr3

#endif
