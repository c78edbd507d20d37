/* SPDX-License-Identifier: MIT */
#include "geo/affine.h"

#include <cmath>

namespace zarr3 {

/* GDAL and its callers invert these numbers; a transform that cannot be inverted is not used. */
bool is_usable(const GeoTransform &t) {
    for (const double value : t) {
        if (!std::isfinite(value))
            return false;
    }
    return t[1] * t[5] - t[2] * t[4] != 0;
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
