/* SPDX-License-Identifier: MIT */
/*
 * Overviews are datasets like the raster itself, made from their own arrays. They own nothing of
 * the finest level but a reference to the store. Those of a raster that is open for update are,
 * too: programs write to overviews as to any band.
 *
 * What a program sets on the raster holds for the levels that were made of it. Levels that other
 * programs made are left as they are, for they may have properties of their own.
 */
#include <algorithm>
#include <set>

#include "base/errors.h"
#include "dataset/dataset.h"
#include "dataset/levels.h"
#include "dataset/overview_builder.h"
#include "geo/georeference.h"

using namespace zarr3;

/* ---- Reading ---- */

/* The raster got other rows or columns after the level was made. */
bool Zarr3Dataset::is_stale_level(const Zarr3Dataset &level) const {
    const zb_array_info *info = array_.info(), *other = level.array_.info();
    return is_of_other_shape(pyramid_, nRasterXSize, nRasterYSize) ||
           (info->ndim == other->ndim && level.array_.path() != array_.path() &&
            level.nRasterXSize <= nRasterXSize && level.nRasterYSize <= nRasterYSize &&
            !may_be_level(info, other));
}

void Zarr3Dataset::open_levels() {
    ArrayOptions options;
    options.pinned = pinned_;
    options.update = updates();
    options.write = write_options_;
    const std::string x = std::to_string(layout_.axes.x), y = std::to_string(layout_.axes.y);
    if (layout_.axes.y >= 0) {
        options.dim_x = x.c_str();
        options.dim_y = y.c_str();
    }
    for (const std::string &path : pyramid_.levels) {
        zb_error err;
        const NodePtr node = open_node(hierarchy_.store.get(), path, &err);
        std::string reason = node == nullptr ? err.message : "it is a group";
        std::unique_ptr<Zarr3Dataset> level;
        if (node != nullptr && zb_node_array(node.get()) != nullptr)
            level = make(hierarchy_, node, options, &reason);
        if (level == nullptr) {
            CPLDebug("ZARR3", "level %s is left out: %s", path.c_str(), reason.c_str());
            continue;
        }
        if (is_stale_level(*level)) {
            CPLDebug("ZARR3", "level %s is left out: it is of another size of the raster",
                     path.c_str());
            stale_levels_.push_back(path);
            continue;
        }
        /* GDAL takes overviews for smaller versions of one picture with the same bands. Levels of
           another type would be converted without a word. */
        const bool coarser =
            level->nRasterXSize <= nRasterXSize && level->nRasterYSize <= nRasterYSize &&
            (level->nRasterXSize < nRasterXSize || level->nRasterYSize < nRasterYSize);
        const bool alike =
            level->nBands == nBands &&
            level->GetRasterBand(1)->GetRasterDataType() == GetRasterBand(1)->GetRasterDataType();
        level->nPamFlags |= GPF_NOSAVE;
        if (coarser && alike)
            levels_.push_back(std::move(level));
    }
    std::stable_sort(levels_.begin(), levels_.end(), [](const auto &a, const auto &b) {
        return a->GetRasterXSize() > b->GetRasterXSize();
    });
    for (const auto &level : levels_)
        overviews_.push_back(level.get());
}

const std::vector<Zarr3Dataset *> &Zarr3Dataset::overviews() {
    if (levels_opened_)
        return overviews_;
    levels_opened_ = true;
    if (masked_ == nullptr) {
        open_levels();
        return overviews_;
    }
    for (Zarr3Dataset *level : masked_->overviews())
        overviews_.push_back(level->mask());
    if (std::count(overviews_.begin(), overviews_.end(), nullptr) > 0)
        overviews_.clear();
    return overviews_;
}

/* ---- Changing ---- */

bool Zarr3Dataset::flush_levels(bool at_closing) {
    bool good = true;
    for (const auto &level : levels_)
        good = level->FlushCache(at_closing) == CE_None && good;
    return good;
}

/* To be called when the raster's own attributes have been written. */
enum zb_code Zarr3Dataset::update_levels(zb_error *err) {
    std::vector<LayoutEntry> entries;
    enum zb_code code = ZB_OK;
    if (masked_ != nullptr || pyramid_.self != 0 || !pinned_.empty())
        return ZB_OK;
    for (Zarr3Dataset *level : overviews()) {
        if (!is_made_level(pyramid_, array_.path(), level->array_.path()))
            continue;
        AttributeChanges changes;
        copy_attributes(node(), level->node(), &changes);
        level->nodata_ = nodata_;
        if (edits.place) {
            level->place_ = {place().srs,
                             level_transform(place().transform, layout_, level->layout_)};
            code = write_changed_georeference(level->array_.shared_node(), level->layout_,
                                              level->place(), edits.transform, &changes, err);
            entries.push_back(layout_entry(node(), layout_, level->node(), level->array_.path(),
                                           level->layout_, place().transform));
        }
        if (code == ZB_OK)
            code = level->array_.change_attributes(changes, err);
        if (code != ZB_OK)
            return code;
    }
    NodePtr group = entries.empty()
                        ? nullptr
                        : open_node(hierarchy_.store.get(), parent_path(array_.path()), err);
    if (group == nullptr)
        return entries.empty() ? ZB_OK : err->code;
    entries.push_back(
        layout_entry(node(), layout_, node(), array_.path(), layout_, place().transform));
    AttributeChanges changes;
    put_into_layout(group.get(), entries, &changes);
    return changes.apply(&group, err);
}

