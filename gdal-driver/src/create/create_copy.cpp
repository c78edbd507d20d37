/* SPDX-License-Identifier: MIT */
/* CreateCopy(): first a raster's properties, then its pixels, then the change of places. */
#include "create/create_copy.h"

#include <algorithm>

#include "array/attributes.h"
#include "array/hdf5_side.h"
#include "base/errors.h"
#include "base/handles.h"
#include "base/name_values.h"
#include "create/colours.h"
#include "create/copy_pixels.h"
#include "create/tile_copy.h"
#include "create/create.h"
#include "dataset/band.h"
#include "dataset/levels.h"
#include "dataset/open.h"
#include "dataset/raster_mask.h"
#include "side/side_properties.h"
#include "store/location.h"
#include "store/network.h"
#include "store/open_store.h"

namespace zarr3 {

using Progress = std::unique_ptr<void, Release<GDALDestroyScaledProgress>>;

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

/* Of each band its own, where bands differ. */
static bool copy_band_nodata(GDALDataset *source, Zarr3Dataset *copy, bool strict) {
    const zb_dtype dtype = pixel_dtype(copy->node());
    for (int i = 1; i <= source->GetRasterCount(); i++) {
        bool has;
        const NoData nodata = nodata_of(source->GetRasterBand(i), dtype, &has);
        if (has && nodata.kind == NoData::None &&
            !lose(strict, "nodata value, which its type cannot hold,"))
            return false;
        static_cast<Zarr3RasterBand *>(copy->GetRasterBand(i))
            ->set_own_nodata(has ? raster_nodata(nodata, copy->node()) : NoData());
    }
    return true;
}

/* One value for all bands, where they have one. */
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
    if (!same)
        return copy_band_nodata(source, copy, strict);
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
        if (!is_statistic(name.c_str()))
            kept.AddNameValue(name.c_str(), value.c_str());
    }
    if (!kept.empty())
        to->SetMetadata(kept.List());
}

/* Pixels that are invalid neither for their value nor for their alpha. */
static bool has_mask(GDALDataset *source) {
    const int flags = source->GetRasterBand(1)->GetMaskFlags();
    return (flags & (GMF_ALL_VALID | GMF_NODATA | GMF_ALPHA)) == 0;
}

static bool keeps_mask(GDALDataset *source) {
    return source->GetRasterCount() == 1 ||
           (source->GetRasterBand(1)->GetMaskFlags() & GMF_PER_DATASET) != 0;
}

/* What GDAL's netCDF driver and this one say of the dimensions of all bands is not true of some of
   them (gdal_translate -b). */
static void drop_other_dimensions(CPLStringList *items, int bands) {
    const CPLStringList names(
        CSLTokenizeString2(items->FetchNameValueDef("NETCDF_DIM_EXTRA", ""), "{,}", 0));
    double steps = 1;
    for (const char *name : names) {
        const CPLString item = CPLString("NETCDF_DIM_") + name + "_DEF";
        steps *= CPLAtof(items->FetchNameValueDef(item.c_str(), "{1") + 1);
    }
    if (names.empty() || steps == bands)
        return;
    items->SetNameValue("NETCDF_DIM_EXTRA", nullptr);
    for (const char *name : names) {
        for (const char *end : {"_DEF", "_VALUES"})
            items->SetNameValue((CPLString("NETCDF_DIM_") + name + end).c_str(), nullptr);
    }
}

static bool copy_properties(GDALDataset *source, Zarr3Dataset *copy, bool strict,
                            const CreationOptions &options) {
    GeoTransform transform;
    if (GDALGetGeoTransform(GDALDataset::ToHandle(source), transform.data()) == CE_None &&
        copy->place_at(transform) != CE_None)
        return false;
    copy->SetSpatialRef(source->GetSpatialRef());
    CPLStringList items(CSLDuplicate(source->GetMetadata()), TRUE);
    if (const auto *ours = dynamic_cast<const Zarr3Dataset *>(source))
        copy->take_types_of(ours->array().shared_node());
    drop_other_dimensions(&items, source->GetRasterCount());
    if (!items.empty())
        copy->SetMetadata(items.List());
    for (int i = 1; i <= source->GetRasterCount(); i++)
        copy_band(source->GetRasterBand(i), copy->GetRasterBand(i));
    change_copied_colours(copy, options);
    return (!has_mask(source) || keeps_mask(source) || lose(strict, "masks of single bands")) &&
           copy_nodata(source, copy, strict);
}

