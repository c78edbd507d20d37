/* SPDX-License-Identifier: MIT */
/*
 * Setters, and the way of what they have set into the store.
 *
 * Setters only change the dataset in memory. The store follows when the dataset is flushed or
 * closed: programs set a dozen properties one after the other, and each change of an attribute
 * rewrites a document. What goes wrong then is reported by FlushCache() or Close().
 *
 * The fill value is the exception (array/fresh_array.cpp): a new array is settled before pixels are
 * read or written.
 */
#include <set>

#include "array/attributes.h"
#include "base/entry.h"
#include "base/errors.h"
#include "base/name_values.h"
#include "dataset/band.h"
#include "dataset/dataset.h"
#include "dataset/levels.h"
#include "dataset/pam_items.h"
#include "side/side_properties.h"
#include "geo/group_place.h"

using namespace zarr3;

/* ---- Setters ---- */

CPLErr Zarr3Dataset::SetGeoTransform(GeoTransformIn transform) try {
    if (!updates())
        return GDALPamDataset::SetGeoTransform(transform);
    GeoTransform given;
    for (int i = 0; i < 6; i++)
        given[static_cast<size_t>(i)] = transform[i];
    return place_at(given);
} catch (...) {
    return failed_entry<CPLErr>();
}

/* GDAL's word for "no geotransform" is the identity. */
CPLErr Zarr3Dataset::place_at(const GeoTransform &transform) {
    const GeoTransform identity = {0, 1, 0, 0, 0, 1};
    if (transform != identity && !is_usable(transform)) {
        CPLError(CE_Failure, CPLE_IllegalArg, "a geotransform that cannot be inverted");
        return CE_Failure;
    }
    Georeference now = place();
    now.transform.reset();
    if (transform != identity)
        now.transform = transform;
    array_.set_place(now);
    edits.place = edits.transform = true;
    return CE_None;
}

CPLErr Zarr3Dataset::SetSpatialRef(const OGRSpatialReference *srs) try {
    if (!updates())
        return GDALPamDataset::SetSpatialRef(srs);
    Georeference now = place();
    now.srs.reset();
    if (srs != nullptr && !srs->IsEmpty())
        now.srs = *srs;
    array_.set_place(now);
    edits.place = true;
    return CE_None;
} catch (...) {
    return failed_entry<CPLErr>();
}

CPLErr Zarr3Dataset::SetMetadata(MetadataList items, const char *domain) try {
    if (!updates() || !is_default_domain(domain))
        return GDALPamDataset::SetMetadata(items, domain);
    CPLStringList own;
    for (const auto &[name, value] : name_values(items)) {
        if (!repeats_dimension(name.c_str(), value.c_str()))
            own.AddString((name + "=" + value).c_str());
    }
    metadata().set("", own.List());
    edits.metadata = true;
    return GDALPamDataset::SetMetadata(nullptr, domain);
} catch (...) {
    return failed_entry<CPLErr>();
}

CPLErr Zarr3Dataset::SetMetadataItem(const char *name, const char *value, const char *domain) try {
    if (is_own_domain(domain) || (!updates() && is_default_domain(domain)))
        return set_pam_item<GDALPamDataset>(this, name, value, domain);
    if (!is_default_domain(domain))
        return GDALPamDataset::SetMetadataItem(name, value, domain);
    /* What the store has of this name would win over it. */
    const bool is_derived = name != nullptr && repeats_dimension(name, value);
    metadata().set("", name, is_derived ? nullptr : value);
    edits.metadata = true;
    return drop_pam_item<GDALPamDataset>(this, name, domain);
} catch (...) {
    return failed_entry<CPLErr>();
}

bool Zarr3Dataset::may_edit_bands() const {
    if (pinned_.empty() || count_bands(zb_node_array(node()), layout_.axes) == 1)
        return true;
    CPLError(CE_Failure, CPLE_NotSupported,
             "array /%s: this is a slice; properties of bands can be changed where the whole "
             "array is open",
             zb_node_path(node()));
    return false;
}

/* One for all bands, as the array has it. */
CPLErr Zarr3Dataset::set_nodata(const NoData &nodata, const char *text, int band) {
    if (nodata.kind == NoData::None) {
        char name[ZB_DTYPE_NAME_SIZE];
        CPLError(CE_Failure, CPLE_NotSupported, "array /%s: %s is no value of the type %s",
                 zb_node_path(node()), text, zb_dtype_name(pixel_dtype(node()), name));
        return CE_Failure;
    }
    if (edits.nodata && nodata_band_ != band && array_.nodata().kind != NoData::None &&
        nodata_json(array_.nodata(), node()) != nodata_json(nodata, node()))
        CPLError(CE_Warning, CPLE_AppDefined,
                 "array /%s has one nodata value for all bands: %s replaces what was set for band "
                 "%d",
                 zb_node_path(node()), text, nodata_band_);
    if (!empty_fresh_cache())
        return CE_Failure;
    nodata_band_ = band;
    show_nodata(nodata);
    return CE_None;
}

