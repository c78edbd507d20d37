/* SPDX-License-Identifier: MIT */
/* The mask of a raster, opened at the first question. */
#ifndef ZARR3_RASTER_MASK_H
#define ZARR3_RASTER_MASK_H

#include <memory>
#include <string>

#include "base/compat.h"
#include "zarrbridge/error.h"

class Zarr3Dataset;

namespace zarr3 {

/* Masks have none. */
class RasterMask {
  public:
    explicit RasterMask(Zarr3Dataset *raster);
    ~RasterMask();
    RasterMask(const RasterMask &) = delete;
    RasterMask &operator=(const RasterMask &) = delete;

    /* Null where there is none in the store. */
    Zarr3Dataset *get();

    /* Null also before the first question. */
    Zarr3Dataset *opened() const {
        return mask_.get();
    }

    /* Makes one beside the array, which must have its last names and be open for update. */
    enum zb_code create(zb_error *err);

    void close();

  private:
    std::unique_ptr<Zarr3Dataset> open(const std::string &name, std::string *reason) const;

    Zarr3Dataset *raster_;
    bool looked_ = false;
    std::unique_ptr<Zarr3Dataset> mask_;
};

/* Writes a mask: 255 where the other band is not 0, as in a GeoTIFF. `from` may be any band
   (gdal_translate -mask 4), and the mask itself. */
bool copy_validity(GDALRasterBand *from, GDALRasterBand *to,
                   GDALProgressFunc progress = GDALDummyProgress, void *progress_data = nullptr);

} // namespace zarr3

#endif
