/* SPDX-License-Identifier: MIT */
/* Levels of a raster, made by the core (zb_pyramid_build), whose pixels GDAL resamples. */
#ifndef ZARR3_OVERVIEW_BUILDER_H
#define ZARR3_OVERVIEW_BUILDER_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/levels.h"
#include "zarrbridge/pyramid.h"

namespace zarr3 {

class OverviewBuilder {
  public:
    /* Gives up the old levels that the raster has open. */
    using CloseOld = std::function<enum zb_code(zb_error *)>;

    /* The raster is open for update and has been flushed. */
    OverviewBuilder(Zarr3Dataset *raster, std::string resampling, GDALProgressFunc progress,
                    void *progress_data);

    /* Called before levels take their places. Errors have been reported. */
    bool build(const std::vector<LevelSize> &sizes, const CloseOld &close_old);

  private:
    struct Level {
        int factor;
        std::unique_ptr<Zarr3Dataset> dataset;
    };

    static enum zb_code fill(void *context, const zb_pyramid_level *levels, size_t count,
                             zb_error *err);
    enum zb_code open(const zb_pyramid_level &made, zb_error *err);
    bool fill_masks(GDALProgressFunc progress, void *progress_data);
    bool fill_bands(GDALProgressFunc progress, void *progress_data);
    bool fill_all();
    bool close();

    Zarr3Dataset *raster_;
    std::string resampling_;
    GDALProgressFunc progress_;
    void *progress_data_;
    const CloseOld *close_old_ = nullptr;
    std::vector<Level> levels_; /* finest first */
    bool is_reported_ = false;  /* GDAL has told what failed */
};

} // namespace zarr3

#endif
