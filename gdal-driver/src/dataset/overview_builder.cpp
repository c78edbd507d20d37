/* SPDX-License-Identifier: MIT */
/*
 * The core plans levels, makes their nodes beside their places, and moves them there. In between
 * GDAL resamples, on its threads, and the bands of the levels write by the core, on its own.
 */
#include "dataset/overview_builder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/guard.h"
#include "base/handles.h"
#include "dataset/band.h"
#include "zarrbridge/multiscales.h"

namespace zarr3 {

using Progress = std::unique_ptr<void, Release<GDALDestroyScaledProgress>>;

OverviewBuilder::OverviewBuilder(Zarr3Dataset *raster, std::string resampling,
                                 GDALProgressFunc progress, void *progress_data)
    : raster_(raster), resampling_(std::move(resampling)), progress_(progress),
      progress_data_(progress_data) {
}

/* ---- Opening ---- */

static std::optional<GeoTransform> place_of(Zarr3Dataset *raster) {
    GeoTransform transform;
    if (GDALGetGeoTransform(GDALDataset::ToHandle(raster), transform.data()) != CE_None)
        return std::nullopt;
    return transform;
}

/* What the core has not found where GDAL finds it. To look for a level's place takes requests. */
static void place_like(Zarr3Dataset *level, Zarr3Dataset *raster) {
    const Layout &layout = level->layout();
    const std::optional<GeoTransform> place =
        level_transform(place_of(raster), raster->layout(), layout);
    const std::optional<GeoTransform> own = place ? place_of(level) : std::nullopt;
    if (place && (!own || zb_place_contradicts(to_affine(*own).data(), to_affine(*place).data(),
                                               static_cast<uint64_t>(layout.width),
                                               static_cast<uint64_t>(layout.height))))
        level->place_at(*place);
    const OGRSpatialReference *crs = raster->GetSpatialRef();
    const OGRSpatialReference *known = crs != nullptr ? level->GetSpatialRef() : nullptr;
    if (crs != nullptr && (known == nullptr || !crs->IsSame(known)))
        level->SetSpatialRef(crs);
}

enum zb_code OverviewBuilder::open(const zb_pyramid_level &made, zb_error *err) {
    ArrayOptions options;
    options.set_axes(raster_->layout().axes);
    options.update = true;
    options.write = raster_->write_options();
    std::string reason;
    std::unique_ptr<Zarr3Dataset> level = Zarr3Dataset::make(
        raster_->hierarchy(), adopt_node(zb_node_retain(made.array)), options, &reason);
    if (level == nullptr)
        return zb_fail(err, ZB_EUNSUPPORTED, "array /%s: no overviews are made: %s",
                       raster_->array().path().c_str(), reason.c_str());
    level->array().leave_unsettled();
    if (level->mask() != nullptr)
        level->mask()->array().leave_unsettled();
    enum zb_code code = ZB_OK;
    if (made.is_made) {
        if (has_side_attributes(raster_->node()))
            code = level->follow(*raster_, err);
        place_like(level.get(), raster_);
    }
    levels_.push_back({static_cast<int>(made.factor), std::move(level)});
    return code;
}

/* ---- Resampling ---- */

/* GDAL's names for it begin so. */
static bool is_nearest(const std::string &resampling) {
    return STARTS_WITH_CI(resampling.c_str(), "NEAR");
}

/* Before the bands, whose resampling asks the masks of finer levels. Each from the next finer one
   that divides it: an average over too many pixels would round a single valid one away. GDAL's
   averages of a mask lie between invalid and valid: pixels with a share of anything valid are
   valid, as their values are averages of that. */
bool OverviewBuilder::fill_masks(GDALProgressFunc progress, void *progress_data) {
    const bool nearest = is_nearest(resampling_);
    for (size_t i = 0; i < levels_.size(); i++) {
        Zarr3Dataset *from = raster_->mask(), *to = levels_[i].dataset->mask();
        if (from == nullptr || to == nullptr)
            continue;
        for (size_t j = 0; j < i && !nearest; j++) {
            Zarr3Dataset *finer = levels_[j].dataset->mask();
            if (finer != nullptr && levels_[i].factor % levels_[j].factor == 0)
                from = finer;
        }
        GDALRasterBandH target = GDALRasterBand::ToHandle(to->GetRasterBand(1));
        const double count = static_cast<double>(levels_.size());
        const Progress part(GDALCreateScaledProgress(static_cast<double>(i) / count,
                                                     static_cast<double>(i + 1) / count, progress,
                                                     progress_data));
        if (GDALRegenerateOverviewsEx(GDALRasterBand::ToHandle(from->GetRasterBand(1)), 1, &target,
                                      nearest ? "NEAREST" : "AVERAGE", GDALScaledProgress,
                                      part.get(), nullptr) != CE_None ||
            (!nearest && !copy_validity(to->GetRasterBand(1), to->GetRasterBand(1))))
            return false;
    }
    return true;
}

/* All bands at once where a block holds several: each block is encoded once then. Colour tables,
   imaginary parts and some methods are known to the other way only. NEAREST takes other pixels
   there, and must take those of the mask. */
bool OverviewBuilder::fill_bands(GDALProgressFunc progress, void *progress_data) {
    std::vector<GDALRasterBand *> sources;
    std::vector<std::vector<GDALRasterBand *>> targets;
    bool together = raster_->layout().chunk_bands > 1 &&
                    !STARTS_WITH_CI(resampling_.c_str(), "AVERAGE_") &&
                    !(is_nearest(resampling_) && raster_->mask() != nullptr);
    for (int i = 1; i <= raster_->GetRasterCount(); i++) {
        sources.push_back(raster_->GetRasterBand(i));
        together = together && sources.back()->GetColorTable() == nullptr &&
                   !GDALDataTypeIsComplex(sources.back()->GetRasterDataType());
        targets.emplace_back();
        for (const Level &level : levels_)
            targets.back().push_back(level.dataset->GetRasterBand(i));
    }
    if (together)
        return GDALRegenerateOverviewsMultiBand(sources, targets, resampling_.c_str(), progress,
                                                progress_data, nullptr) == CE_None;
    const double count = static_cast<double>(sources.size());
    for (size_t i = 0; i < sources.size(); i++) {
        std::vector<GDALRasterBandH> handles;
        for (GDALRasterBand *target : targets[i])
            handles.push_back(GDALRasterBand::ToHandle(target));
        const Progress part(GDALCreateScaledProgress(static_cast<double>(i) / count,
                                                     static_cast<double>(i + 1) / count, progress,
                                                     progress_data));
        if (GDALRegenerateOverviewsEx(GDALRasterBand::ToHandle(sources[i]),
                                      static_cast<int>(handles.size()), handles.data(),
                                      resampling_.c_str(), GDALScaledProgress, part.get(),
                                      nullptr) != CE_None)
            return false;
    }
    return true;
}

/* ---- Filling ---- */

bool OverviewBuilder::fill_all() {
    const double masks = raster_->mask() != nullptr ? 0.1 : 0;
    const Progress first(GDALCreateScaledProgress(0, masks, progress_, progress_data_));
    const Progress second(GDALCreateScaledProgress(masks, 1, progress_, progress_data_));
    return levels_.empty() || (fill_masks(GDALScaledProgress, first.get()) &&
                               fill_bands(GDALScaledProgress, second.get()));
}

bool OverviewBuilder::close() {
    for (Level &level : levels_) {
        if (level.dataset->Close(ZARR3_NO_PROGRESS) != CE_None)
            return false;
    }
    return true;
}

enum zb_code OverviewBuilder::fill(void *context, const zb_pyramid_level *levels, size_t count,
                                   zb_error *err) {
    auto *self = static_cast<OverviewBuilder *>(context);
    for (size_t i = 0; i < count; i++) {
        const enum zb_code code = self->open(levels[i], err);
        if (code != ZB_OK)
            return code;
    }
    if (!self->fill_all() || !self->close()) {
        self->is_reported_ = true;
        return zb_fail(err, ZB_EIO, "GDAL has not made the overviews");
    }
    return (*self->close_old_)(err);
}

/* GDAL has many names for some methods. */
static std::string method_of(const std::string &resampling) {
    const CPLString lower = CPLString(resampling).tolower();
    if (is_nearest(resampling))
        return "nearest";
    return lower == "cubicspline" ? "cubic_spline" : lower == "none" ? "" : lower;
}

bool OverviewBuilder::build(const std::vector<LevelSize> &levels, const CloseOld &close_old) {
    std::vector<uint64_t> factors, sizes;
    for (const LevelSize &level : levels) {
        factors.push_back(static_cast<uint64_t>(std::max(level.factor, 0)));
        sizes.push_back(static_cast<uint64_t>(level.width));
        sizes.push_back(static_cast<uint64_t>(level.height));
    }
    const std::optional<GeoTransform> place = place_of(raster_);
    const std::string method = method_of(resampling_);
    const zb_axes axes = {raster_->layout().axes.x, raster_->layout().axes.y};
    const std::array<double, 6> affine = place ? to_affine(*place) : std::array<double, 6>{};
    zb_pyramid_options options = {};
    options.factors = factors.data();
    options.factor_count = factors.size();
    options.sizes = sizes.data();
    options.context = this;
    options.fill = guarded<fill>;
    options.method_name = method.c_str();
    options.axes = &axes;
    options.transform = place ? affine.data() : nullptr;
    close_old_ = &close_old;
    zb_error err;
    const enum zb_code code = zb_pyramid_build(raster_->node(), &options, &err);
    for (Level &level : levels_) {
        if (code != ZB_OK)
            level.dataset->forget();
        level.dataset.reset();
    }
    if (code != ZB_OK && !is_reported_)
        report(err);
    return code == ZB_OK;
}

} // namespace zarr3