static bool copy_raster(GDALRasterBand *from, GDALRasterBand *to,
                        GDALProgressFunc progress = GDALDummyProgress,
                        void *progress_data = nullptr) {
    const char *const options[] = {"COMPRESSED=YES", nullptr}; /* whole blocks, once each */
    return GDALRasterBandCopyWholeRaster(GDALRasterBand::ToHandle(from),
                                         GDALRasterBand::ToHandle(to), options, progress,
                                         progress_data) == CE_None;
}

/* After the pixels: the array has its final form then. */
static bool copy_mask(GDALDataset *source, Zarr3Dataset *copy, GDALProgressFunc progress,
                      void *progress_data) {
    CPLDebug("ZARR3", "the mask is copied by its pixels");
    return copy->CreateMaskBand(GMF_PER_DATASET) == CE_None &&
           copy_validity(source->GetRasterBand(1)->GetMaskBand(),
                         copy->GetRasterBand(1)->GetMaskBand(), progress, progress_data);
}

/* A mask is about a tenth of the work. */
static bool copy_pixels_and_mask(GDALDataset *source, const TiffFile &tiff, Zarr3Dataset *copy,
                                 GDALProgressFunc progress, void *progress_data) {
    if (!has_mask(source) || !keeps_mask(source))
        return copy_pixels(source, tiff.raster(), tiff.file(), copy, progress, progress_data);
    const Progress first(GDALCreateScaledProgress(0, 0.9, progress, progress_data));
    const Progress second(GDALCreateScaledProgress(0.9, 1, progress, progress_data));
    return copy_pixels(source, tiff.raster(), tiff.file(), copy, GDALScaledProgress, first.get()) &&
           copy_mask(source, copy, GDALScaledProgress, second.get());
}

/* Lists that a program may change belong to GDAL: copies are set. */
static void copy_domains(GDALMajorObject *from, GDALMajorObject *to) {
    const CPLStringList domains(from->GetMetadataDomainList(), TRUE);
    for (int i = 0; i < domains.size(); i++) {
        CPLStringList items;
        if (is_own_domain(domains[i]))
            items = CPLStringList(CSLDuplicate(from->GetMetadata(domains[i])), TRUE);
        if (!items.empty())
            to->SetMetadata(items.List(), domains[i]);
    }
}

static void copy_statistics(GDALRasterBand *from, GDALRasterBand *to) {
    const CPLStringList items(CSLDuplicate(from->GetMetadata()), TRUE);
    for (const auto &[name, value] : name_values(items.List())) {
        if (is_statistic(name.c_str()))
            to->SetMetadataItem(name.c_str(), value.c_str());
    }
    double least = 0, most = 0;
    int count = 0;
    GUIntBig *counts = nullptr;
    const CPLErr found = from->GetDefaultHistogram(&least, &most, &count, &counts, FALSE,
                                                   GDALDummyProgress, nullptr);
    const VsiMemory<GUIntBig> owner(counts);
    if (found == CE_None && count > 0)
        to->SetDefaultHistogram(least, most, count, counts);
}

/* Last of all, because writing pixels forgets statistics. */
static void copy_side_properties(GDALDataset *source, Zarr3Dataset *copy) {
    copy->CloneInfo(source, GCIF_GCPS | GCIF_CATEGORYNAMES | GCIF_COLORTABLE | GCIF_RAT |
                                GCIF_ONLY_IF_MISSING | GCIF_PROCESS_BANDS);
    copy_domains(source, copy);
    for (int i = 1; i <= source->GetRasterCount(); i++) {
        copy_domains(source->GetRasterBand(i), copy->GetRasterBand(i));
        copy_statistics(source->GetRasterBand(i), copy->GetRasterBand(i));
    }
}

