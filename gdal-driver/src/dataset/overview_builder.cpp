/* SPDX-License-Identifier: MIT */
/*
 * GDAL resamples, on its threads; the bands of the levels write by the core, on its own. All levels
 * are made beside their places, in nodes "ovr_2x.<process>-<number>.zarr3-new", and closed, before
 * the first one is moved to its place; the list of the pyramid is changed last. So an error leaves
 * the levels that were there, and a process that is killed leaves at the worst nodes of such names,
 * or for a moment none of an old level. Readers pass over a level that is not there.
 */
#include "dataset/overview_builder.h"

#include <algorithm>

#include "array/attributes.h"
#include "base/errors.h"
#include "base/handles.h"
#include "base/json_text.h"
#include "dataset/band.h"
#include "dataset/level_places.h"
#include "dataset/levels.h"
#include "store/directories.h"
#include "zarrbridge/change.h"
#include "zarrbridge/write.h"

namespace zarr3 {

using Progress = std::unique_ptr<void, Release<GDALDestroyScaledProgress>>;

OverviewBuilder::OverviewBuilder(Zarr3Dataset *raster, std::string resampling)
    : raster_(raster), store_(raster->hierarchy().store.get()),
      places_(pyramid_for_changes(store_, raster->pyramid(), raster->array().path()),
              raster->array().path()),
      resampling_(std::move(resampling)) {
}

OverviewBuilder::~OverviewBuilder() {
    for (Level &level : levels_) {
        if (level.dataset != nullptr)
            level.dataset->forget();
        level.dataset.reset();
        if (!level.staging.empty())
            zb_node_delete(store_, level.staging.c_str(), nullptr);
    }
}

bool OverviewBuilder::refuse(const std::string &reason) const {
    CPLError(CE_Failure, CPLE_NotSupported, "array /%s: no overviews are made: %s",
             zb_node_path(raster_->node()), reason.c_str());
    return false;
}

/* ---- Planning ---- */

/* A level that is not there yet goes into the list of the group that holds the raster, or the
   raster's group. */
bool OverviewBuilder::plan_new(Level *level) const {
    const std::string path = zb_node_path(raster_->node());
    const NodePtr group = open_node(store_, places_.above(), nullptr);
    if (group == nullptr || zb_node_array(group.get()) != nullptr ||
        !may_have_layout(group.get()) || attribute(group.get(), "ome") != nullptr)
        return refuse("its group has no place for the list of levels");
    if (!places_.leads())
        return refuse(
            "it belongs to a pyramid, whose levels can be made anew, but not be added to");
    if (places_.of_groups() && home_of_level(store_, path) == path)
        return refuse("its group /" + parent_path(path) +
                      " has other rasters, which a level on the list would need as well; move them "
                      "to groups of their own");
    std::vector<std::string> taken;
    for (const Level &other : levels_)
        taken.push_back(other.target);
    zb_error err;
    if (places_.free_group(store_, level->factor, taken, &level->target, &err) != ZB_OK)
        return refuse(err.message);
    level->made = level->is_new = true;
    level->array = join_path(level->target, last_part(path));
    return true;
}

bool OverviewBuilder::plan(const LevelSize &size) {
    const int width = raster_->GetRasterXSize(), height = raster_->GetRasterYSize();
    const int factor = size.factor;
    if (factor < 2)
        return refuse("the factor " + std::to_string(factor) + " makes nothing smaller");
    Level level = {};
    level.factor = factor;
    level.width = size.width;
    level.height = size.height;
    if (level.width == width && level.height == height)
        return true;
    for (Zarr3Dataset *there : raster_->overviews()) {
        const int known =
            GDALComputeOvFactor(there->GetRasterXSize(), width, there->GetRasterYSize(), height);
        if (known != factor && known != GDALOvLevelAdjust2(factor, width, height))
            continue;
        level.width = there->GetRasterXSize();
        level.height = there->GetRasterYSize();
        level.array = zb_node_path(there->node());
        level.made = places_.is_made(store_, level.array);
        level.target = level.made ? home_of_level(store_, level.array) : level.array;
        break;
    }
    if (level.array.empty() && !plan_new(&level))
        return false;
    for (const Level &other : levels_) {
        if (other.array == level.array)
            return true;
    }
    levels_.push_back(std::move(level));
    return true;
}

/* ---- Making ---- */

/* A level of another program keeps its own form; one of ours has that of the raster. */
enum zb_code OverviewBuilder::create_array(const Level &level, NodePtr *node, zb_error *err) const {
    const Axes &axes = raster_->layout().axes;
    const NodePtr model =
        level.made ? raster_->array().shared_node() : open_node(store_, level.array, err);
    if (model == nullptr)
        return err->code;
    const zb_array_info *info = zb_node_array(model.get());
    std::vector<uint64_t> shape(info->shape, info->shape + info->ndim);
    shape[static_cast<size_t>(axes.x)] = static_cast<uint64_t>(level.width);
    shape[static_cast<size_t>(axes.y)] = static_cast<uint64_t>(level.height);
    NewArray plan = form_like(model.get(), shape);
    for (const auto &[axis, name] : {std::pair(axes.x, "x"), std::pair(axes.y, "y")}) {
        if (level.made && plan.names[static_cast<size_t>(axis)].empty())
            plan.names[static_cast<size_t>(axis)] = name;
    }
    const auto *fill = static_cast<const unsigned char *>(info->fill_value);
    const std::string attributes = level.made ? json_object(level_attributes(model.get()))
                                              : json_text(zb_node_attributes(model.get()));
    enum zb_code code = ZB_OK;
    std::string path = level.staging;
    if (level.target != level.array) {
        zb_node *group = nullptr;
        code = zb_group_create(store_, path.c_str(), places_.group_attributes(level.target).c_str(),
                               &group, err);
        zb_node_release(group);
        path = join_path(path, last_part(level.array));
    }
    if (code == ZB_OK)
        code = plan.create(store_, path, {fill, fill + info->dtype.size}, attributes, node, err);
    return code;
}

static std::optional<GeoTransform> place_of(Zarr3Dataset *raster) {
    GeoTransform transform;
    if (GDALGetGeoTransform(GDALDataset::ToHandle(raster), transform.data()) != CE_None)
        return std::nullopt;
    return transform;
}

/* By a geotransform, or else by coordinates beside the level. */
bool OverviewBuilder::place(Zarr3Dataset *level) const {
    const Axes &axes = raster_->layout().axes;
    const std::optional<GeoTransform> place =
        level_transform(place_of(raster_), raster_->layout(), level->layout());
    NearbyNodes &around = raster_->array().around();
    zb_error err;
    enum zb_code code = copy_level_coordinates(raster_->node(), around, axes, level->node(), &err);
    if (place)
        level->place_at(*place);
    else if (code == ZB_OK)
        code = write_level_coordinates(raster_->node(), around, axes, level->node(), &err);
    if (code != ZB_OK) {
        report(err);
        return false;
    }
    if (raster_->GetSpatialRef() != nullptr)
        level->SetSpatialRef(raster_->GetSpatialRef());
    return true;
}

bool OverviewBuilder::create(Level *level) {
    zb_error err;
    NodePtr node;
    level->staging = level->target + "." + staging_suffix();
    if (create_array(*level, &node, &err) != ZB_OK) {
        report(err);
        return false;
    }
    ArrayOptions options;
    options.set_axes(raster_->layout().axes);
    options.update = true;
    options.write = raster_->write_options();
    std::string reason;
    level->dataset = Zarr3Dataset::make(raster_->hierarchy(), node, options, &reason);
    if (level->dataset == nullptr)
        return refuse(reason);
    level->dataset->array().leave_unsettled();
    if (!level->made || raster_->mask() == nullptr)
        return !level->made || place(level->dataset.get());
    if (!place(level->dataset.get()) || level->dataset->CreateMaskBand(GMF_PER_DATASET) != CE_None)
        return false;
    level->dataset->mask()->array().leave_unsettled();
    return true;
}

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

bool OverviewBuilder::build(GDALProgressFunc progress, void *progress_data) {
    std::sort(levels_.begin(), levels_.end(),
              [](const Level &a, const Level &b) { return a.factor < b.factor; });
    for (Level &level : levels_) {
        if (!create(&level))
            return false;
    }
    const double masks = raster_->mask() != nullptr ? 0.1 : 0;
    const Progress first(GDALCreateScaledProgress(0, masks, progress, progress_data));
    const Progress second(GDALCreateScaledProgress(masks, 1, progress, progress_data));
    return levels_.empty() || (fill_masks(GDALScaledProgress, first.get()) &&
                               fill_bands(GDALScaledProgress, second.get()));
}

/* ---- Putting in place ---- */

enum zb_code OverviewBuilder::move(Level *level, zb_error *err) {
    const char *from = level->staging.c_str(), *to = level->target.c_str();
    const enum zb_code code = level->is_new ? zb_node_move(store_, from, to, err)
                                            : zb_level_take_place(store_, from, to, err);
    /* Until it is on the list, a new level is still ours to take away. */
    if (code == ZB_OK)
        level->staging = level->is_new ? level->target : std::string();
    return code;
}

enum zb_code OverviewBuilder::list(zb_error *err) {
    if (entries_.empty())
        return ZB_OK;
    NodePtr group = open_node(store_, places_.above(), err);
    if (group == nullptr)
        return err->code;
    AttributeChanges changes;
    put_into_layout(group.get(), entries_, &changes);
    return changes.apply(&group, err);
}

/* GDAL has many names for some methods. */
static std::string method_of(const std::string &resampling) {
    const CPLString lower = CPLString(resampling).tolower();
    if (is_nearest(resampling))
        return "nearest";
    return lower == "cubicspline" ? "cubic_spline" : lower == "none" ? "" : lower;
}

bool OverviewBuilder::replace() {
    const std::optional<GeoTransform> place = place_of(raster_);
    const zb_node *node = raster_->node();
    for (Level &level : levels_) {
        if (level.made) {
            if (entries_.empty())
                entries_.push_back(layout_entry(places_, node, raster_->layout(), node,
                                                zb_node_path(node), raster_->layout(), place));
            entries_.push_back(layout_entry(places_, node, raster_->layout(), level.dataset->node(),
                                            level.array, level.dataset->layout(), place));
            entries_.back().method = method_of(resampling_);
        }
        if (level.dataset->Close(ZARR3_NO_PROGRESS) != CE_None)
            return false;
    }
    zb_error err;
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < levels_.size() && code == ZB_OK; i++) {
        levels_[i].dataset.reset();
        code = move(&levels_[i], &err);
    }
    if (code == ZB_OK)
        code = list(&err);
    if (code != ZB_OK) {
        report(err);
        return false;
    }
    for (Level &level : levels_)
        level.staging.clear();
    return true;
}

} // namespace zarr3
