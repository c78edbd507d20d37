/* SPDX-License-Identifier: MIT */
/*
 * Overviews are datasets like the raster itself, made from their own arrays. They own nothing of
 * the finest level but a reference to the store. Those of a raster that is open for update are,
 * too: programs write to overviews as to any band.
 *
 * What a program sets on the raster holds for the levels that were made of it. Levels that other
 * programs made are left as they are, for they may have properties of their own.
 */
#include "dataset/raster_levels.h"

#include <algorithm>

#include "base/errors.h"
#include "dataset/dataset.h"
#include "dataset/levels.h"
#include "dataset/overview_builder.h"
#include "zarrbridge/pyramid.h"

namespace zarr3 {

RasterLevels::RasterLevels(Zarr3Dataset *raster) : raster_(raster) {
}

RasterLevels::~RasterLevels() = default;

/* ---- Reading ---- */

/* The raster got other rows or columns after the level was made. */
static bool is_stale(Zarr3Dataset *raster, Zarr3Dataset *level) {
    const zb_array_info *info = raster->array().info(), *other = level->array().info();
    const int width = raster->GetRasterXSize(), height = raster->GetRasterYSize();
    return is_of_other_shape(raster->pyramid(), width, height) ||
           (info->ndim == other->ndim && level->GetRasterXSize() <= width &&
            level->GetRasterYSize() <= height && !may_be_level(info, other));
}

/* GDAL takes overviews for smaller versions of one picture with the same bands. Levels of another
   type would be converted without a word. */
static bool is_overview(Zarr3Dataset *raster, Zarr3Dataset *level) {
    const int width = raster->GetRasterXSize(), height = raster->GetRasterYSize();
    const bool coarser = level->GetRasterXSize() <= width && level->GetRasterYSize() <= height &&
                         (level->GetRasterXSize() < width || level->GetRasterYSize() < height);
    return coarser && level->GetRasterCount() == raster->GetRasterCount() &&
           level->GetRasterBand(1)->GetRasterDataType() ==
               raster->GetRasterBand(1)->GetRasterDataType();
}

void RasterLevels::open() {
    for (const NodePtr &node : raster_->array().levels()) {
        std::string reason;
        std::unique_ptr<Zarr3Dataset> level =
            Zarr3Dataset::make(raster_->hierarchy(), node, raster_->options_of_peer(), &reason);
        if (level == nullptr) {
            CPLDebug("ZARR3", "level %s is left out: %s", zb_node_path(node.get()), reason.c_str());
            continue;
        }
        if (is_stale(raster_, level.get())) {
            CPLDebug("ZARR3", "level %s is left out: it is of another size of the raster",
                     zb_node_path(node.get()));
            continue;
        }
        level->keep_no_sidecar();
        if (is_overview(raster_, level.get()))
            levels_.push_back(std::move(level));
    }
    std::stable_sort(levels_.begin(), levels_.end(), [](const auto &a, const auto &b) {
        return a->GetRasterXSize() > b->GetRasterXSize();
    });
    for (const auto &level : levels_)
        list_.push_back(level.get());
}

const std::vector<Zarr3Dataset *> &RasterLevels::list() {
    if (opened_)
        return list_;
    opened_ = true;
    if (!raster_->is_mask()) {
        open();
        if (raster_->edits.nodata)
            show_nodata();
        return list_;
    }
    for (Zarr3Dataset *level : raster_->masked()->overviews())
        list_.push_back(level->mask());
    if (std::count(list_.begin(), list_.end(), nullptr) > 0)
        list_.clear();
    return list_;
}

/* ---- Changing ---- */

bool RasterLevels::flush(bool at_closing) {
    bool good = true;
    for (const auto &level : levels_)
        good = level->FlushCache(at_closing) == CE_None && good;
    return good;
}

void RasterLevels::forget() {
    for (const auto &level : levels_)
        level->forget();
    resampling_.clear();
}

void RasterLevels::close() {
    list_.clear();
    levels_.clear();
}

std::vector<Zarr3Dataset *> RasterLevels::made() {
    std::vector<Zarr3Dataset *> made;
    for (Zarr3Dataset *level : list()) {
        if (places().is_made(raster_->hierarchy().store.get(), level->array().path()))
            made.push_back(level);
    }
    return made;
}

void RasterLevels::show_nodata() {
    if (!opened_ || !follow_raster())
        return;
    for (Zarr3Dataset *level : made())
        level->take_nodata(raster_->nodata());
}

LevelPlaces RasterLevels::places() const {
    return {raster_->pyramid(), raster_->array().path()};
}

/* What the list of the pyramid says of places, of the raster and of these levels. */
enum zb_code RasterLevels::update_places(const std::vector<Zarr3Dataset *> &levels, zb_error *err) {
    const LevelPlaces where = places();
    NodePtr group = open_node(raster_->hierarchy().store.get(), where.above(), err);
    if (group == nullptr)
        return err->code;
    std::vector<LayoutEntry> entries;
    const auto add = [&](Zarr3Dataset *one) {
        entries.push_back(layout_entry(where, raster_->node(), raster_->layout(), one->node(),
                                       one->array().path(), one->layout(),
                                       raster_->place().transform));
    };
    for (Zarr3Dataset *level : levels)
        add(level);
    add(raster_);
    AttributeChanges changes;
    put_into_layout(group.get(), entries, &changes);
    return changes.apply(&group, err);
}

/* Levels are those of whole finest arrays. */
bool RasterLevels::follow_raster() const {
    return !raster_->is_mask() && raster_->pyramid().self == 0 && raster_->pinned().empty();
}

enum zb_code RasterLevels::update(zb_error *err) {
    if (!follow_raster())
        return ZB_OK;
    const std::vector<Zarr3Dataset *> levels = made();
    for (Zarr3Dataset *level : levels) {
        const enum zb_code code = level->follow(*raster_, err);
        if (code != ZB_OK)
            return code;
    }
    const auto is_listed = [&] {
        return !levels.empty() || awaits_levels(raster_->hierarchy().store.get(),
                                                raster_->pyramid(), raster_->array().path());
    };
    return raster_->edits.place && is_listed() ? update_places(levels, err) : ZB_OK;
}

/* The bands of overviews that programs have are of the past, as GDAL says of BuildOverviews(). What
   waits in them must have been flushed. */
enum zb_code RasterLevels::reopen(zb_error *err) {
    for (const auto &level : levels_)
        level->forget();
    forget_list();
    if (raster_->mask_if_open() != nullptr)
        raster_->mask_if_open()->levels().forget_list();
    levels_.clear();
    return raster_->reopen(err);
}

CPLErr RasterLevels::remove() {
    zb_error err, again;
    enum zb_code code = reopen(&err);
    if (code == ZB_OK)
        code = zb_pyramid_remove(raster_->node(), nullptr, &err);
    const enum zb_code reopened = reopen(&again);
    if (code == ZB_OK && reopened == ZB_OK)
        return CE_None;
    report(code != ZB_OK ? err : again);
    return CE_Failure;
}

CPLErr RasterLevels::build(const char *resampling, const std::vector<LevelSize> &sizes,
                           GDALProgressFunc progress, void *progress_data) {
    OverviewBuilder builder(raster_, resampling, progress, progress_data);
    const bool is_built = builder.build(sizes, [&](zb_error *err) { return reopen(err); });
    zb_error err;
    const enum zb_code code = reopen(&err); /* what is there now is opened when it is asked for */
    if (code != ZB_OK)
        report(err);
    return code == ZB_OK && is_built ? CE_None : CE_Failure;
}

CPLErr RasterLevels::make_last() {
    const std::string resampling = resampling_;
    const std::vector<int> factors =
        usual_factors(raster_->GetRasterXSize(), raster_->GetRasterYSize());
    resampling_.clear();
    if (resampling.empty() || !raster_->has_written() || factors.empty())
        return CE_None;
    return raster_->BuildOverviews(resampling.c_str(), static_cast<int>(factors.size()),
                                   factors.data(), 0, nullptr, GDALDummyProgress, nullptr, nullptr);
}

} // namespace zarr3