/* Blocks of a new array that have been read hold its old fill value. Writing those that a program
   has changed makes the array an old one. */
bool Zarr3Dataset::empty_fresh_cache() {
    for (int i = 1; array_.is_fresh() && i <= nBands; i++) {
        if (GetRasterBand(i)->FlushCache(false) != CE_None)
            return false;
    }
    return true;
}

CPLErr Zarr3Dataset::delete_nodata() {
    if (!empty_fresh_cache())
        return CE_Failure;
    show_nodata(NoData());
    return CE_None;
}

/* GDAL resamples levels by the value that they have. */
void Zarr3Dataset::show_nodata(const NoData &nodata) {
    for (int i = 1; edits.band_nodata && i <= nBands; i++)
        static_cast<Zarr3RasterBand *>(GetRasterBand(i))->forget_own_nodata();
    edits.band_nodata = false;
    array_.set_nodata(nodata);
    edits.nodata = true;
    levels_.show_nodata();
}

/* ---- The first write ---- */

bool Zarr3Dataset::prepare_first_write() {
    (masked_ != nullptr ? masked_ : this)->forget_statistics();
    wrote_ = true;
    return keep_array();
}

bool Zarr3Dataset::keep_array() {
    zb_error err;
    if (array_.keep(&err) == ZB_OK)
        return true;
    report(err);
    return false;
}

/* ---- Mask and overviews ---- */

CPLErr Zarr3Dataset::CreateMaskBand(int flags) try {
    if (!updates())
        return GDALPamDataset::CreateMaskBand(flags);
    const char *reason = nullptr;
    if (flags != GMF_PER_DATASET)
        reason = "a mask is one for all bands (GMF_PER_DATASET)";
    else if (is_mask() || mask() != nullptr)
        reason = "there is one already";
    else if (array_.path().empty() || layout_.axes.y < 0 || !pinned_.empty())
        reason = "a mask stands beside a whole array of rows and columns in a group";
    if (reason != nullptr) {
        CPLError(CE_Failure, CPLE_NotSupported, "array /%s: no mask can be made: %s",
                 array_.path().c_str(), reason);
        return CE_Failure;
    }
    zb_error err;
    /* First, because the array's dimensions have their last names then. */
    if (!prepare_first_write())
        return CE_Failure;
    if (mask_.create(&err) == ZB_OK && mask() != nullptr)
        return CE_None;
    report(err);
    return CE_Failure;
} catch (...) {
    return failed_entry<CPLErr>();
}

/* Those of older times, in a file beside the store. They would be there twice, or come back. */
CPLErr Zarr3Dataset::remove_outer_overviews() {
    if (!oOvManager.IsInitialized() || oOvManager.GetOverviewCount(1) == 0)
        return CE_None;
    return GDALPamDataset::IBuildOverviews("NONE", 0, nullptr, 0, nullptr, GDALDummyProgress,
                                           nullptr, nullptr);
}

/* "": overviews can be made in the store. */
static std::string why_not(const Layout &layout, bool is_slice, bool all_bands) {
    if (layout.axes.y < 0)
        return "it has no rows and columns";
    if (is_slice)
        return "this is a slice; open the whole array";
    return all_bands ? "" : "overviews are made of all bands together";
}

CPLErr Zarr3Dataset::make_levels(const char *resampling, const std::vector<LevelSize> &sizes,
                                 GDALProgressFunc progress, void *progress_data) {
    if (!keep_array() || FlushCache(false) != CE_None)
        return CE_Failure;
    const CPLErr result = sizes.empty() ? levels_.remove()
                                        : levels_.build(resampling, sizes, progress, progress_data);
    return result == CE_None ? remove_outer_overviews() : result;
}

CPLErr Zarr3Dataset::IBuildOverviews(const char *resampling, int count, const int *factors,
                                     int band_count, const int *bands, GDALProgressFunc progress,
                                     void *progress_data, CSLConstList options) try {
    /* An array that is a store by itself has no group for levels. */
    const NodePtr group =
        array_.path().empty() || !updates()
            ? nullptr
            : open_node(hierarchy_.store.get(), parent_path(array_.path()), nullptr);
    if (group == nullptr)
        return GDALPamDataset::IBuildOverviews(resampling, count, factors, band_count, bands,
                                               progress, progress_data, options);
    const std::string reason =
        why_not(layout_, !pinned_.empty() && count_bands(array_.info(), layout_.axes) > 1,
                count == 0 || band_count == nBands);
    if (!reason.empty()) {
        CPLError(CE_Failure, CPLE_NotSupported, "array /%s: no overviews are made: %s",
                 array_.path().c_str(), reason.c_str());
        return CE_Failure;
    }
    std::vector<LevelSize> sizes;
    for (const int factor : std::set<int>(factors, factors + count))
        sizes.push_back(level_size(nRasterXSize, nRasterYSize, factor));
    return make_levels(resampling, sizes, progress, progress_data);
} catch (...) {
    return failed_entry<CPLErr>();
}

