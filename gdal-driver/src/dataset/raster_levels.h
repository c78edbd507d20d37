/* SPDX-License-Identifier: MIT */
/* The coarser levels of a raster: opened at the first question, kept in step, made and removed. */
#ifndef ZARR3_RASTER_LEVELS_H
#define ZARR3_RASTER_LEVELS_H

#include <memory>
#include <string>
#include <vector>

#include "base/compat.h"
#include "dataset/level_places.h"
#include "dataset/levels.h"
#include "zarrbridge/error.h"

class Zarr3Dataset;

namespace zarr3 {

class RasterLevels {
  public:
    explicit RasterLevels(Zarr3Dataset *raster);
    ~RasterLevels();
    RasterLevels(const RasterLevels &) = delete;
    RasterLevels &operator=(const RasterLevels &) = delete;

    /* Those of the pyramid that the raster belongs to, finest first. Those of a mask are the masks
       of its raster's levels, as far as all have one. */
    const std::vector<Zarr3Dataset *> &list();

    /* Of those that are open; false, with the error reported. */
    bool flush(bool at_closing);

    /* Nothing that waits in them will be written, and none will be made. */
    void forget();

    void close();

    /* The raster has another nodata value: so have the levels that were made of it, for reading;
       update() stores it. */
    void show_nodata();

    /* Writes what the raster's edits say, to the levels that were made of it. To be called when the
       raster's own attributes have been written. */
    enum zb_code update(zb_error *err);

    /* Both report their errors. What waits in the raster and its levels must have been flushed. */
    CPLErr build(const char *resampling, const std::vector<LevelSize> &sizes,
                 GDALProgressFunc progress, void *progress_data);
    CPLErr remove(); /* zb_pyramid_remove */

    /* Levels are made by this method when the dataset is closed, if pixels have been written. */
    void make_at_close(const std::string &resampling) {
        resampling_ = resampling;
    }
    CPLErr make_last();

    /* Of a mask, whose raster has other levels now. */
    void forget_list() {
        list_.clear();
        opened_ = false;
    }

  private:
    void open();
    std::vector<Zarr3Dataset *> made();
    LevelPlaces places() const;
    bool follow_raster() const;
    enum zb_code update_places(const std::vector<Zarr3Dataset *> &levels, zb_error *err);
    enum zb_code reopen(zb_error *err);

    Zarr3Dataset *raster_;
    bool opened_ = false;
    std::vector<std::unique_ptr<Zarr3Dataset>> levels_; /* none for masks */
    std::vector<Zarr3Dataset *> list_;                  /* what list() gives */
    std::string resampling_;                            /* of those to be made at the end, or "" */
};

} // namespace zarr3

#endif