/* The copy has its attributes then; levels take over what is stored. */
static bool copy_hdf5_side(GDALDataset *source, Zarr3Dataset *copy) {
    const auto *ours = dynamic_cast<const Zarr3Dataset *>(source);
    if (ours == nullptr || attribute(ours->node(), kHdf5Side) == nullptr)
        return true;
    if (copy->FlushCache(false) != CE_None)
        return false;
    AttributeChanges changes;
    copy_hdf5_side(ours->node(), copy->node(), &changes);
    zb_error err;
    if (copy->array().change_attributes(changes, &err) == ZB_OK)
        return true;
    report(err);
    return false;
}

/* A level that the source's bands have in common. */
struct SourceLevel : LevelSize {
    std::vector<GDALRasterBand *> bands;

    double pixels() const {
        return static_cast<double>(width) * height;
    }
};

/* A COG's sizes are halves rounded down, those of other files are rounded up. */
static bool is_part(int size, int whole, int factor) {
    return size == std::max(whole / factor, 1) || size == (whole - 1) / factor + 1;
}

/* False, with *reason set, where the source has overviews that no level of a store is like. */
static bool find_levels(GDALDataset *source, std::vector<SourceLevel> *levels,
                        std::string *reason) {
    const int width = source->GetRasterXSize(), height = source->GetRasterYSize();
    const int count = source->GetRasterBand(1)->GetOverviewCount();
    for (int i = 0; i < count; i++) {
        SourceLevel level = {};
        for (int band = 1; band <= source->GetRasterCount(); band++)
            level.bands.push_back(source->GetRasterBand(band)->GetOverview(i));
        GDALRasterBand *first = level.bands[0];
        const bool alike =
            std::all_of(level.bands.begin(), level.bands.end(), [first](GDALRasterBand *other) {
                return other != nullptr && first != nullptr &&
                       other->GetXSize() == first->GetXSize() &&
                       other->GetYSize() == first->GetYSize();
            });
        if (alike) {
            level.width = first->GetXSize();
            level.height = first->GetYSize();
            level.factor = GDALComputeOvFactor(level.width, width, level.height, height);
        }
        if (!alike || level.factor < 2 || !is_part(level.width, width, level.factor) ||
            !is_part(level.height, height, level.factor)) {
            *reason = "overview " + std::to_string(i) +
                      " of the source is not of a whole factor of its size in all bands";
            return false;
        }
        levels->push_back(std::move(level));
    }
    return true;
}

static bool copy_level(const SourceLevel &from, GDALDataset *tiles, VSILFILE *file,
                       Zarr3Dataset *to, GDALProgressFunc progress, void *progress_data) {
    if (tiles != nullptr && !copy_pixels(tiles, tiles, file, to, progress, progress_data))
        return false;
    if (tiles == nullptr)
        CPLDebug("ZARR3", "pixels are decoded and encoded: no GeoTIFF has the %d x %d overview",
                 from.width, from.height);
    for (size_t i = 0; tiles == nullptr && i < from.bands.size(); i++) {
        const double count = static_cast<double>(from.bands.size());
        const Progress part(GDALCreateScaledProgress(static_cast<double>(i) / count,
                                                     static_cast<double>(i + 1) / count, progress,
                                                     progress_data));
        if (!copy_raster(from.bands[i], to->GetRasterBand(static_cast<int>(i) + 1),
                         GDALScaledProgress, part.get()))
            return false;
    }
    const bool masked =
        to->mask() != nullptr && (from.bands[0]->GetMaskFlags() & GMF_PER_DATASET) != 0;
    return !masked || copy_validity(from.bands[0]->GetMaskBand(), to->mask()->GetRasterBand(1));
}

/* Levels without content are made first, and filled by the source's own. */
static bool copy_overviews(GDALDataset *source, const TiffFile &tiff, Zarr3Dataset *copy,
                           GDALProgressFunc progress, void *progress_data) {
    std::vector<SourceLevel> levels;
    std::string reason;
    if (!find_levels(source, &levels, &reason)) {
        CPLError(CE_Failure, CPLE_NotSupported, "COPY_SRC_OVERVIEWS=YES: %s", reason.c_str());
        return false;
    }
    const std::vector<LevelSize> sizes(levels.begin(), levels.end());
    if (sizes.empty())
        return true;
    if (copy->make_levels("NONE", sizes, GDALDummyProgress, nullptr) != CE_None)
        return false;
    double pixels = 0, done = 0;
    for (const SourceLevel &level : levels)
        pixels += level.pixels();
    for (size_t i = 0; i < levels.size(); i++) {
        const SourceLevel &level = levels[i];
        const Progress part(GDALCreateScaledProgress(
            done / pixels, (done + level.pixels()) / pixels, progress, progress_data));
        done += level.pixels();
        for (Zarr3Dataset *made : copy->overviews()) {
            if (made->GetRasterXSize() == level.width && made->GetRasterYSize() == level.height &&
                !copy_level(level, tiff.level(static_cast<int>(i)), tiff.file(), made,
                            GDALScaledProgress, part.get()))
                return false;
        }
    }
    return true;
}

