/* SPDX-License-Identifier: MIT */
#include "dataset/band_place.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "array/attributes.h"
#include "array/coordinates.h"
#include "array/dimension_names.h"
#include "array/hdf5_side.h"
#include "array/types.h"
#include "base/handles.h"
#include "base/number_text.h"
#include "cpl_conv.h"
#include "dataset/metadata.h"
#include "geo/cf_time.h"
#include "zarrbridge/conventions.h"

namespace zarr3 {

namespace {

/* The place of one band along a dimension that has a coordinate array. */
struct Position {
    std::string value; /* as a number, or the text; "" without a coordinate array */
    bool is_text = false;
    std::string unit;
    std::string time; /* the value as a date, for CF times */
};

} // namespace

static bool is_no_time(zb_dtype dtype, double value) {
    return is_time(dtype) && value <= -0x1p63;
}

static Position text_position(const zb_node *labels, uint64_t index) {
    Position position;
    zb_error err;
    const std::optional<std::string> label = read_label(labels, index, &err);
    if (!label)
        CPLDebug("ZARR3", "%s", err.message);
    position.value = label.value_or("");
    position.is_text = true;
    return position;
}

/* Of the attributes, else of the type. */
static std::string unit_of(const zb_node *coordinate) {
    const zb_dtype dtype = zb_node_array(coordinate)->dtype;
    const std::string stated = attribute_text(coordinate, "units");
    if (!stated.empty() || !is_time(dtype))
        return stated;
    const CoreText own(zb_time_units(dtype));
    return own == nullptr ? std::string() : own.get();
}

/* "" for what is no date. */
static std::string time_text(const zb_node *coordinate, double value) {
    const zb_dtype dtype = zb_node_array(coordinate)->dtype;
    if (!is_time(dtype))
        return iso_time(value, attribute_text(coordinate, "units"),
                        attribute_text(coordinate, "calendar"));
    uint32_t scale;
    zb_dtype_detail unscaled = {};
    unscaled.unit = zb_dtype_unit(dtype, &scale);
    unscaled.scale = 1;
    const CoreText simple(zb_time_units({dtype.kind, dtype.size, false, &unscaled}));
    return is_no_time(dtype, value) || simple == nullptr
               ? std::string()
               : iso_time(value * scale, simple.get(), "proleptic_gregorian");
}

static Position position_of(const zb_node *array, uint32_t dim, uint64_t index,
                            NearbyNodes &around) {
    Position position;
    const NodePtr labels = find_labels(array, dim, around);
    if (labels != nullptr)
        return text_position(labels.get(), index);
    const NodePtr node = find_coordinate(array, dim, around);
    if (node == nullptr)
        return position;
    zb_error err;
    const std::vector<double> values = read_coordinate(node.get(), index, 1, &err);
    if (values.empty()) {
        CPLDebug("ZARR3", "%s", err.message);
        return position;
    }
    position.value =
        is_no_time(zb_node_array(node.get())->dtype, values[0]) ? "NaT" : number_text(values[0]);
    position.unit = unit_of(node.get());
    position.time = time_text(node.get(), values[0]);
    return position;
}

/* terra takes all times of a raster for dates where the first one is: counts of hours and the like
   are told to the second. */
static std::string date_time(const Position &position) {
    const bool is_date = position.time.find('T') == std::string::npos;
    return is_date && !EQUALN(position.unit.c_str(), "d", 1) ? position.time + "T00:00:00"
                                                             : position.time;
}

CPLStringList band_position(const zb_node *array, const Layout &layout, int band,
                            NearbyNodes &around) {
    CPLStringList items;
    const std::vector<uint64_t> index = layout.band_index(band);
    for (size_t i = 0; i < index.size(); i++) {
        const uint32_t dim = layout.extra[i].dim;
        const std::string label = dimension_label(zb_node_array(array), dim);
        const bool is_band = usual_name(label, zb_node_name(array)) == "band";
        const std::string name = "DIM_" + label;
        const Position position = position_of(array, dim, index[i], around);
        /* Plain bands: the index would only repeat the band's number. */
        if (index.size() == 1 && is_band && position.value.empty())
            continue;
        items.AddNameValue((name + "_INDEX").c_str(), std::to_string(index[i]).c_str());
        if (!position.value.empty())
            items.AddNameValue((name + "_VALUE").c_str(), position.value.c_str());
        if (!position.unit.empty())
            items.AddNameValue((name + "_UNIT").c_str(), position.unit.c_str());
        if (!position.time.empty())
            items.AddNameValue((name + "_TIME").c_str(), position.time.c_str());
        if (!position.value.empty() && !position.is_text)
            items.SetNameValue(("NETCDF_DIM_" + label).c_str(), position.value.c_str());
        if (!position.time.empty() && items.FetchNameValue("DATE_TIME") == nullptr)
            items.AddNameValue("DATE_TIME", date_time(position).c_str());
    }
    return items;
}

/* `omero.channels[c].label` of the group above. */
static std::string channel_label(NearbyNodes &around, uint64_t channel) {
    const zb_json *list = zb_json_get(zb_ome_member(around.group_above(1), "omero"), "channels");
    const zb_json *item = zb_json_kind_of(list) == ZB_JSON_ARRAY ? zb_json_first(list) : nullptr;
    for (; item != nullptr && channel > 0; channel--)
        item = zb_json_next(item);
    return json_text(zb_json_get(item, "label"));
}

/* Dimensions of extent 1 do not tell bands apart and are left out. */
std::string band_description(const zb_node *array, const Layout &layout, int band,
                             NearbyNodes &around) {
    const zb_array_info *info = zb_node_array(array);
    std::string text;
    const std::vector<uint64_t> index = layout.band_index(band);
    for (size_t i = 0; i < index.size(); i++) {
        const uint32_t dim = layout.extra[i].dim;
        if (info->shape[dim] == 1)
            continue;
        const Position position = position_of(array, dim, index[i], around);
        std::string place = position.value;
        if (!position.time.empty())
            place = position.time;
        else if (!position.unit.empty())
            place += " " + position.unit;
        else if (place.empty() && dimension_name(info, dim) == "c")
            place = channel_label(around, index[i]);
        /* The text of a dimension "band" is the band's name, and needs no other before it. */
        const std::string label = dimension_label(info, dim);
        const bool is_name = position.is_text && usual_name(label, zb_node_name(array)) == "band";
        if (!place.empty())
            text += (text.empty() ? "" : ", ") + (is_name ? place : label + "=" + place);
    }
    return text.empty() && layout.bands == 1 ? attribute_text(array, "long_name") : text;
}

/* ---- Items of GDAL's netCDF driver ---- */

bool is_dimension_item(const char *name) {
    return STARTS_WITH_CI(name, "NETCDF_DIM_") || strchr(name, '#') != nullptr;
}

/* The most that the texts of one dimension take, in bytes: a store of a few bytes can have a long
   one for each band. */
static constexpr size_t kMostText = size_t{16} << 20;

/* netCDF's number of a type. */
static int netcdf_type(zb_dtype dtype) {
    const int by_size[] = {0, 0, 1, 1, 2, 2, 2, 2, 3}; /* log2 of the size */
    const int order = dtype.size <= 8 ? by_size[dtype.size] : 3;
    switch (dtype.kind) {
    case ZB_KIND_INT:
        return order == 3 ? 10 : order == 2 ? 4 : order == 1 ? 3 : 1;
    case ZB_KIND_UINT:
    case ZB_KIND_BOOL:
        return order == 3 ? 11 : 7 + order;
    case ZB_KIND_FLOAT:
        return order == 3 ? 6 : 5;
    case ZB_KIND_DATETIME:
    case ZB_KIND_TIMEDELTA:
        return 10;
    default:
        return zb_dtype_shown(dtype).kind == dtype.kind ? 6 : netcdf_type(zb_dtype_shown(dtype));
    }
}

namespace {

/* The values of one dimension of a raster, as texts. */
struct Axis {
    NodePtr node; /* null: there is no coordinate, or it cannot be read */
    std::string name;
    std::vector<std::string> values;
    bool is_text = false, is_packed = false;
};

} // namespace

/* A count of nanoseconds has all of its digits. */
static std::string value_text(double value) {
    return std::fabs(value) < 1e19 && value == std::floor(value) ? CPLSPrintf("%.0f", value)
                                                                 : number_text(value);
}

static Axis axis_of(const zb_node *array, const ExtraDimension &extra, NearbyNodes &around) {
    Axis axis;
    zb_error err;
    axis.name = dimension_label(zb_node_array(array), extra.dim);
    axis.node = find_labels(array, extra.dim, around);
    axis.is_text = axis.node != nullptr;
    if (!axis.is_text)
        axis.node = find_coordinate(array, extra.dim, around);
    size_t bytes = 0;
    for (uint64_t i = 0; axis.is_text && i < extra.count; i++) {
        const auto label = read_label(axis.node.get(), extra.start + i, &err);
        bytes += label ? label->size() + 1 : 0;
        if (label && bytes > kMostText)
            zb_fail(&err, ZB_ELIMIT, "array /%s: its texts are too long for an item",
                    zb_node_path(axis.node.get()));
        if (!label || bytes > kMostText)
            break;
        axis.values.push_back(*label);
    }
    if (axis.node != nullptr && !axis.is_text) {
        for (const double value : read_coordinate(axis.node.get(), extra.start, extra.count, &err))
            axis.values.push_back(value_text(value));
        axis.is_packed = attribute(axis.node.get(), "scale_factor") != nullptr ||
                         attribute(axis.node.get(), "add_offset") != nullptr;
    }
    if (axis.node != nullptr && axis.values.size() != extra.count) {
        CPLDebug("ZARR3", "%s", err.message);
        axis.node = nullptr;
    }
    return axis;
}

/* rioxarray splits lists at commas, and takes texts that begin with numbers for them: it could not
   open the raster. A number of a band is what it counts itself. */
static bool can_be_listed(const Axis &axis, bool is_band) {
    if (axis.node == nullptr || axis.name.find_first_of(",{} ") != std::string::npos ||
        axis.name == "x" || axis.name == "y")
        return false;
    if (!axis.is_text)
        return !is_band;
    char *end = nullptr;
    std::strtod(axis.values[0].c_str(), &end); /* takes "infrared" for infinity, too */
    const char *const apart = axis.values.size() == 1 ? ",{}[] \t" : ",{}";
    return end == axis.values[0].c_str() && !axis.values[0].empty() &&
           std::all_of(axis.values.begin(), axis.values.end(), [apart](const std::string &text) {
               return text.find_first_of(apart) == std::string::npos;
           });
}

static std::string listed(const std::vector<std::string> &values) {
    if (values.size() == 1)
        return values[0];
    std::string list;
    for (const std::string &value : values)
        list += (list.empty() ? "{" : ",") + value;
    return list + "}";
}

/* The attributes that are true of values as they are listed. */
static void add_coordinate_attributes(const Axis &axis, CPLStringList *items) {
    static constexpr const char *kOfStored[] = {"_FillValue", "missing_value", "scale_factor",
                                                "add_offset", "_Unsigned",     kHdf5Side};
    const std::string units = unit_of(axis.node.get());
    if (!units.empty())
        items->AddNameValue((axis.name + "#units").c_str(), units.c_str());
    if (is_time(zb_node_array(axis.node.get())->dtype))
        items->AddNameValue((axis.name + "#calendar").c_str(), "proleptic_gregorian");
    for (const zb_json *member = zb_json_first(zb_node_attributes(axis.node.get()));
         member != nullptr; member = zb_json_next(member)) {
        const std::string name = zb_json_name(member), item = axis.name + "#" + name;
        const bool of_stored = std::any_of(std::begin(kOfStored), std::end(kOfStored),
                                           [&name](const char *other) { return name == other; });
        if (!of_stored && !zb_gdal_owns_attribute(name.c_str()) && can_name_item(name) &&
            items->FetchNameValue(item.c_str()) == nullptr)
            items->AddNameValue(item.c_str(), json_text(member).c_str());
    }
}

/* rioxarray gives the bands the coordinates of the dimension in NETCDF_DIM_EXTRA, and cannot open a
   raster whose bands are others: where two dimensions have several steps there is none. */
CPLStringList dimension_items(const zb_node *array, const Layout &layout, NearbyNodes &around) {
    CPLStringList items;
    bool is_told = false;
    for (const ExtraDimension &extra : layout.extra) {
        const Axis axis = axis_of(array, extra, around);
        const bool is_band = usual_name(axis.name, zb_node_name(array)) == "band";
        if (!can_be_listed(axis, is_band))
            continue;
        const std::string name = "NETCDF_DIM_" + axis.name;
        const zb_dtype dtype = zb_node_array(axis.node.get())->dtype;
        const int type = axis.is_text ? 12 : axis.is_packed ? 6 : netcdf_type(dtype);
        if (!is_told && extra.count == static_cast<uint64_t>(layout.bands)) {
            items.SetNameValue("NETCDF_DIM_EXTRA", ("{" + axis.name + "}").c_str());
            is_told = true;
        }
        items.SetNameValue(
            (name + "_DEF").c_str(),
            ("{" + std::to_string(extra.count) + "," + std::to_string(type) + "}").c_str());
        items.SetNameValue((name + "_VALUES").c_str(), listed(axis.values).c_str());
        add_coordinate_attributes(axis, &items);
    }
    return items;
}

} // namespace zarr3
