/* SPDX-License-Identifier: MIT */
#include "geo/coordinate_place.h"

#include <cmath>

#include "array/attributes.h"
#include "array/coordinates.h"
#include "geo/units.h"

namespace zarr3 {

namespace {

/* How the coordinates of columns and rows are read. */
struct Reading {
    const OGRSpatialReference *srs;
    const GeoTransform *stated; /* by another source, or null */
    bool ends;                  /* the first and the last values stand for all */
};

struct Coordinates {
    NodePtr x, y;
};

} // namespace

/* Null where there is none, and with *why where it lies along no map. */
static NodePtr find_along(const zb_node *array, int dim, NearbyNodes &around, std::string *why) {
    const NodePtr found = find_coordinate(array, static_cast<uint32_t>(dim), around);
    if (found == nullptr || zb_coordinate_is_horizontal(found.get()))
        return found;
    *why = std::string("'") + zb_node_name(found.get()) + "' lies along no map";
    return nullptr;
}

/* Null where columns or rows have none. */
static Coordinates find_both(const zb_node *array, const Layout &layout, NearbyNodes &around,
                             std::string *why) {
    Coordinates found;
    if (layout.axes.x >= 0 && layout.axes.y >= 0) {
        found.x = find_along(array, layout.axes.x, around, why);
        found.y = found.x == nullptr ? nullptr : find_along(array, layout.axes.y, around, why);
    }
    return found;
}

/* *err stays as it is where the coordinates are only irregular. `step`: by another source, or 0. */
static std::optional<Spacing> spacing_of(const zb_node *coordinate, double step, const Reading &how,
                                         zb_error *err) {
    const zb_array_info *info = zb_node_array(coordinate);
    const uint64_t extent = info->shape[0];
    std::vector<double> values = how.ends ? read_coordinate_ends(coordinate, err)
                                          : read_coordinate(coordinate, 0, extent, err);
    zb_coordinate_unwrap(coordinate, values.data(), values.size());
    const double factor =
        how.srs == nullptr ? 1 : to_units_of(*how.srs, attribute_text(coordinate, "units"));
    if (values.size() == 1 && step != 0)
        return Spacing{values[0] * factor, step};
    std::optional<Spacing> spacing = regular_spacing(values, info->dtype);
    if (spacing && how.ends)
        spacing->step /= static_cast<double>(extent - 1);
    if (spacing) {
        spacing->first *= factor;
        spacing->step *= factor;
    }
    return spacing;
}

static std::optional<GeoTransform> place_by(const Coordinates &both, const Reading &how,
                                            zb_error *err) {
    if (both.y == nullptr)
        return std::nullopt;
    const double across = how.stated == nullptr ? 0 : (*how.stated)[1];
    const double down = how.stated == nullptr ? 0 : (*how.stated)[5];
    const std::optional<Spacing> x = spacing_of(both.x.get(), across, how, err);
    const std::optional<Spacing> y =
        x ? spacing_of(both.y.get(), down, how, err) : std::optional<Spacing>();
    if (!x || !y)
        return std::nullopt;
    return usable(centre_to_corner({x->first, x->step, 0, y->first, 0, y->step}));
}

std::optional<GeoTransform> place_by_coordinates(const zb_node *array, const Layout &layout,
                                                 NearbyNodes &around,
                                                 const OGRSpatialReference *srs, std::string *why) {
    zb_error err = {};
    const Coordinates both = find_both(array, layout, around, why);
    const std::optional<GeoTransform> found = place_by(both, {srs, nullptr, false}, &err);
    if (!found && err.code != ZB_OK)
        CPLError(CE_Warning, CPLE_AppDefined, "No geotransform: %s", err.message);
    if (!found && both.y != nullptr)
        *why = err.code != ZB_OK ? err.message : "they are irregular, or single values";
    return found;
}

std::optional<GeoTransform> contradicting_coordinates(const zb_node *array, const Layout &layout,
                                                      NearbyNodes &around,
                                                      const OGRSpatialReference *srs,
                                                      const GeoTransform &stated) {
    zb_error err = {};
    std::optional<GeoTransform> found;
    std::string why;
    const Coordinates both = find_both(array, layout, around, &why);
    const auto contradict = [&] {
        return zb_place_contradicts(to_affine(stated).data(), to_affine(*found).data(),
                                    static_cast<uint64_t>(layout.width),
                                    static_cast<uint64_t>(layout.height));
    };
    for (const bool ends : {true, false}) {
        found = place_by(both, {srs, &stated, ends}, &err);
        if (!found || !contradict()) {
            if (err.code != ZB_OK)
                CPLDebug("ZARR3", "/%s: %s", zb_node_path(array), err.message);
            return std::nullopt;
        }
    }
    return found;
}

} // namespace zarr3
