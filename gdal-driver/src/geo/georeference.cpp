/* SPDX-License-Identifier: MIT */
/*
 * Each program reads some of the forms, and none reads all, so each is written:
 *
 *     proj: and spatial: attributes   our reader, rioxarray from 0.22, GDAL from 3.13; exact
 *     grid_mapping and its variable   xarray with rioxarray, GDAL from 3.9, all that know CF
 *     coordinate arrays x and y       xarray; not for rotated rasters, which have none
 *     _CRS                            GDAL from 3.4
 *
 * The first and the last are attributes of the array itself and concern no other array. The arrays
 * beside it may serve other arrays of the group as well: those are left as they are, and a grid
 * mapping of our own is written under another name.
 */
#include "geo/georeference.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "array/attributes.h"
#include "array/conventions.h"
#include "array/dimension_names.h"
#include "base/json_text.h"
#include "cpl_conv.h"
#include "geo/cf_group.h"
#include "geo/coordinate_place.h"
#include "geo/find_grid_mapping.h"

namespace zarr3 {

/* ---- Conventions ---- */

/* The convention has codes of capitals and digits alone (EPSG:4326), which OGC:CRS84 is not. */
static std::string convention_code(const OGRSpatialReference &srs) {
    const char *authority = srs.GetAuthorityName(nullptr), *code = srs.GetAuthorityCode(nullptr);
    const auto all = [](const char *text, char first, char last) {
        return text != nullptr && *text != '\0' &&
               std::all_of(text, text + strlen(text),
                           [=](char c) { return c >= first && c <= last; });
    };
    return all(authority, 'A', 'Z') && all(code, '0', '9') ? std::string(authority) + ":" + code
                                                           : std::string();
}

static void set_crs(const OGRSpatialReference *srs, AttributeChanges *changes) {
    changes->remove("proj:projjson");
    changes->remove(ZB_GDAL_COORDINATE_EPOCH);
    if (srs != nullptr)
        changes->remove(ZB_GDAL_HAS_CRS);
    if (srs == nullptr) {
        for (const char *name : {"proj:code", "proj:wkt2", "_CRS"})
            changes->remove(name);
        return;
    }
    const std::string wkt = json_quote(crs_text(*srs));
    const std::string code = convention_code(*srs);
    changes->set("proj:wkt2", wkt);
    if (!code.empty())
        changes->set("proj:code", json_quote(code));
    else
        changes->remove("proj:code");
    changes->set("_CRS", json_object({{"wkt", wkt}}));
    if (srs->GetCoordinateEpoch() > 0)
        changes->set(ZB_GDAL_COORDINATE_EPOCH, json_number(srs->GetCoordinateEpoch()));
}

/* The box around all rows and columns. */
static std::string box_of(const GeoTransform &g, double columns, double rows) {
    std::array<double, 4> xs, ys; /* of the corners */
    for (size_t i = 0; i < 4; i++) {
        const double col = (i & 1) != 0 ? columns : 0, row = (i & 2) != 0 ? rows : 0;
        xs[i] = g[0] + col * g[1] + row * g[2];
        ys[i] = g[3] + col * g[4] + row * g[5];
    }
    return json_numbers(
        {*std::min_element(xs.begin(), xs.end()), *std::min_element(ys.begin(), ys.end()),
         *std::max_element(xs.begin(), xs.end()), *std::max_element(ys.begin(), ys.end())});
}

static std::string shape_of(int width, int height) {
    return "[" + std::to_string(height) + "," + std::to_string(width) + "]";
}

static std::string affine_of(const GeoTransform &g) {
    const std::array<double, 6> place = to_affine(g);
    return json_numbers({place.begin(), place.end()});
}

static void set_transform(const zb_node *array, const Layout &layout, const GeoTransform *t,
                          AttributeChanges *changes) {
    for (const char *name : {"spatial:transform_type", "spatial:registration"})
        changes->remove(name);
    if (t == nullptr) {
        for (const char *name :
             {"spatial:dimensions", "spatial:transform", "spatial:bbox", "spatial:shape"})
            changes->remove(name);
        return;
    }
    const zb_array_info *info = zb_node_array(array);
    const std::string x = dimension_name(info, static_cast<uint32_t>(layout.axes.x));
    const std::string y = dimension_name(info, static_cast<uint32_t>(layout.axes.y));
    if (!x.empty() && !y.empty())
        changes->set("spatial:dimensions", json_list({json_quote(y), json_quote(x)}));
    else
        changes->remove("spatial:dimensions");
    changes->set("spatial:transform", affine_of(*t));
    changes->set("spatial:bbox", box_of(*t, layout.width, layout.height));
    changes->set("spatial:shape", shape_of(layout.width, layout.height));
}

/* Coordinates that other arrays need stay, also where this one is put elsewhere. What they say is
   noted, so that readers know that the array's place is no stale one: those win. */
static void note_overruled(const NodePtr &array, const Layout &layout,
                           const OGRSpatialReference *srs, const GeoTransform *transform,
                           AttributeChanges *changes) {
    NearbyNodes around(array.get());
    const std::optional<GeoTransform> other =
        transform == nullptr
            ? std::nullopt
            : contradicting_coordinates(array.get(), layout, around, srs, *transform);
    if (other)
        changes->set(ZB_GDAL_OVERRULED, affine_of(*other));
    else
        changes->remove(ZB_GDAL_OVERRULED);
}

/* ---- Other shapes ---- */

static const char *const kPlaceByShape[] = {"spatial:transform", "spatial:transform_type",
                                            "spatial:registration", "spatial:bbox",
                                            "spatial:shape"};

static void drop_place(AttributeChanges *changes) {
    for (const char *name : kPlaceByShape)
        changes->remove(name);
    changes->remove(ZB_GDAL_OVERRULED);
}

/* The declaration stays, for it only tells what attributes mean. */
void drop_foreign_place(const zb_node *array, const Layout &layout, AttributeChanges *changes) {
    if (states_other_shape(array, layout))
        drop_place(changes);
}

void resize_place(const zb_node *array, const Layout &layout, int width, int height,
                  AttributeChanges *changes) {
    const std::optional<GeoTransform> corners = own_place(array, layout);
    if (!corners || width < 1 || height < 1) {
        if (attribute(array, "spatial:shape") != nullptr ||
            attribute(array, "spatial:bbox") != nullptr)
            drop_place(changes);
        return;
    }
    /* Nodes lie at the centres of pixels, and on the edge of the box. */
    const bool of_nodes = attribute_text(array, "spatial:registration") == "node";
    GeoTransform place = *corners;
    if (of_nodes) {
        place[0] += (place[1] + place[2]) / 2;
        place[3] += (place[4] + place[5]) / 2;
    }
    if (attribute(array, "spatial:transform") == nullptr)
        changes->set("spatial:transform", affine_of(place));
    if (attribute(array, "spatial:bbox") != nullptr)
        changes->set("spatial:bbox", box_of(place, width - of_nodes, height - of_nodes));
    changes->set("spatial:shape", shape_of(width, height));
}

/* ---- All of it ---- */

/* The group that the array is in, unless it is in none (*has_group): the root itself, which has no
   group for other arrays, or an array in a plain directory. */
static enum zb_code open_group(const NodePtr &array, CfGroup *group, bool *has_group,
                               AttributeChanges *changes, zb_error *err) {
    *has_group = false;
    if (zb_node_path(array.get())[0] == '\0') {
        if (attribute(array.get(), "grid_mapping") != nullptr)
            changes->remove("grid_mapping");
        return ZB_OK;
    }
    const enum zb_code code = group->open(array, err);
    *has_group = code == ZB_OK;
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

enum zb_code write_georeference(const NodePtr &array, const Layout &layout,
                                const Georeference &georeference, AttributeChanges *changes,
                                zb_error *err) {
    const OGRSpatialReference *srs = georeference.srs ? &*georeference.srs : nullptr;
    /* A row or a pixel without a second axis lies nowhere. */
    const GeoTransform *transform =
        georeference.transform && layout.axes.y >= 0 ? &*georeference.transform : nullptr;
    declare_place(array.get(), srs != nullptr, transform != nullptr, changes);
    set_crs(srs, changes);
    set_transform(array.get(), layout, transform, changes);
    CfGroup group;
    bool has_group;
    enum zb_code code = open_group(array, &group, &has_group, changes, err);
    if (!has_group)
        return code;
    if (transform == nullptr && layout.axes.y >= 0)
        code = group.may_unset(layout, err);
    if (code == ZB_OK)
        code = group.write_grid_mapping(srs, transform, changes, err);
    if (code == ZB_OK && layout.axes.y >= 0)
        code = group.write_coordinates(layout, srs, transform, err);
    if (code == ZB_OK)
        note_overruled(array, layout, srs, transform, changes);
    return code;
}

enum zb_code write_crs(const NodePtr &array, const std::optional<OGRSpatialReference> &srs,
                       AttributeChanges *changes, zb_error *err) {
    const OGRSpatialReference *given = srs ? &*srs : nullptr;
    const auto &names = {"spatial:transform", "spatial:bbox", "spatial:dimensions"};
    const bool has_place = std::any_of(names.begin(), names.end(), [&](const char *name) {
        return attribute(array.get(), name) != nullptr;
    });
    NearbyNodes around(array.get());
    const std::optional<GeoTransform> transform = grid_mapping_transform(array.get(), around);
    declare_place(array.get(), given != nullptr, has_place, changes);
    set_crs(given, changes);
    CfGroup group;
    bool has_group;
    const enum zb_code code = open_group(array, &group, &has_group, changes, err);
    return has_group
               ? group.write_grid_mapping(given, transform ? &*transform : nullptr, changes, err)
               : code;
}

enum zb_code write_changed_georeference(const NodePtr &array, const Layout &layout,
                                        const Georeference &georeference, bool unset,
                                        AttributeChanges *changes, zb_error *err) {
    return georeference.transform || unset
               ? write_georeference(array, layout, georeference, changes, err)
               : write_crs(array, georeference.srs, changes, err);
}

} // namespace zarr3
