/* SPDX-License-Identifier: MIT */
/*
 * GDAL's metadata are lists of NAME=VALUE without types. Attributes go in as text: strings bare,
 * the rest as JSON. Attributes that GDAL has a concept for (nodata, scale, CRS, ...) are left out,
 * so that programs that copy metadata from format to format do not write them twice, the second
 * time as a string that contradicts the first one after the first edit.
 */
#include "dataset/metadata.h"

#include <algorithm>
#include <cctype>

#include "array/attributes.h"
#include "array/conventions.h"
#include "array/coordinates.h"
#include "array/dimension_names.h"
#include "array/hdf5_side.h"
#include "array/types.h"
#include "base/handles.h"
#include "base/number_text.h"
#include "geo/cf_time.h"
#include "zarrbridge/conventions.h"

namespace zarr3 {

void MetadataDomains::set(const char *domain, CSLConstList items) {
    if (items == nullptr)
        own_.erase(domain);
    else
        own_[domain] = items;
}

MetadataList MetadataDomains::items(const char *domain) {
    const auto found = own_.find(domain);
    return found == own_.end() ? nullptr : found->second.List();
}

const char *MetadataDomains::item(const char *domain, const char *name) {
    return item_value(items(domain), name);
}

MetadataList MetadataDomains::merged(const char *domain, CSLConstList other) {
    CPLStringList &result = merged_[domain];
    result = static_cast<CSLConstList>(items(domain)); /* a copy */
    for (const auto &[name, value] : name_values(other))
        set_item(&result, name.c_str(), value.c_str());
    return result.List();
}

/* GDAL allocates the list, we add to it, GDAL frees it. */
char **MetadataDomains::add_names(char **names) const {
    CPLStringList list(names, TRUE);
    for (const auto &domain : own_) {
        if (list.FindString(domain.first.c_str()) < 0)
            list.AddString(domain.first.c_str());
    }
    return list.StealList();
}

/* Attributes that appear as georeferencing, nodata, scale, offset, unit or overviews instead. */
static bool has_better_place(const std::string &name) {
    static constexpr const char *kNames[] = {
        "_CRS",         "_FillValue",   "_Unsigned",        "missing_value",
        "scale_factor", "add_offset",   "scales",           "offsets",
        "units",        "grid_mapping", "coordinates",      "band_metadata",
        "ome",          "multiscales",  "zarr_conventions", "COLOR_INTERPRETATION",
        kHdf5Side,
    };
    return std::any_of(std::begin(kNames), std::end(kNames),
                       [&](const char *item) { return name == item; }) ||
           is_place_attribute(name) || zb_gdal_owns_attribute(name.c_str());
}

bool is_item_name(const std::string &name) {
    return !has_better_place(name) && can_name_item(name);
}

bool is_item(const zb_node *node, const zb_json *member) {
    const std::string name = zb_json_name(member);
    const zb_array_info *info = zb_node_array(node);
    /* Descriptions of bands. A single name stays an item where several bands have places for
       descriptions. */
    if (name == "long_name" && info != nullptr &&
        (zb_json_kind_of(member) == ZB_JSON_ARRAY || info->ndim <= 2))
        return false;
    return is_item_name(name);
}

void add_attributes(const zb_node *node, const char *domain, MetadataDomains *metadata) {
    CPLStringList items;
    const zb_json *attributes = zb_node_attributes(node);
    for (const zb_json *member = zb_json_first(attributes); member != nullptr;
         member = zb_json_next(member)) {
        /* Added, not set: GDAL takes "History" and "history" for one name, JSON does not. */
        if (is_item(node, member))
            items.AddNameValue(zb_json_name(member), json_text(member).c_str());
    }
    metadata->set(domain, items.List());
}

/* The codec that does the work; inside shards it is listed after the sharding codec. GDAL has no
   fixed names for these; they follow the TIFF driver's spelling. */
static std::string compression_name(const zb_array_info *info) {
    for (size_t i = 0; i < info->codec_count; i++) {
        const std::string name = info->codecs[i].name;
        if (name == "gzip" || name == "zstd")
            return name == "gzip" ? "GZIP" : "ZSTD";
        if (name == "blosc") {
            std::string inner = json_text(zb_json_get(info->codecs[i].configuration, "cname"));
            std::transform(inner.begin(), inner.end(), inner.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
            return inner.empty() ? "BLOSC" : "BLOSC_" + inner;
        }
    }
    return {};
}

void add_image_structure(const zb_array_info *info, const Layout &layout,
                         MetadataDomains *metadata) {
    static const char kDomain[] = "IMAGE_STRUCTURE";
    const std::string compression = compression_name(info);
    if (!compression.empty())
        metadata->set(kDomain, "COMPRESSION", compression.c_str());
    /* PIXEL tells programs to ask for all bands at once: that decodes a chunk once. */
    metadata->set(kDomain, "INTERLEAVE", layout.chunk_bands > 1 ? "PIXEL" : "BAND");
    if (info->shard_depth > 0 && layout.axes.y >= 0)
        metadata->set(kDomain, "SHARD_SIZE",
                      (std::to_string(info->chunk_shape[layout.axes.x]) + "x" +
                       std::to_string(info->chunk_shape[layout.axes.y]))
                          .c_str());
}

namespace {

/* The place of one band along a dimension that has a coordinate array. */
struct Position {
    std::string value; /* as a number, or the text; "" without a coordinate array */
    bool is_text = false;
    std::string unit;
    std::string time; /* the value as a date, for CF times */
};

} // namespace

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
    const double value = values[0];
    const zb_dtype dtype = zb_node_array(node.get())->dtype;
    uint32_t scale;
    position.value = number_text(value);
    position.unit = attribute_text(node.get(), "units");
    if (!is_time(dtype)) {
        position.time = iso_time(value, position.unit, attribute_text(node.get(), "calendar"));
        return position;
    }
    zb_dtype_detail unscaled = {};
    unscaled.unit = zb_dtype_unit(dtype, &scale);
    unscaled.scale = 1;
    const CoreText own(zb_time_units(dtype));
    const CoreText simple(zb_time_units({dtype.kind, dtype.size, false, &unscaled}));
    if (position.unit.empty() && own != nullptr)
        position.unit = own.get();
    if (value <= -0x1p63)
        position.value = "NaT";
    else if (simple != nullptr)
        position.time = iso_time(value * scale, simple.get(), "proleptic_gregorian");
    return position;
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
    }
    return items;
}

/* `omero.channels[c].label` of the group above; in OME-NGFF 0.4 `omero` is an attribute. */
static std::string channel_label(NearbyNodes &around, uint64_t channel) {
    const zb_node *group = around.group_above(1);
    const zb_json *omero = zb_json_get(attribute(group, "ome"), "omero");
    const zb_json *list =
        zb_json_get(omero == nullptr ? attribute(group, "omero") : omero, "channels");
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

GDALColorInterp default_colour(const zb_node *array, const Layout &layout, int band) {
    const zb_dtype dtype = pixel_dtype(array);
    const bool bytes = dtype.kind == ZB_KIND_UINT && dtype.size == 1;
    /* Three or four bands in front of rows and columns are more often dates or levels than
       colours. */
    const bool picture = bytes && layout.extra.size() == 1 &&
                         static_cast<int>(layout.extra[0].dim) > layout.axes.x &&
                         (layout.bands == 3 || layout.bands == 4);
    if (picture)
        return static_cast<GDALColorInterp>(GCI_RedBand + band);
    return layout.bands == 1 ? GCI_GrayIndex : GCI_Undefined;
}

} // namespace zarr3
