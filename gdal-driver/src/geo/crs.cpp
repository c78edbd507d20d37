/* SPDX-License-Identifier: MIT */
/*
 * Each source is tried in turn and whatever PROJ does not understand is passed over in silence,
 * with one line for CPL_DEBUG at most: a store often carries the same CRS in several forms, written
 * by programs of different ages, and one that is readable is enough.
 *
 * GDAL's parser of CRS texts can open files and contact servers, which a store must not cause; both
 * are switched off for every text from a store.
 *
 * Axis order: all sources mean x (or longitude) by columns and y (or latitude) by rows, whatever
 * the CRS's own definition says about the order of its axes. That is GDAL's "traditional GIS
 * order".
 */
#include "geo/crs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

#include "array/attributes.h"
#include "array/conventions.h"
#include "array/coordinates.h"
#include "array/dimension_names.h"
#include "array/types.h"
#include "cpl_string.h"
#include "geo/geotransform.h"
#include "geo/grid_mapping.h"

namespace zarr3 {

/* Reads a definition in any textual form. A definition from a store must neither open files nor
   contact servers. One that PROJ does not know is passed over in silence: the next source is
   asked. */
static bool import_text(const std::string &text, OGRSpatialReference *srs) {
    if (text.empty())
        return false;
    static const char *const kNoAccess[] = {"ALLOW_NETWORK_ACCESS=NO", "ALLOW_FILE_ACCESS=NO",
                                            nullptr};
    CPLErrorStateBackuper quiet(CPLQuietErrorHandler);
    return srs->SetFromUserInput(text.c_str(), kNoAccess) == OGRERR_NONE;
}

/* Definitions that carry more go first: a code alone may be unknown to this PROJ database. */
static bool import_proj(const zb_node *node, NearbyNodes &around, OGRSpatialReference *srs) {
    std::vector<std::string> texts;
    for (const char *name : {"proj:wkt2", "proj:projjson", "proj:code"}) {
        if (attribute(node, name) != nullptr)
            texts.push_back(json_text(attribute(node, name)));
    }
    if (texts.empty() || !follows(node, ZB_CONVENTION_PROJ, around))
        return false;
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string &text) { return import_text(text, srs); });
}

/* The convention hands a group's CRS down to its children; a pyramid's group stands above all of
   its levels, where these are groups too. */
