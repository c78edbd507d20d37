/* SPDX-License-Identifier: MIT */
/*
 * The levels of a pyramid as overviews of an array. They are made by the array's other view, as a
 * raster, so that there is one way to make them.
 */
#include <algorithm>

#include "dataset/dataset.h"
#include "dataset/levels.h"
#include "multidim/group.h"
#include "multidim/md_array.h"
#include "multidim/raw_block.h"

#include "base/errors.h"

namespace zarr3 {

/* The coarser levels behind the array in the list, as far as they are arrays like it. */
const std::vector<std::shared_ptr<GDALMDArray>> &Zarr3MDArray::levels() const {
    if (levels_)
        return *levels_;
    levels_.emplace();
    const std::optional<Layout> layout = raster_layout();
    if (layout && is_of_other_shape(array_.pyramid(), layout->width, layout->height))
        return *levels_;
    const Pyramid pyramid = array_.pyramid(1);
    const auto own = pyramid.levels.begin() + static_cast<std::ptrdiff_t>(pyramid.self);
    for (const NodePtr &node : array_.levels(1)) {
        std::string reason;
        if (std::find(pyramid.levels.begin(), own, zb_node_path(node.get())) != own)
            continue; /* a finer one */
        const auto level = tree_->array(zb_node_path(node.get()), node, &reason);
        if (level != nullptr && level->GetDimensionCount() == GetDimensionCount() &&
            level->GetDataType() == GetDataType() &&
            may_be_level(array_.info(), zb_node_array(node.get())))
            levels_->push_back(level);
        else
            CPLDebug("ZARR3", "/%s is no overview of %s", zb_node_path(node.get()),
                     m_osFullName.c_str());
    }
    return *levels_;
}

/* The array's other view, for changes; null with *reason set. */
std::unique_ptr<Zarr3Dataset> Zarr3MDArray::as_raster(std::string *reason) const {
    ArrayOptions how;
    how.update = true;
    how.write = tree_->options().write;
    return Zarr3Dataset::make(tree_->hierarchy(), array_.shared_node(), how, reason);
}

/* What was set here holds for the levels that were made of the array, too. */
bool Zarr3MDArray::update_levels() {
    const bool changed = changed_;
    changed_ = false;
    NearbyNodes around(array_.node());
    const Pyramid pyramid = changed ? find_pyramid(array_.node(), around) : Pyramid();
    const std::vector<std::string> made = made_levels(array_.shared_node(), pyramid);
    if (made.empty() && !awaits_levels(tree_->store(), pyramid, path()))
        return true;
    for (const auto &array : tree_->open_arrays()) {
        if (std::find(made.begin(), made.end(), array->path()) != made.end() && !array->flush())
            return false;
    }
    std::string reason;
    zb_error err = {};
    const std::unique_ptr<Zarr3Dataset> raster = as_raster(&reason);
    if (raster != nullptr && raster->follow_in_levels(&err) != ZB_OK)
        report(err);
    else if (raster == nullptr)
        CPLError(CE_Failure, CPLE_AppDefined, "array %s: its overviews keep their properties: %s",
                 m_osFullName.c_str(), reason.c_str());
    const bool good =
        raster != nullptr && raster->Close(ZARR3_NO_PROGRESS) == CE_None && err.code == ZB_OK;
    tree_->changed_below(parent_path(path()));
    for (const auto &array : tree_->open_arrays()) {
        if (std::find(made.begin(), made.end(), array->path()) != made.end())
            array->moved_to(array->path()); /* their nodes are others now */
    }
    return good;
}

#ifdef ZARR3_HAS_MD_OVERVIEWS

int Zarr3MDArray::GetOverviewCount() const {
    return CheckValidAndErrorOutIfNot() ? static_cast<int>(levels().size()) : 0;
}

std::shared_ptr<GDALMDArray> Zarr3MDArray::GetOverview(int index) const {
    if (!CheckValidAndErrorOutIfNot() || index < 0 || index >= static_cast<int>(levels().size()))
        return nullptr;
    return levels()[static_cast<size_t>(index)];
}

CPLErr Zarr3MDArray::BuildOverviews(const char *resampling, int count, const int *factors,
                                    GDALProgressFunc progress, void *progress_data,
                                    CSLConstList options) {
    if (!may_change() || !flush())
        return CE_Failure;
    std::string reason = "an array of fewer than two dimensions has no overviews";
    std::unique_ptr<Zarr3Dataset> raster;
    if (GetDimensionCount() >= 2)
        raster = as_raster(&reason);
    if (raster == nullptr) {
        CPLError(CE_Failure, CPLE_NotSupported, "array %s: %s", m_osFullName.c_str(),
                 reason.c_str());
        return CE_Failure;
    }
    levels_.reset();
    CPLErr result = raster->BuildOverviews(resampling, count, factors, 0, nullptr, progress,
                                           progress_data, options);
    if (raster->Close(ZARR3_NO_PROGRESS) != CE_None)
        result = CE_Failure;
    raster.reset();
    tree_->changed_below(parent_path(path()));
    moved_to(path()); /* the group that lists the levels is another node now */
    return result;
}

#endif

#ifdef ZARR3_HAS_RAW_BLOCKS

bool Zarr3MDArray::GetRawBlockInfo(const uint64_t *block, GDALMDArrayRawBlockInfo &info) const {
    info.clear();
    if (tree_->options().shows_shards && array_.info()->shard_depth > 0) {
        CPLError(CE_Failure, CPLE_NotSupported,
                 "array %s: with SHOW=SHARDS blocks are shards, whose chunks lie apart: open it "
                 "without",
                 m_osFullName.c_str());
        return false;
    }
    for (uint32_t d = 0; d < array_.info()->ndim; d++) {
        if (block[d] >= zb_array_chunk_count(array_.node(), ZB_GRID_INNER, d)) {
            CPLError(CE_Failure, CPLE_AppDefined,
                     "array %s: invalid block coordinate %llu for dimension %u",
                     m_osFullName.c_str(), static_cast<unsigned long long>(block[d]), d);
            return false;
        }
    }
    zb_chunk_place place = {};
    zb_error err;
    if ((IsWritable() && array_.flush(&err) != ZB_OK) ||
        zb_array_chunk_place(array_.node(), block, &place, &err) != ZB_OK) {
        report(err);
        return false;
    }
    if (place.key == nullptr)
        return true; /* not stored */
    const CoreText key(place.key);
    std::string reason;
    const std::string file = object_file(tree_->filename(), key.get(), &reason);
    if (file.empty()) {
        CPLError(CE_Failure, CPLE_NotSupported, "array %s: %s", m_osFullName.c_str(),
                 reason.c_str());
        return false;
    }
    info.pszFilename = CPLStrdup(file.c_str());
    info.nOffset = place.offset;
    info.nSize = place.bytes;
    info.papszInfo = raw_block_items(array_.node()).StealList();
    return true;
}

#endif

} // namespace zarr3
