/* SPDX-License-Identifier: MIT */
/*
 * GDAL's objects may outlive their dataset, in Python easily. So closing stores what waits in all
 * arrays that are still held; what is written to one of them later is stored when that one goes.
 */
#include "multidim/md_dataset.h"

#include "base/entry.h"
#include "dataset/open.h"
#include "multidim/group.h"
#include "store/location.h"
#include "store/open_store.h"

namespace zarr3 {

Zarr3MultidimDataset::Zarr3MultidimDataset(std::shared_ptr<Tree> tree) : tree_(std::move(tree)) {
    eAccess = tree_->options().update ? GA_Update : GA_ReadOnly;
}

Zarr3MultidimDataset::~Zarr3MultidimDataset() {
    Zarr3MultidimDataset::Close(ZARR3_NO_PROGRESS);
}

std::shared_ptr<GDALGroup> Zarr3MultidimDataset::GetRootGroup() const {
    return tree_ == nullptr ? nullptr : tree_->root();
}

CPLErr Zarr3MultidimDataset::FlushCache(bool at_closing) try {
    const CPLErr result = GDALDataset::FlushCache(at_closing);
    return tree_ != nullptr && tree_->flush() != CE_None ? CE_Failure : result;
} catch (...) {
    return failed_entry<CPLErr>();
}

CPLErr Zarr3MultidimDataset::Close(ZARR3_CLOSE_PARAMETERS) try {
    CPLErr result = CE_None;
    if (nOpenFlags != OPEN_FLAGS_CLOSED) {
        result = FlushCache(true);
        if (!is_forgotten_ && tree_->options().update &&
            complete(tree_->store(), tree_->options().consolidate) != CE_None)
            result = CE_Failure;
        tree_.reset();
        if (GDALDataset::Close(ZARR3_CLOSE_ARGUMENTS) != CE_None)
            result = CE_Failure;
    }
    return result;
} catch (...) {
    return failed_entry<CPLErr>();
}

void Zarr3MultidimDataset::forget() {
    is_forgotten_ = true;
    tree_->abandon();
}

GDALDataset *open_multidimensional(GDALOpenInfo *info) {
    Opened opened;
    if (!open_name(info, &opened))
        return nullptr;
    if (!opened.pinned.empty()) {
        CPLError(CE_Failure, CPLE_NotSupported,
                 "%s: a slice is no multidimensional dataset; GetView() of its array gives it",
                 shown_name(info->pszFilename).c_str());
        return nullptr;
    }
    TreeOptions options;
    const std::string path = zb_node_path(opened.node.get());
    options.single = zb_node_array(opened.node.get()) != nullptr;
    options.array = options.single ? path : "";
    options.base = options.single ? parent_path(path) : path;
    options.update = opened.update;
    options.write = opened.write;
    options.shows_shards = opened.shows_shards;
    auto tree = std::make_shared<Tree>(opened.hierarchy, options);
    auto dataset = std::make_unique<Zarr3MultidimDataset>(tree);
    dataset->SetDescription(info->pszFilename);
    return dataset.release();
}

} // namespace zarr3
