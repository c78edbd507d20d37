/* SPDX-License-Identifier: MIT */
/* A hierarchy as a dataset of GDAL's multidimensional API: a root group, and no bands. */
#ifndef ZARR3_MD_DATASET_H
#define ZARR3_MD_DATASET_H

#include "multidim/tree.h"

namespace zarr3 {

/* As open(), for programs that ask for the multidimensional view. */
GDALDataset *open_multidimensional(GDALOpenInfo *info);

class Zarr3MultidimDataset final : public GDALDataset {
  public:
    explicit Zarr3MultidimDataset(std::shared_ptr<Tree> tree);
    ~Zarr3MultidimDataset() override;

    std::shared_ptr<GDALGroup> GetRootGroup() const override;
    CPLErr FlushCache(bool at_closing = false) override;
    CPLErr Close(ZARR3_CLOSE_PARAMETERS) override;

    /* Nothing that waits will be stored. */
    void forget();
    const Tree &tree() const {
        return *tree_;
    }

  private:
    std::shared_ptr<Tree> tree_; /* null once it is closed */
    bool is_forgotten_ = false;
};

} // namespace zarr3

#endif
