/* SPDX-License-Identifier: MIT */
#include "geo/geolocation.h"

#include "array/attributes.h"
#include "array/coordinates.h"
#include "array/dimension_names.h"
#include "array/nodata.h"
#include "array/types.h"
#include "base/number_text.h"
#include "cpl_string.h"
#include "raster/axes.h"
#include "store/location.h"

namespace zarr3 {

/* True if the array has a value for each pixel of a band. */
static bool fits(const zb_node *node, const zb_node *array, const Layout &layout) {
    const zb_array_info *info = zb_node_array(node), *of = zb_node_array(array);
    if (info->ndim != 2 || pixel_type(node) == GDT_Unknown)
        return false;
    const int axes[] = {layout.axes.y, layout.axes.x};
    for (uint32_t d = 0; d < 2; d++) {
        const std::string name = dimension_name(info, d);
        const uint32_t dim = static_cast<uint32_t>(axes[d]);
        if (info->shape[d] != of->shape[dim] || name.empty() || name != dimension_name(of, dim))
            return false;
    }
    return true;
}

static bool is_called(const std::string &name, const char *one, const char *other) {
    return name == one || name == other;
}

/* 'X' for longitudes, 'Y' for latitudes; 0 for others, planar coordinates among them. */
static char kind_of(const zb_node *node) {
    const std::string name = attribute_text(node, "standard_name");
    const std::string units = attribute_text(node, "units");
    const std::string own = zb_node_name(node);
    if (name == "longitude" || name == "latitude")
        return name == "longitude" ? 'X' : 'Y';
    if (!name.empty() || (!units.empty() && units.compare(0, 6, "degree") != 0))
        return 0;
    if (is_called(own, "longitude", "lon") || is_called(own, "latitude", "lat"))
        return own[1] == 'o' ? 'X' : 'Y';
    return units.empty() ? static_cast<char>(0) : horizontal_axis(node, false);
}

/* The names that a node's attributes give to its coordinates. */
static std::vector<std::string> named_coordinates(const zb_node *node) {
    std::vector<std::string> names = words(attribute_text(node, "coordinates"));
    const zb_json *list = zb_json_get(attribute(node, "_eopf_attrs"), "coordinates");
    const bool is_list = zb_json_kind_of(list) == ZB_JSON_ARRAY;
    for (const zb_json *one = is_list ? zb_json_first(list) : nullptr; one != nullptr;
         one = zb_json_next(one)) {
        if (zb_json_string(one) != nullptr)
            names.push_back(zb_json_string(one));
    }
    return names;
}

/* Takes the arrays of these names that fit, unless there are some. */
static void take(const std::vector<std::string> &names, const zb_node *array, const Layout &layout,
                 NearbyNodes &around, Geolocation *found) {
    for (const std::string &name : names) {
        const NodePtr node = around.find_array(name);
        const char kind =
            node != nullptr && fits(node.get(), array, layout) ? kind_of(node.get()) : '\0';
        if (kind == 'X' && found->longitude == nullptr)
            found->longitude = node;
        else if (kind == 'Y' && found->latitude == nullptr)
            found->latitude = node;
    }
}

static std::optional<Geolocation> if_both(const Geolocation &found) {
    return found.longitude != nullptr && found.latitude != nullptr
               ? std::optional<Geolocation>(found)
               : std::nullopt;
}

std::optional<Geolocation> find_named_geolocation(const zb_node *array, const Layout &layout,
                                                  NearbyNodes &around) {
    Geolocation found;
    if (layout.axes.y < 0)
        return std::nullopt;
    for (const zb_node *said : {array, around.group_above(1)})
        take(named_coordinates(said), array, layout, around, &found);
    return if_both(found);
}

/* GDAL takes one row of longitudes and one of latitudes for those of all rows and columns. */
static std::optional<Geolocation> of_axes(const zb_node *array, const Layout &layout,
                                          NearbyNodes &around) {
    Geolocation found;
    if (layout.width < 2 || layout.height < 2)
        return std::nullopt;
    found.longitude = find_coordinate(array, static_cast<uint32_t>(layout.axes.x), around);
    if (found.longitude != nullptr) /* the other one may cost a request */
        found.latitude = find_coordinate(array, static_cast<uint32_t>(layout.axes.y), around);
    const std::optional<Geolocation> both = if_both(found);
    return both && kind_of(both->longitude.get()) == 'X' && kind_of(both->latitude.get()) == 'Y'
               ? both
               : std::nullopt;
}

std::optional<Geolocation> find_geolocation(const zb_node *array, const Layout &layout,
                                            NearbyNodes &around) {
    std::optional<Geolocation> found = find_named_geolocation(array, layout, around);
    if (found || layout.axes.y < 0)
        return found;
    /* A name that nothing mentions is looked for where a look costs no request. */
    const bool is_guessed = zb_hierarchy_is_local(zb_node_hierarchy(array)) &&
                            attribute(array, "coordinates") == nullptr &&
                            attribute(around.group_above(1), "coordinates") == nullptr;
    Geolocation usual;
    if (is_guessed)
        take({"lon", "longitude", "lat", "latitude"}, array, layout, around, &usual);
    found = if_both(usual);
    return found ? found : of_axes(array, layout, around);
}

/* ---- Datasets ---- */

/* A VRT, for GDAL reads the numbers as they are stored. What has no value gets one that no angle
   has. */
static std::string unpacked(const std::string &name, const zb_node *node, double scale,
                            double offset) {
    static constexpr const char *kNone = "-1e20";
    const zb_array_info *info = zb_node_array(node);
    const uint64_t width = info->shape[info->ndim - 1],
                   height = info->ndim > 1 ? info->shape[0] : 1;
    const NoData nodata = raster_nodata(find_raw_nodata(node), node);
    const CPLString escaped = CPLString(name).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    std::string text = "<VRTDataset rasterXSize=\"" + std::to_string(width) + "\" rasterYSize=\"" +
                       std::to_string(height) +
                       "\"><VRTRasterBand dataType=\"Float64\" band=\"1\">";
    if (nodata.kind != NoData::None)
        text += std::string("<NoDataValue>") + kNone + "</NoDataValue>";
    text += "<ComplexSource><SourceFilename relativeToVRT=\"0\">" + escaped +
            "</SourceFilename><SourceBand>1</SourceBand><ScaleOffset>" + number_text(offset) +
            "</ScaleOffset><ScaleRatio>" + number_text(scale) + "</ScaleRatio>";
    if (nodata.kind != NoData::None)
        text += "<NODATA>" + number_text(nodata.as_double) + "</NODATA>";
    return text + "</ComplexSource></VRTRasterBand></VRTDataset>";
}

std::string geolocation_dataset(const std::string &root, const NodePtr &node) {
    const std::string name = subdataset_name(root, zb_node_path(node.get()), {});
    const double scale = attribute_number(node.get(), "scale_factor").value_or(1);
    const double offset = attribute_number(node.get(), "add_offset").value_or(0);
    return scale == 1 && offset == 0 ? name : unpacked(name, node.get(), scale, offset);
}

} // namespace zarr3
