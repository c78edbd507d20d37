/* SPDX-License-Identifier: MIT */
#include "geo/affine.h"

#include "zarrbridge/multiscales.h"

namespace zarr3 {

bool is_usable(const GeoTransform &t) {
    return zb_place_is_usable(to_affine(t).data());
}

std::optional<GeoTransform> usable(const GeoTransform &t) {
    return is_usable(t) ? std::optional<GeoTransform>(t) : std::nullopt;
}

GeoTransform centre_to_corner(GeoTransform t) {
    t[0] -= (t[1] + t[2]) / 2;
    t[3] -= (t[4] + t[5]) / 2;
    return t;
}

std::array<double, 6> to_affine(const GeoTransform &t) {
    return {t[1], t[2], t[0], t[4], t[5], t[3]};
}

GeoTransform from_affine(const double *place) {
    return {place[2], place[0], place[1], place[5], place[3], place[4]};
}

} // namespace zarr3
