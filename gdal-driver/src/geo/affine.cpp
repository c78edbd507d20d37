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

bool agree(const GeoTransform &a, const GeoTransform &b, const Layout &layout) {
    static constexpr double kHalf = 0.5 + 1e-6; /* of a pixel; rounding does not decide */
    for (const double col : {0.0, static_cast<double>(layout.width)}) {
        for (const double row : {0.0, static_cast<double>(layout.height)}) {
            const double dx = a[0] - b[0] + col * (a[1] - b[1]) + row * (a[2] - b[2]);
            const double dy = a[3] - b[3] + col * (a[4] - b[4]) + row * (a[5] - b[5]);
            if (std::fabs(dx) > std::fabs(b[1]) * kHalf || std::fabs(dy) > std::fabs(b[5]) * kHalf)
                return false;
        }
    }
    return true;
}

} // namespace zarr3
