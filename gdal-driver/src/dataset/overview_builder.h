/* SPDX-License-Identifier: MIT */
/* Makes levels of a raster, complete before any of them takes its place. */
#ifndef ZARR3_OVERVIEW_BUILDER_H
#define ZARR3_OVERVIEW_BUILDER_H

#include <memory>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/level_places.h"
#include "dataset/levels.h"
#include "raster/pyramid_layout.h"

namespace zarr3 {

/* plan() for each level, then build(), then replace(). What has been made and has not taken its
   place goes with the builder. All report their errors. */
class OverviewBuilder {
  public:
    /* The raster is open for update and has been flushed. */
    OverviewBuilder(Zarr3Dataset *raster, std::string resampling);
    ~OverviewBuilder();
    OverviewBuilder(const OverviewBuilder &) = delete;
    OverviewBuilder &operator=(const OverviewBuilder &) = delete;

    /* A level that is there already is to be made anew. */
    bool plan(const LevelSize &size);

    bool build(GDALProgressFunc progress, void *progress_data);

    /* Nobody may have the old levels open in this dataset. */
    bool replace();

  private:
    struct Level {
        int factor, width, height;
        bool made;           /* by BuildOverviews, now or before; else by another program */
        std::string target;  /* the node whose place it takes: a group, or an array */
        std::string staging; /* the node where it is made */
        std::string array;   /* the array's path once it is in its place */
        bool is_new;         /* nothing is in its place yet */
        std::unique_ptr<Zarr3Dataset> dataset;
    };

    bool refuse(const std::string &reason) const;
    bool plan_new(Level *level) const;
    enum zb_code create_array(const Level &level, NodePtr *node, zb_error *err) const;
    bool place(Zarr3Dataset *level) const;
    bool create(Level *level);
    bool fill_masks(GDALProgressFunc progress, void *progress_data);
    bool fill_bands(GDALProgressFunc progress, void *progress_data);
    enum zb_code move(Level *level, zb_error *err);
    enum zb_code list(zb_error *err);

    Zarr3Dataset *raster_;
    zb_hierarchy *store_;
    LevelPlaces places_;
    std::string resampling_;
    std::vector<Level> levels_; /* finest first */
    std::vector<LayoutEntry> entries_;
};

} // namespace zarr3

#endif
