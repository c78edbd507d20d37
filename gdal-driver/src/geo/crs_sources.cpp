/* SPDX-License-Identifier: MIT */
/*
 * A store often carries the same CRS in several forms, written by programs of different ages, and
 * one that is readable is enough: what PROJ does not understand is passed over, with one line for
 * CPL_DEBUG.
 *
 * GDAL's parser of CRS texts can open files and contact servers, which a store must not cause; both
 * are switched off for every text from a store.
 */
#include "geo/crs_sources.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "array/attributes.h"
#include "array/conventions.h"
#include "array/coordinates.h"
#include "array/dimension_names.h"
#include "array/types.h"
#include "cpl_string.h"
#include "geo/geotransform.h"
#include "geo/find_grid_mapping.h"

namespace zarr3 {

static constexpr const char *kUnknown = "GDAL makes no CRS of it";

/* A definition from a store must neither open files nor contact servers. */
bool import_crs(const std::string &text, OGRSpatialReference *srs) {
    if (text.empty())
        return false;
    static const char *const kNoAccess[] = {"ALLOW_NETWORK_ACCESS=NO", "ALLOW_FILE_ACCESS=NO",
                                            nullptr};
    CPLErrorStateBackuper quiet(CPLQuietErrorHandler);
    return srs->SetFromUserInput(text.c_str(), kNoAccess) == OGRERR_NONE;
}

/* Definitions that carry more go first: a code alone may be unknown to this PROJ database. */
static bool import_proj(const zb_node *node, NearbyNodes &around, OGRSpatialReference *srs,
                        std::string *why) {
    std::vector<std::string> texts;
    for (const char *name : {"proj:wkt2", "proj:projjson", "proj:code"}) {
        if (attribute(node, name) != nullptr)
            texts.push_back(json_text(attribute(node, name)));
    }
    if (texts.empty())
        return false;
    const bool is_declared = follows(node, ZB_CONVENTION_PROJ, around);
    *why = is_declared ? kUnknown : "the convention is not declared";
    return is_declared && std::any_of(texts.begin(), texts.end(), [&](const std::string &text) {
               return import_crs(text, srs);
           });
}

/* The convention hands a group's CRS down to its children; a pyramid's group stands above all of
   its levels, where these are groups too. */
static bool inherit_proj(const CrsQuestion &asked, OGRSpatialReference *srs, std::string *why) {
    NearbyNodes &around = asked.around;
    return import_proj(around.group_above(1), around, srs, why) ||
           (!asked.pyramid.empty() &&
            import_proj(around.at(asked.pyramid.group).get(), around, srs, why));
}

/* Of parameters that it does not know GDAL makes an object without a CRS, and no error. */
static bool is_defined(const OGRSpatialReference &srs) {
    return !srs.IsEmpty() && !srs.exportToWkt().empty();
}

/* CF's own parameters (grid_mapping_name, standard_parallel, ...) as GDAL's importer takes them. */
static bool import_cf(const zb_node *mapping, const std::string &units, OGRSpatialReference *srs) {
    CPLStringList pairs;
    const zb_json *attributes = zb_node_attributes(mapping);
    for (const zb_json *member = zb_json_first(attributes); member != nullptr;
         member = zb_json_next(member)) {
        std::string text = json_text(member);
        if (zb_json_kind_of(member) == ZB_JSON_ARRAY) {
            text.clear();
            for (const zb_json *item = zb_json_first(member); item; item = zb_json_next(item))
                text += (text.empty() ? "" : ",") + json_text(item);
        }
        pairs.SetNameValue(zb_json_name(member), text.c_str());
    }
    if (pairs.FetchNameValue("grid_mapping_name") == nullptr)
        return false;
    CPLErrorStateBackuper quiet(CPLQuietErrorHandler);
    if (srs->importFromCF1(pairs.List(), units.empty() ? nullptr : units.c_str()) != OGRERR_NONE ||
        !is_defined(*srs))
        return false;
    /* Metres are what other programs expect, and what GDAL's netCDF driver makes of it. */
    if (srs->IsProjected() && srs->GetLinearUnits() != 1)
        srs->SetLinearUnitsAndUpdateParameters("metre", 1);
    return true;
}

/* Units of the coordinate array of a dimension: CF keeps what the CRS leaves open there. */
static std::string axis_units(const zb_node *array, int dim, NearbyNodes &around) {
    if (dim < 0)
        return {};
    const NodePtr axis = around.find_coordinate(zb_node_array(array), static_cast<uint32_t>(dim));
    return attribute_text(axis.get(), "units");
}

/* The texts before the parameters: crs_wkt is exact where the parameters are a selection. */
static bool import_grid_mapping(const CrsQuestion &asked, OGRSpatialReference *srs,
                                std::string *why) {
    const NodePtr mapping = find_grid_mapping(asked.array, asked.around);
    const std::string named = attribute_text(asked.array, "grid_mapping");
    if (mapping == nullptr) {
        *why = named.empty() ? "" : "there is no array '" + named + "'";
        return false;
    }
    *why = kUnknown;
    return (import_crs(attribute_text(mapping.get(), "crs_wkt"), srs) ||
            import_crs(attribute_text(mapping.get(), "spatial_ref"), srs) ||
            import_cf(mapping.get(), axis_units(asked.array, asked.axes.x, asked.around), srs));
}

/* GDAL's own attribute: {"wkt": ..., "projjson": ..., "url": ...}, each optional. Other programs
   have a text there. */
static bool import_gdal(const CrsQuestion &asked, OGRSpatialReference *srs, std::string *why) {
    const zb_json *crs = attribute(asked.array, "_CRS");
    *why = crs == nullptr ? "" : kUnknown;
    return import_crs(attribute_text(asked.array, "_CRS"), srs) ||
           import_crs(json_text(zb_json_get(crs, "url")), srs) ||
           import_crs(json_text(zb_json_get(crs, "wkt")), srs) ||
           import_crs(json_text(zb_json_get(crs, "projjson")), srs);
}

/* A grid mapping of ours for a raster without a CRS, whose coordinates may be those of others. */
static bool denies_crs(const zb_node *array, NearbyNodes &around) {
    const NodePtr mapping =
        attribute_text(array, "grid_mapping").empty() ? nullptr : find_grid_mapping(array, around);
    const zb_json *attributes = mapping == nullptr ? nullptr : zb_node_attributes(mapping.get());
    const size_t known = attribute(mapping.get(), "GeoTransform") != nullptr ? 1 : 0;
    return mapping != nullptr && zb_json_count(attributes) == known;
}

static bool import_degrees(const CrsQuestion &asked, OGRSpatialReference *srs, std::string *why) {
    const std::string x = axis_units(asked.array, asked.axes.x, asked.around);
    if (zb_degrees_axis(x.c_str()) != 'X' ||
        zb_degrees_axis(axis_units(asked.array, asked.axes.y, asked.around).c_str()) != 'Y')
        return false;
    *why = "the grid mapping says that there is none";
    return !denies_crs(asked.array, asked.around) && import_crs("EPSG:4326", srs);
}

/* stackstac puts the code of the CRS into a scalar coordinate. */
static bool import_code_coordinate(const CrsQuestion &asked, OGRSpatialReference *srs,
                                   std::string *why) {
    NearbyNodes &around = asked.around;
    bool said = false;
    for (const zb_node *node : {asked.array, around.group_above(1)}) {
        const std::vector<std::string> names = words(attribute_text(node, "coordinates"));
        said = said || std::find(names.begin(), names.end(), "epsg") != names.end();
    }
    const NodePtr node = said ? around.find_array("epsg") : nullptr;
    const zb_array_info *info = node == nullptr ? nullptr : zb_node_array(node.get());
    if (info == nullptr || info->ndim != 0 || pixel_type(node.get()) == GDT_Unknown)
        return false;
    *why = "it is no code of EPSG";
    zb_error err;
    const std::vector<double> code = read_coordinate(node.get(), 0, 1, &err);
    return code.size() == 1 && code[0] >= 1024 && code[0] <= 32767 &&
           code[0] == std::floor(code[0]) &&
           import_crs("EPSG:" + std::to_string(static_cast<int>(code[0])), srs);
}

/* The extension `proj` of STAC, whose names some programs (ESA's EOPF) have on arrays that declare
   no convention: `proj:epsg` is a number. */
static bool import_stac(const CrsQuestion &asked, OGRSpatialReference *srs, std::string *why) {
    const zb_json *code = attribute(asked.array, "proj:epsg");
    const zb_json *wkt = attribute(asked.array, "proj:wkt2");
    const bool declares = attribute(asked.array, "zarr_conventions") != nullptr;
    if (code == nullptr && wkt == nullptr)
        return false;
    *why = declares ? "the array declares other conventions" : kUnknown;
    return !declares && ((code != nullptr && import_crs("EPSG:" + json_text(code), srs)) ||
                         import_crs(json_text(wkt), srs));
}

/* EOPF's products have one CRS for all that has rows and columns called y and x. */
static bool import_eopf(const CrsQuestion &asked, OGRSpatialReference *srs, std::string *why) {
    const Axes &axes = asked.axes;
    NearbyNodes &around = asked.around;
    const zb_array_info *info = zb_node_array(asked.array);
    const zb_nodes nodes = around.for_core();
    if (axes.y < 0 || dimension_name(info, static_cast<uint32_t>(axes.x)) != "x" ||
        dimension_name(info, static_cast<uint32_t>(axes.y)) != "y" || !zb_is_eopf_product(&nodes))
        return false;
    *why = kUnknown;
    const NodePtr root = around.at("");
    const zb_json *item = zb_json_get(attribute(root.get(), "stac_discovery"), "properties");
    const std::string number = json_text(zb_json_get(item, "proj:epsg"));
    for (const std::string &code :
         {json_text(zb_json_get(attribute(root.get(), "other_metadata"), "horizontal_CRS_code")),
          json_text(zb_json_get(item, "proj:code")), "EPSG:" + number}) {
        if (STARTS_WITH_CI(code.c_str(), "EPSG:") && import_crs(code, srs))
            return true;
    }
    return false;
}

/* GDAL makes no name of the parameters of CF. They may tell less than an exact text. */
static bool is_unnamed(const OGRSpatialReference &srs) {
    const char *name = srs.GetName();
    return name == nullptr || *name == '\0' || EQUAL(name, "unnamed");
}

/* rioxarray reprojects, writes the grid mapping that the array names, and takes all attributes of
   the raster before along. The coordinates, which tell, are read only where the two differ. */
static bool import_own_proj(const CrsQuestion &asked, OGRSpatialReference *srs, std::string *why) {
    const zb_node *array = asked.array;
    if (!import_proj(array, asked.around, srs, why))
        return false;
    OGRSpatialReference mapped;
    std::string unasked;
    const bool is_stale =
        zb_node_array(array)->ndim >= 2 && !attribute_text(array, "grid_mapping").empty() &&
        import_grid_mapping(asked, &mapped, &unasked) && !is_unnamed(mapped) &&
        !mapped.IsSame(srs) && are_left_behind(array, asked.axes, asked.around, *srs);
    if (is_stale)
        *srs = mapped;
    return true;
}

const std::vector<CrsSource> &crs_sources() {
    static const std::vector<CrsSource> kSources = {
        {"proj", false, import_own_proj},
        {"proj of a group", true, inherit_proj},
        {"grid mapping", false, import_grid_mapping},
        {"_CRS", false, import_gdal},
        {"proj of STAC", false, import_stac},
        {"coordinate epsg", true, import_code_coordinate},
        {"degrees east and north", true, import_degrees},
        {"EOPF", true, import_eopf},
    };
    return kSources;
}

} // namespace zarr3
