/* SPDX-License-Identifier: MIT */
/* What every dataset of this driver has: metadata from the store, a small file list, and a sidecar
   file that never lies inside the hierarchy. As it is, it stands for a group with several arrays.
 */
#ifndef ZARR3_NODE_DATASET_H
#define ZARR3_NODE_DATASET_H

#include "dataset/metadata.h"
#include "store/node.h"

class Zarr3NodeDataset : public GDALPamDataset {
  public:
    explicit Zarr3NodeDataset(zarr3::Hierarchy hierarchy, zarr3::NodePtr node);

    zarr3::MetadataList GetMetadata(const char *domain = "") override;
    const char *GetMetadataItem(const char *name, const char *domain = "") override;
    char **GetMetadataDomainList() override;
    char **GetFileList() override;

    zarr3::MetadataDomains &metadata() {
        return metadata_;
    }

    /* Statistics and what else GDAL wants to remember go to x.zarr.aux.xml beside x.zarr, under the
       array's name. Call once, before the dataset is handed out. */
    void use_sidecar(const std::string &subdataset);

  protected:
    zarr3::Hierarchy hierarchy_;
    zarr3::NodePtr node_;

  private:
    zarr3::MetadataDomains metadata_;
};

#endif