static bool give_overviews(GDALDataset *source, const TiffFile &tiff, Zarr3Dataset *copy,
                           const CreationOptions &options, GDALProgressFunc progress,
                           void *progress_data) {
    if (options.copy_overviews)
        return copy_overviews(source, tiff, copy, progress, progress_data);
    const std::vector<int> factors =
        usual_factors(source->GetRasterXSize(), source->GetRasterYSize());
    return !options.make_overviews || factors.empty() ||
           copy->BuildOverviews(options.resampling.c_str(), static_cast<int>(factors.size()),
                                factors.data(), 0, nullptr, progress, progress_data,
                                nullptr) == CE_None;
}

/* The copy, complete and closed; not in its place yet. */
static bool make_copy(GDALDataset *source, const TiffFile &tiff, bool strict,
                      const CreationOptions &options, GDALProgressFunc progress,
                      void *progress_data, Destination *destination) {
    GDALDataType type = source->GetRasterBand(1)->GetRasterDataType();
    for (int i = 2; i <= source->GetRasterCount(); i++)
        type = GDALDataTypeUnion(type, source->GetRasterBand(i)->GetRasterDataType());
    std::unique_ptr<Zarr3Dataset> copy = create_raster(
        destination, true,
        {source->GetRasterXSize(), source->GetRasterYSize(), source->GetRasterCount(), type},
        options);
    if (copy == nullptr)
        return false;
    const double pixels = options.make_overviews || options.copy_overviews ? 0.75 : 1;
    const Progress first(GDALCreateScaledProgress(0, pixels, progress, progress_data));
    const Progress second(GDALCreateScaledProgress(pixels, 1, progress, progress_data));
    if (copy_properties(source, copy.get(), strict, options) &&
        copy_pixels_and_mask(source, tiff, copy.get(), GDALScaledProgress, first.get())) {
        copy_side_properties(source, copy.get());
        if (copy_hdf5_side(source, copy.get()) &&
            give_overviews(source, tiff, copy.get(), options, GDALScaledProgress, second.get()))
            return copy->Close(ZARR3_NO_PROGRESS) == CE_None;
    }
    copy->forget();
    return false;
}

/* A VRT that reads what is going to be replaced: its source would be gone when it is opened. */
static bool is_made_of(GDALDataset *source, const Destination &destination) {
    const CPLStringList files(source->GetFileList(), TRUE);
    for (const char *file : files) {
        if (destination.has(file))
            return true;
    }
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
    if (destination.is_emptied_by_copies() && is_made_of(source, destination)) {
        refuse_creation(name, "the source is made of what is there; copy it to another name");
        return nullptr;
    }
    const TiffFile tiff(source);
    if (!tiff.reason().empty())
        CPLDebug("ZARR3", "pixels are decoded and encoded: %s", tiff.reason().c_str());
    follow_tiles(tiff, &options);
    adopt_thread_count();
    if (!make_copy(source, tiff, strict != FALSE, options, progress, progress_data, &destination))
        return nullptr;
    zb_error err;
    /* The name alone would open the group with all of its arrays. */
    std::string result_name = name;
    if (options.append || (STARTS_WITH(name, "/vsi") && is_url(destination.hierarchy().root)))
        result_name = name_in_store(destination, options);
    if (destination.replace(options.write.sync != ZB_SYNC_NONE, &err) != ZB_OK) {
        report(err);
        return nullptr;
    }
    GDALOpenInfo info(result_name.c_str(), GDAL_OF_RASTER | destination.update_flag());
    return open(&info);
}

} // namespace zarr3