enum zb_code Zarr3Dataset::follow_in_levels(zb_error *err) {
    edits.place = true;
    const enum zb_code code = levels_.update(err);
    edits = Edits();
    return code;
}

enum zb_code Zarr3Dataset::follow(const Zarr3Dataset &raster, zb_error *err) {
    AttributeChanges changes;
    copy_attributes(raster.node(), node(), &changes);
    array_.set_nodata(raster.array_.nodata());
    enum zb_code code = ZB_OK;
    if (raster.edits.place) {
        const Georeference &from = raster.place();
        array_.set_place({from.srs, level_transform(from.transform, raster.layout_, layout_)});
        code = write_changed_georeference(array_.shared_node(), layout_, place(),
                                          raster.edits.transform, &changes, err);
    }
    return code == ZB_OK ? array_.change_attributes(changes, err) : code;
}

/* Opened anew, with the groups above it. */
enum zb_code Zarr3Dataset::reopen(zb_error *err) {
    return array_.move_to(array_.path(), err);
}

/* ---- Writing ---- */

enum zb_code Zarr3Dataset::commit(zb_error *err) {
    enum zb_code code = array_.settle_fresh(err);
    AttributeChanges changes;
    if (code == ZB_OK && edits.place)
        code = write_changed_georeference(array_.shared_node(), layout_, place(), edits.transform,
                                          &changes, err);
    if (code != ZB_OK)
        return code;
    const Items now = items_of(node(), &metadata());
    if (edits.metadata)
        collect_items(node(), item_source_.get(), known_items_, now, &changes);
    collect_bands(this, &changes);
    if (edits.side_properties || array_.drops_statistics())
        collect_side_properties(&changes);
    if (edits.nodata)
        change_nodata(array_.nodata(), node(), &changes);
    code = array_.change_attributes(changes, err);
    if (code == ZB_OK && edits.place && !array_.path().empty())
        code = repeat_place(hierarchy_.store.get(), parent_path(array_.path()), group_is_new_, err);
    if (code == ZB_OK)
        code = levels_.update(err);
    if (code != ZB_OK)
        return code;
    if (edits.side_properties) {
        update_sidecar();
        note_side_properties();
    }
    statistics_gone_ = false;
    array_.statistics_are_stored();
    edits = Edits();
    known_items_ = now;
    metadata().set("json:zarr.json", nullptr);
    return ZB_OK;
}

/* Pixels alone have changed. */
enum zb_code Zarr3Dataset::drop_stored_statistics(zb_error *err) {
    AttributeChanges changes;
    collect_side_properties(&changes);
    const enum zb_code code = array_.change_attributes(changes, err);
    if (code == ZB_OK) {
        statistics_gone_ = false;
        array_.statistics_are_stored();
    }
    return code;
}

CPLErr Zarr3Dataset::FlushCache(bool at_closing) try {
    CPLErr result = GDALPamDataset::FlushCache(at_closing);
    array_.show();
    if (!updates())
        return result;
    follow_writes();
    if (mask_if_open() != nullptr && mask_if_open()->FlushCache(at_closing) != CE_None)
        result = CE_Failure;
    zb_error err;
    if (edits.any() ? commit(&err) != ZB_OK
                    : array_.drops_statistics() && drop_stored_statistics(&err) != ZB_OK) {
        report(err);
        result = CE_Failure;
    }
    if (array_.flush(&err) != ZB_OK) {
        report(err);
        result = CE_Failure;
    }
    return levels_.flush(at_closing) ? result : CE_Failure;
} catch (...) {
    return failed_entry<CPLErr>();
}

void Zarr3Dataset::forget() {
    if (mask_if_open() != nullptr)
        mask_if_open()->forget();
    levels_.forget();
    array_.abandon();
    array_.show();
    array_.statistics_are_stored(); /* nothing will be */
    completes_.reset();
    edits = Edits();
    nPamFlags &= ~GPF_DIRTY;
}

/* A failure at the end is reported once; what could not be written is lost. */
CPLErr Zarr3Dataset::Close(ZARR3_CLOSE_PARAMETERS) try {
    CPLErr result = CE_None;
    if (nOpenFlags != OPEN_FLAGS_CLOSED) {
        if (levels_.make_last() != CE_None)
            result = CE_Failure;
        if (FlushCache(true) != CE_None)
            result = CE_Failure;
        if (completes_ && complete(hierarchy_.store.get(), *completes_) != CE_None)
            result = CE_Failure;
        if (updates())
            forget();
        levels_.close();
        mask_.close();
        if (GDALPamDataset::Close(ZARR3_CLOSE_ARGUMENTS) != CE_None)
            result = CE_Failure;
    }
    return result;
} catch (...) {
    return failed_entry<CPLErr>();
}
