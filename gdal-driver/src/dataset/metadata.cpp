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
#include "array/hdf5_side.h"
#include "array/types.h"
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
        "_CRS",
        "_FillValue",
        "_Unsigned",
        "missing_value",
        "_FillValues",
        "_ARRAY_DIMENSIONS",
        "scale_factor",
        "add_offset",
        "scales",
        "offsets",
        "units",
        "grid_mapping",
        "coordinates",
        "band_metadata",
        "ome",
        "multiscales",
        "zarr_conventions",
        "COLOR_INTERPRETATION",
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