enum zb_code Zarr3Dataset::follow_in_levels(zb_error *err) {
    edits.place = true;
    const enum zb_code code = update_levels(err);
    edits = Edits();
    return code;
}

/* The bands of overviews that programs have are of the past, as GDAL says of BuildOverviews(). What
   waits in them must have been flushed. */
enum zb_code Zarr3Dataset::forget_levels(zb_error *err) {
    for (const auto &level : levels_)
        level->forget();
    for (Zarr3Dataset *dataset : {this, mask_.get()}) {
        if (dataset == nullptr)
            continue;
        dataset->overviews_.clear();
        dataset->levels_opened_ = false;
    }
    levels_.clear();
    stale_levels_.clear();
    /* Opened anew, with the groups above it. */
    const enum zb_code code = array_.move_to(array_.path(), err);
    pyramid_ = find_pyramid(node(), array_.around());
    return code;
}

/* Those of older times, in a file beside the store. They would be there twice, or come back. */
CPLErr Zarr3Dataset::remove_outer_overviews() {
    if (!oOvManager.IsInitialized() || oOvManager.GetOverviewCount(1) == 0)
        return CE_None;
    return GDALPamDataset::IBuildOverviews("NONE", 0, nullptr, 0, nullptr, GDALDummyProgress,
                                           nullptr, nullptr);
}

CPLErr Zarr3Dataset::remove_levels() {
    std::vector<std::string> made;
    for (Zarr3Dataset *level : overviews()) {
        const std::string path = level->array_.path();
        if (!is_made_level(pyramid_, array_.path(), path)) {
            CPLError(CE_Failure, CPLE_NotSupported,
                     "array /%s: its level /%s was made by another program as data of its own, and "
                     "is not removed",
                     array_.path().c_str(), path.c_str());
            return CE_Failure;
        }
        made.push_back(path);
    }
    return remove_made_levels(made);
}

/* With those that are of the past. */
CPLErr Zarr3Dataset::remove_made_levels(std::vector<std::string> made) {
    for (const std::string &path : stale_levels_) {
        if (is_made_level(pyramid_, array_.path(), path))
            made.push_back(path);
    }
    zb_error err;
    const Pyramid pyramid = pyramid_;
    enum zb_code code = forget_levels(&err);
    if (code == ZB_OK)
        code = zarr3::remove_levels(hierarchy_.store.get(), pyramid, made, &err);
    if (code == ZB_OK)
        code = remove_lost_levels(hierarchy_.store.get(), array_.path(), pyramid, &err);
    zb_error again;
    const enum zb_code reopened = forget_levels(&again);
    if (code == ZB_OK && reopened == ZB_OK)
        return CE_None;
    report(code != ZB_OK ? err : again);
    return CE_Failure;
}

CPLErr Zarr3Dataset::build_levels(const char *resampling, const std::vector<int> &factors,
                                  GDALProgressFunc progress, void *progress_data) {
    /* New ones go beside those that are there; these are of the past, and hold their names. */
    overviews();
    if (!stale_levels_.empty() && remove_made_levels({}) != CE_None)
        return CE_Failure;
    OverviewBuilder builder(this, resampling);
    zb_error err;
    for (const int factor : std::set<int>(factors.begin(), factors.end())) {
        if (!builder.plan(factor))
            return CE_Failure;
    }
    if (!builder.build(progress, progress_data) || FlushCache(false) != CE_None)
        return CE_Failure;
    enum zb_code code = forget_levels(&err);
    const bool replaced = code == ZB_OK && builder.replace();
    if (code == ZB_OK)
        code =
            forget_levels(&err); /* those that are there now are opened when they are asked for */
    if (code != ZB_OK)
        report(err);
    return code == ZB_OK && replaced ? CE_None : CE_Failure;
}

/* "": overviews can be made in the store. */
static std::string why_not(const Layout &layout, bool is_slice, bool all_bands) {
    if (layout.axes.y < 0)
        return "it has no rows and columns";
    if (is_slice)
        return "this is a slice; open the whole array";
    return all_bands ? "" : "overviews are made of all bands together";
}

CPLErr Zarr3Dataset::IBuildOverviews(const char *resampling, int count, const int *factors,
                                     int band_count, const int *bands, GDALProgressFunc progress,
                                     void *progress_data, CSLConstList options) {
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
    if (!keep_array() || FlushCache(false) != CE_None)
        return CE_Failure;
    const CPLErr result =
        count == 0 ? remove_levels()
                   : build_levels(resampling, {factors, factors + count}, progress, progress_data);
    return result == CE_None ? remove_outer_overviews() : result;
}

CPLErr Zarr3Dataset::make_last_overviews() {
    const std::string resampling = overviews_at_close_;
    const std::vector<int> factors = usual_factors(nRasterXSize, nRasterYSize);
    overviews_at_close_.clear();
    if (resampling.empty() || !wrote_ || factors.empty())
        return CE_None;
    return BuildOverviews(resampling.c_str(), static_cast<int>(factors.size()), factors.data(), 0,
                          nullptr, GDALDummyProgress, nullptr, nullptr);
}
