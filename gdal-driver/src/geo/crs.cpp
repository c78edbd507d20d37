/* SPDX-License-Identifier: MIT */
/*
 * The CRS that the first of the sources says (crs_sources.h), with all that PROJ's database knows
 * of it.
 *
 * Axis order: all sources mean x (or longitude) by columns and y (or latitude) by rows, whatever
 * the CRS's own definition says about the order of its axes. That is GDAL's "traditional GIS
 * order".
 */
#include "geo/crs.h"

#include <memory>

#include "array/attributes.h"
#include "geo/crs_sources.h"

namespace zarr3 {

/* The definition that the database has under the CRS's own code. */
static bool import_by_code(const OGRSpatialReference &srs, OGRSpatialReference *known) {
    const char *authority = srs.GetAuthorityName(nullptr);
    const char *code = srs.GetAuthorityCode(nullptr);
    return authority != nullptr && code != nullptr &&
           import_crs(std::string(authority) + ":" + code, known);
}

/* WKT 2 keeps the code of a CRS but not those of its parts (ellipsoid, units). Where the database
   has the same definition under the code, that one has them all. Compared is what is left of either
   after it has been text, because texts do not keep all of EPSG:3857. */
static bool is_definition_of(const OGRSpatialReference &known, const OGRSpatialReference &srs) {
    OGRSpatialReference as_text;
    return import_crs(crs_text(known), &as_text) && crs_text(as_text) == crs_text(srs);
}

/* Of a CRS that has a code. */
static void complete_known(OGRSpatialReference *srs) {
    OGRSpatialReference known, as_wkt_2015, as_wkt_1;
    if (!import_by_code(*srs, &known))
        return;
    /* In WKT 1 and WKT 2:2015, which many programs set, a datum stands for the database's ensemble
       of datums. All else of the database's definition is in the latter. */
    static const char *const kWkt2015[] = {"FORMAT=WKT2_2015", nullptr};
    if (!is_definition_of(known, *srs) && !(import_crs(known.exportToWkt(kWkt2015), &as_wkt_2015) &&
                                            is_definition_of(as_wkt_2015, *srs))) {
        if (!import_crs(known.exportToWkt(), &as_wkt_1) || !is_definition_of(as_wkt_1, *srs))
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
        !import_crs(known.exportToWkt(), &as_wkt_1))
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

std::optional<OGRSpatialReference> find_crs(const zb_node *array, const Axes &axes,
                                            const Pyramid &pyramid, NearbyNodes &around) {
    const bool is_map = zb_node_array(array)->ndim >= 2;
    for (const CrsSource &source : crs_sources()) {
        OGRSpatialReference srs;
        std::string why;
        if (source.is_of_others && !is_map)
            continue;
        const bool is_found = source.find({array, axes, pyramid, around}, &srs, &why);
        CPLDebug("ZARR3", "/%s: CRS %s '%s'%s%s", zb_node_path(array), is_found ? "by" : "not by",
                 source.name, is_found || why.empty() ? "" : ": ", is_found ? "" : why.c_str());
        if (!is_found)
            continue;
        complete_codes(&srs);
        add_epoch(array, &srs);
        srs.SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
        return srs;
    }
    return std::nullopt;
}

std::string crs_text(const OGRSpatialReference &srs) {
    static const char *const kFormat[] = {"FORMAT=WKT2_2019", nullptr};
    const std::string wkt = srs.exportToWkt(kFormat);
    return wkt.empty() ? srs.exportToWkt() : wkt; /* WKT 1 for a CRS that WKT 2 cannot express */
}

} // namespace zarr3
