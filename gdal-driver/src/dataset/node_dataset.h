/* SPDX-License-Identifier: MIT */
/* The common part of this driver's datasets: metadata from the store, a small file list, and a
   sidecar file that never lies inside the hierarchy. */
#ifndef ZARR3_NODE_DATASET_H
#define ZARR3_NODE_DATASET_H

#include "dataset/metadata.h"
#include "store/node.h"

class Zarr3NodeDataset : public GDALPamDataset {
  public:
    explicit Zarr3NodeDataset(zarr3::Hierarchy hierarchy);

    /* The node that the dataset shows. */
    virtual const zb_node *node() const = 0;

    zarr3::MetadataList GetMetadata(const char *domain = "") override;
    const char *GetMetadataItem(const char *name, const char *domain = "") override;
    char **GetMetadataDomainList() override;
    char **GetFileList() override;

    zarr3::MetadataDomains &metadata() {
        return metadata_;
    }

    /* Statistics and other things that GDAL remembers go to x.zarr.aux.xml beside x.zarr, under the
       array's name. To be called once, before the dataset is handed out. */
    void use_sidecar(const std::string &subdataset);

  protected:
    zarr3::Hierarchy hierarchy_;
    std::string sidecar_name_; /* what use_sidecar() was told */

  private:
    zarr3::MetadataDomains metadata_;
    std::string outer_overviews_; /* the file that would have them; "" without a sidecar */
};

/* Subdatasets and no bands: a group with several arrays, or an array with its slices. */
class Zarr3ListDataset final : public Zarr3NodeDataset {
  public:
    Zarr3ListDataset(zarr3::Hierarchy hierarchy, zarr3::NodePtr node)
        : Zarr3NodeDataset(std::move(hierarchy)), node_(std::move(node)) {
    }

    const zb_node *node() const override {
        return node_.get();
    }

  private:
    zarr3::NodePtr node_;
};

#endif
