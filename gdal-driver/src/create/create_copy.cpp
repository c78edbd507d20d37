/* SPDX-License-Identifier: MIT */
/* CreateCopy(): first a raster's properties, then its pixels, then the change of places. */
#include "create/create_copy.h"

#include <algorithm>

#include "array/attributes.h"
#include "base/errors.h"
#include "base/name_values.h"
#include "create/copy_pixels.h"
#include "create/create.h"
#include "dataset/band.h"
#include "dataset/open.h"
#include "store/location.h"
#include "store/open_store.h"

namespace zarr3 {

/* Reports a property of the source that has no place here. False when the caller insisted on it. */
static bool lose(bool strict, const char *what) {
    CPLError(strict ? CE_Failure : CE_Warning, CPLE_NotSupported,
             "the source's %s cannot be kept in a Zarr store", what);
    return !strict;
}

static NoData nodata_of(GDALRasterBand *source, zb_dtype dtype, bool *has) {
    int success = FALSE;
    NoData nodata;
    if (source->GetRasterDataType() == GDT_Int64) {
        const int64_t value = source->GetNoDataValueAsInt64(&success);
        nodata = nodata_from_int64(value, dtype);
    } else if (source->GetRasterDataType() == GDT_UInt64) {
        const uint64_t value = source->GetNoDataValueAsUInt64(&success);
        nodata = nodata_from_uint64(value, dtype);
    } else {
        const double value = source->GetNoDataValue(&success);
        nodata = nodata_from_double(value, dtype);
    }
    *has = success != FALSE;
    return nodata;
}

/* One value for all bands. */
static bool copy_nodata(GDALDataset *source, Zarr3Dataset *copy, bool strict) {
    const zb_dtype dtype = pixel_dtype(copy->node());
    NoData first;
    bool first_has = false, same = true;
    for (int i = 1; i <= source->GetRasterCount(); i++) {
        bool has;
        const NoData nodata = nodata_of(source->GetRasterBand(i), dtype, &has);
        if (i == 1) {
            first = nodata;
            first_has = has;
        }
        const bool both_nan =
            nodata.as_double != nodata.as_double && first.as_double != first.as_double;
        same = same && has == first_has && nodata.kind == first.kind &&
               (both_nan ||
                (nodata.as_double == first.as_double && nodata.as_int64 == first.as_int64 &&
                 nodata.as_uint64 == first.as_uint64));
    }
    if (!same && !lose(strict, "nodata value that differs from band to band"))
        return false;
    if (first_has && first.kind == NoData::None)
        return lose(strict, "nodata value, which its type cannot hold,");
    return !first_has || copy->set_nodata(first, "", 0) == CE_None;
}

static void copy_band(GDALRasterBand *from, GDALRasterBand *to) {
    int success = FALSE;
    const double scale = from->GetScale(&success);
    if (success && scale != 1)
        to->SetScale(scale);
    const double offset = from->GetOffset(&success);
    if (success && offset != 0)
        to->SetOffset(offset);
    const char *unit = from->GetUnitType();
    if (unit != nullptr && *unit != '\0')
        to->SetUnitType(unit);
    if (*from->GetDescription() != '\0')
        to->SetDescription(from->GetDescription());
    if (from->GetColorInterpretation() != to->GetColorInterpretation())
        to->SetColorInterpretation(from->GetColorInterpretation());
    const CPLStringList items(CSLDuplicate(from->GetMetadata()), TRUE);
    CPLStringList kept;
    for (const auto &[name, value] : name_values(items.List())) {
        if (!STARTS_WITH_CI(name.c_str(), "STATISTICS_"))
            kept.AddNameValue(name.c_str(), value.c_str());
    }
    if (!kept.empty())
        to->SetMetadata(kept.List());
}

static bool copy_properties(GDALDataset *source, Zarr3Dataset *copy, bool strict) {
    GeoTransform transform;
    if (GDALGetGeoTransform(GDALDataset::ToHandle(source), transform.data()) == CE_None &&
        copy->place_at(transform) != CE_None)
        return false;
    copy->SetSpatialRef(source->GetSpatialRef());
    CPLStringList items(CSLDuplicate(source->GetMetadata()), TRUE);
    if (!items.empty())
        copy->SetMetadata(items.List());
    for (int i = 1; i <= source->GetRasterCount(); i++)
        copy_band(source->GetRasterBand(i), copy->GetRasterBand(i));
    const int mask = source->GetRasterBand(1)->GetMaskFlags();
    const bool has_mask = (mask & (GMF_ALL_VALID | GMF_NODATA | GMF_ALPHA)) == 0;
    return (!has_mask || lose(strict, "mask")) && copy_nodata(source, copy, strict);
}

/* Properties that GDAL knows and Zarr has no form for go into the sidecar file: ground control
   points, colour tables, names of categories, attribute tables, statistics, other domains. */
static void copy_to_sidecar(GDALDataset *source, GDALDataset *copy) {
    static_cast<GDALPamDataset *>(copy)->CloneInfo(
        source, GCIF_GCPS | GCIF_CATEGORYNAMES | GCIF_COLORTABLE | GCIF_RAT | GCIF_ONLY_IF_MISSING |
                    GCIF_PROCESS_BANDS);
    for (const char *domain : {"RPC", "GEOLOCATION", "xml:XMP"}) {
        CPLStringList items(CSLDuplicate(source->GetMetadata(domain)), TRUE);
        if (!items.empty())
            copy->SetMetadata(items.List(), domain);
    }
    for (int i = 1; i <= source->GetRasterCount(); i++) {
        const CPLStringList items(CSLDuplicate(source->GetRasterBand(i)->GetMetadata()), TRUE);
        for (const auto &[name, value] : name_values(items.List())) {
            if (STARTS_WITH_CI(name.c_str(), "STATISTICS_"))
                copy->GetRasterBand(i)->SetMetadataItem(name.c_str(), value.c_str());
        }
    }
}

/* The copy, complete and closed; not in its place yet. */
static bool make_copy(GDALDataset *source, bool strict, const CreationOptions &options,
                      GDALProgressFunc progress, void *progress_data, Destination *destination) {
    GDALDataType type = source->GetRasterBand(1)->GetRasterDataType();
    for (int i = 2; i <= source->GetRasterCount(); i++)
        type = GDALDataTypeUnion(type, source->GetRasterBand(i)->GetRasterDataType());
    std::unique_ptr<Zarr3Dataset> copy = create_raster(
        destination, true,
        {source->GetRasterXSize(), source->GetRasterYSize(), source->GetRasterCount(), type},
        options);
    if (copy == nullptr)
        return false;
    if (copy_properties(source, copy.get(), strict) &&
        copy_pixels(source, copy.get(), progress, progress_data))
        return copy->Close(ZARR3_NO_PROGRESS) == CE_None;
    copy->forget();
    return false;
}

GDALDataset *create_copy(const char *name, GDALDataset *source, int strict, OptionList list,
                         GDALProgressFunc progress, void *progress_data) {
    Destination destination;
    CreationOptions options;
    std::string reason;
    if (source->GetRasterCount() == 0)
        reason = "the source has no bands";
    if (!reason.empty() || !parse_creation_options(list, &options, &reason) ||
        !find_destination(name, options, &destination, &reason)) {
        refuse_creation(name, reason);
        return nullptr;
    }
    adopt_thread_count();
    if (!make_copy(source, strict != FALSE, options, progress, progress_data, &destination))
        return nullptr;
    zb_error err;
    /* The name alone would open the group with all of its arrays. */
    std::string result_name = name;
    if (destination.appends())
        result_name = subdataset_name(destination.hierarchy().root,
                                      join_path(destination.node(), options.array_name), {});
    if (destination.replace(options.write.sync != ZB_SYNC_NONE, &err) != ZB_OK) {
        report(err);
        return nullptr;
    }
    GDALOpenInfo info(result_name.c_str(), GDAL_OF_RASTER | GDAL_OF_UPDATE);
    GDALDataset *result = open(&info);
    if (result != nullptr)
        copy_to_sidecar(source, result);
    return result;
}

} // namespace zarr3