static bool inherit_proj(const Pyramid &pyramid, NearbyNodes &around, OGRSpatialReference *srs) {
    return import_proj(around.group_above(1), around, srs) ||
           (!pyramid.empty() && import_proj(around.at(pyramid.group).get(), around, srs));
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
    if (srs->importFromCF1(pairs.List(), units.empty() ? nullptr : units.c_str()) != OGRERR_NONE)
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
static bool import_grid_mapping(const zb_node *array, const Axes &axes, NearbyNodes &around,
                                OGRSpatialReference *srs) {
    const NodePtr mapping = find_grid_mapping(array, around);
    return mapping != nullptr && (import_text(attribute_text(mapping.get(), "crs_wkt"), srs) ||
                                  import_text(attribute_text(mapping.get(), "spatial_ref"), srs) ||
                                  import_cf(mapping.get(), axis_units(array, axes.x, around), srs));
}

/* GDAL's own attribute: {"wkt": ..., "projjson": ..., "url": ...}, each optional. */
static bool import_gdal(const zb_node *array, OGRSpatialReference *srs) {
    const zb_json *crs = attribute(array, "_CRS");
    return import_text(json_text(zb_json_get(crs, "url")), srs) ||
           import_text(json_text(zb_json_get(crs, "wkt")), srs) ||
           import_text(json_text(zb_json_get(crs, "projjson")), srs);
}

/* The spellings of degrees east and north that CF allows. */
static bool is_degrees(const std::string &units, char direction) {
    static constexpr const char *kEast[] = {"degrees_east", "degree_east", "degree_E",
                                            "degrees_E",    "degreeE",     "degreesE"};
    static constexpr const char *kNorth[] = {"degrees_north", "degree_north", "degree_N",
                                             "degrees_N",     "degreeN",      "degreesN"};
    const auto &spellings = direction == 'E' ? kEast : kNorth;
    return std::find(std::begin(spellings), std::end(spellings), units) != std::end(spellings);
}

/* A grid mapping of ours for a raster without a CRS, whose coordinates may be those of others. */
static bool denies_crs(const zb_node *array, NearbyNodes &around) {
    const NodePtr mapping =
        attribute_text(array, "grid_mapping").empty() ? nullptr : find_grid_mapping(array, around);
    const zb_json *attributes = mapping == nullptr ? nullptr : zb_node_attributes(mapping.get());
    const size_t known = attribute(mapping.get(), "GeoTransform") != nullptr ? 1 : 0;
    return mapping != nullptr && zb_json_count(attributes) == known;
}

static bool import_degrees(const zb_node *array, const Axes &axes, NearbyNodes &around,
                           OGRSpatialReference *srs) {
    return !denies_crs(array, around) && is_degrees(axis_units(array, axes.x, around), 'E') &&
           is_degrees(axis_units(array, axes.y, around), 'N') && import_text("EPSG:4326", srs);
}

/* stackstac puts the code of the CRS into a scalar coordinate. */
static bool import_code_coordinate(const zb_node *array, NearbyNodes &around,
                                   OGRSpatialReference *srs) {
    bool said = false;
    for (const zb_node *node : {array, static_cast<const zb_node *>(around.group_above(1))}) {
        const std::vector<std::string> names = words(attribute_text(node, "coordinates"));
        said = said || std::find(names.begin(), names.end(), "epsg") != names.end();
    }
    const NodePtr node = said ? around.find_array("epsg") : nullptr;
    const zb_array_info *info = node == nullptr ? nullptr : zb_node_array(node.get());
    if (info == nullptr || info->ndim != 0 || pixel_type(node.get()) == GDT_Unknown)
        return false;
    zb_error err;
    const std::vector<double> code = read_coordinate(node.get(), 0, 1, &err);
    return code.size() == 1 && code[0] >= 1024 && code[0] <= 32767 &&
           code[0] == std::floor(code[0]) &&
           import_text("EPSG:" + std::to_string(static_cast<int>(code[0])), srs);
}

/* EOPF's products have one CRS for all that has rows and columns called y and x. */
static bool import_eopf(const zb_node *array, const Axes &axes, NearbyNodes &around,
                        OGRSpatialReference *srs) {
    const zb_array_info *info = zb_node_array(array);
    const zb_nodes nodes = around.for_core();
    if (axes.y < 0 || dimension_name(info, static_cast<uint32_t>(axes.x)) != "x" ||
        dimension_name(info, static_cast<uint32_t>(axes.y)) != "y" || !zb_is_eopf_product(&nodes))
        return false;
    const NodePtr root = around.at("");
    const zb_json *item = zb_json_get(attribute(root.get(), "stac_discovery"), "properties");
    const std::string number = json_text(zb_json_get(item, "proj:epsg"));
    for (const std::string &code :
         {json_text(zb_json_get(attribute(root.get(), "other_metadata"), "horizontal_CRS_code")),
          json_text(zb_json_get(item, "proj:code")), "EPSG:" + number}) {
        if (STARTS_WITH_CI(code.c_str(), "EPSG:") && import_text(code, srs))
            return true;
    }
    return false;
}

/* The definition that the database has under the CRS's own code. */
static bool import_by_code(const OGRSpatialReference &srs, OGRSpatialReference *known) {
    const char *authority = srs.GetAuthorityName(nullptr);
    const char *code = srs.GetAuthorityCode(nullptr);
    return authority != nullptr && code != nullptr &&
           import_text(std::string(authority) + ":" + code, known);
}

/* WKT 2 keeps the code of a CRS but not those of its parts (ellipsoid, units). Where the database
   has the same definition under the code, that one has them all. Compared is what is left of either
   after it has been text, because texts do not keep all of EPSG:3857. */
static bool is_definition_of(const OGRSpatialReference &known, const OGRSpatialReference &srs) {
    OGRSpatialReference as_text;
    return import_text(crs_text(known), &as_text) && crs_text(as_text) == crs_text(srs);
}

/* Of a CRS that has a code. */
static void complete_known(OGRSpatialReference *srs) {
    OGRSpatialReference known, as_wkt_2015, as_wkt_1;
    if (!import_by_code(*srs, &known))
        return;
    /* In WKT 1 and WKT 2:2015, which many programs set, a datum stands for the database's ensemble
       of datums. All else of the database's definition is in the latter. */
    static const char *const kWkt2015[] = {"FORMAT=WKT2_2015", nullptr};
    if (!is_definition_of(known, *srs) &&
        !(import_text(known.exportToWkt(kWkt2015), &as_wkt_2015) &&
          is_definition_of(as_wkt_2015, *srs))) {
        if (!import_text(known.exportToWkt(), &as_wkt_1) || !is_definition_of(as_wkt_1, *srs))
            return;
        known = as_wkt_1;
    }
    known.SetCoordinateEpoch(srs->GetCoordinateEpoch());
    *srs = known;
}

/* A projected CRS of a program's own is mostly on a geographic one that has a code. That one is
   taken from the database where the text stays the same. */
static void complete_base(OGRSpatialReference *srs) {
    const std::unique_ptr<OGRSpatialReference> base(srs->CloneGeogCS());
    OGRSpatialReference known, as_wkt_1;
    if (base == nullptr || !import_by_code(*base, &known) ||
        !import_text(known.exportToWkt(), &as_wkt_1))
        return;
    for (const OGRSpatialReference *candidate : {&known, &as_wkt_1}) {
        OGRSpatialReference completed = *srs;
        if (completed.CopyGeogCSFrom(candidate) == OGRERR_NONE &&
            crs_text(completed) == crs_text(*srs)) {
            completed.SetCoordinateEpoch(srs->GetCoordinateEpoch());
            *srs = completed;
            return;
        }
    }
}

static void complete_codes(OGRSpatialReference *srs) {
    if (srs->GetAuthorityCode(nullptr) == nullptr && srs->IsProjected() && !srs->IsCompound())
        complete_base(srs);
    else
        complete_known(srs);
}

/* Definitions in WKT 1 do not say that they are dynamic. */
static bool is_dynamic(const OGRSpatialReference &srs) {
    OGRSpatialReference known;
    return srs.IsDynamic() || (import_by_code(srs, &known) && known.IsDynamic());
}

/* Only a dynamic CRS has use for one: the epoch may be older than the CRS. A static one keeps
   what a program has given it, beside the form in which this driver writes the CRS. */
static void add_epoch(const zb_node *array, OGRSpatialReference *srs) {
    const GdalExtension extension = gdal_extension(array);
    const std::optional<double> epoch =
        single_number(zb_gdal_extension_get(extension.get(), ZB_GDAL_COORDINATE_EPOCH));
    const bool is_ours = attribute(array, "proj:wkt2") != nullptr;
    if (epoch && srs->GetCoordinateEpoch() == 0 && (is_ours || is_dynamic(*srs)))
        srs->SetCoordinateEpoch(*epoch);
}

/* GDAL makes no name of the parameters of CF. They may tell less than an exact text. */
static bool is_unnamed(const OGRSpatialReference &srs) {
    const char *name = srs.GetName();
    return name == nullptr || *name == '\0' || EQUAL(name, "unnamed");
}

/* rioxarray reprojects, writes the grid mapping that the array names, and takes all attributes of
   the raster before along. The coordinates, which tell, are read only where the two differ. */
static bool import_own_proj(const zb_node *array, const Axes &axes, NearbyNodes &around,
                            OGRSpatialReference *srs) {
    if (!import_proj(array, around, srs))
        return false;
    OGRSpatialReference mapped;
    if (zb_node_array(array)->ndim >= 2 && !attribute_text(array, "grid_mapping").empty() &&
        import_grid_mapping(array, axes, around, &mapped) && !is_unnamed(mapped) &&
        !mapped.IsSame(srs) && are_left_behind(array, axes, around, *srs))
        *srs = mapped;
    return true;
}

std::optional<OGRSpatialReference> find_crs(const zb_node *array, const Axes &axes,
                                            const Pyramid &pyramid, NearbyNodes &around) {
    OGRSpatialReference srs;
    const bool is_map = zb_node_array(array)->ndim >= 2;
    if (!import_own_proj(array, axes, around, &srs) &&
        !(is_map && inherit_proj(pyramid, around, &srs)) &&
        !import_grid_mapping(array, axes, around, &srs) && !import_gdal(array, &srs) &&
        !(is_map && import_code_coordinate(array, around, &srs)) &&
        !(is_map && import_degrees(array, axes, around, &srs)) &&
        !(is_map && import_eopf(array, axes, around, &srs)))
        return std::nullopt;
    complete_codes(&srs);
    add_epoch(array, &srs);
    srs.SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
    return srs;
}

std::string crs_text(const OGRSpatialReference &srs) {
    static const char *const kFormat[] = {"FORMAT=WKT2_2019", nullptr};
    const std::string wkt = srs.exportToWkt(kFormat);
    return wkt.empty() ? srs.exportToWkt() : wkt; /* WKT 1 for a CRS that WKT 2 cannot express */
}

} // namespace zarr3
