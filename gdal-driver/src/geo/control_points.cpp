/* SPDX-License-Identifier: MIT */
#include "geo/control_points.h"

#include <cmath>

#include "array/coordinates.h"
#include "cpl_error.h"

namespace zarr3 {

/* A product has some hundreds. */
static constexpr uint64_t kMostPoints = 1 << 20;

/* All numbers of an array, unpacked; empty where it has others than `count`. */
static std::vector<double> read_all(const NodePtr &node, uint64_t count) {
    const zb_array_info *info = node == nullptr ? nullptr : zb_node_array(node.get());
    const zb_dtype number = {ZB_KIND_FLOAT, sizeof(double), false, nullptr};
    uint64_t all = info == nullptr ? 0 : 1;
    for (uint32_t d = 0; info != nullptr && d < info->ndim; d++) {
        if (__builtin_mul_overflow(all, info->shape[d], &all))
            return {};
    }
    if (all != count || count == 0 || !zb_dtype_converts(info->dtype, number))
        return {};
    zb_error err = {};
    std::vector<double> values = read_numbers(node.get(), count, &err);
    if (values.empty())
        CPLDebug("ZARR3", "/%s: %s", zb_node_path(node.get()), err.message);
    return values;
}

static uint64_t extent_of(const NodePtr &node) {
    const zb_array_info *info = node == nullptr ? nullptr : zb_node_array(node.get());
    return info != nullptr && info->ndim == 1 && info->shape[0] <= kMostPoints ? info->shape[0] : 0;
}

std::vector<ControlPoint> find_control_points(const zb_node *array, const Layout &layout,
                                              NearbyNodes &around) {
    const zb_nodes nodes = around.for_core();
    const std::string group = parent_path(zb_node_path(array));
    if (layout.axes.y < 0 || last_part(group) != "measurements" || !zb_is_eopf_product(&nodes))
        return {};
    const std::string points = join_path(parent_path(group), "conditions/gcp");
    const auto at = [&](const char *name) { return around.at(join_path(points, name)); };
    const NodePtr pixel = at("pixel"), line = at("line");
    const uint64_t columns = extent_of(pixel), rows = extent_of(line);
    if (columns * rows == 0 || columns * rows > kMostPoints)
        return {};
    const std::vector<double> pixels = read_all(pixel, columns), lines = read_all(line, rows);
    const std::vector<double> x = read_all(at("longitude"), columns * rows);
    const std::vector<double> y = read_all(at("latitude"), columns * rows);
    const std::vector<double> z = read_all(at("height"), columns * rows);
    std::vector<ControlPoint> found;
    if (pixels.empty() || lines.empty() || x.empty() || y.empty())
        return {};
    for (size_t i = 0; i < x.size(); i++) {
        const double height = z.empty() || std::isnan(z[i]) ? 0 : z[i];
        if (std::isfinite(x[i]) && std::isfinite(y[i]))
            found.push_back({pixels[i % columns], lines[i / columns], x[i], y[i], height});
    }
    return found;
}

} // namespace zarr3
