/* SPDX-License-Identifier: MIT */
/* An array as a raster. */
#ifndef ZARR3_DATASET_H
#define ZARR3_DATASET_H

#include <memory>
#include <optional>
#include <vector>

#include "container.h"
#include "crs.h"
#include "georef.h"
#include "nodata.h"
#include "read_plan.h"
#include "types.h"

namespace zarr3 {

/* Open options, as far as they concern one array. NULL where not given. */
struct ArrayOptions {
    const char *dim_x = nullptr;
    const char *dim_y = nullptr;
    std::vector<uint64_t> pinned; /* the slice that the name asks for, or empty */
};

/* Blocks, first to last inclusive. */
struct BlockRange {
    int x0, y0, x1, y1;

    bool contains(int x, int y) const {
        return x >= x0 && x <= x1 && y >= y0 && y <= y1;
    }
    uint64_t count() const {
        return static_cast<uint64_t>(x1 - x0 + 1) * static_cast<uint64_t>(y1 - y0 + 1);
    }
};

/* A request for pixels, as GDAL's IRasterIO gets it; not resampled. */
struct PixelRequest {
    Window window;
    void *data;
    GDALDataType type;
    int band_count;
    const int *bands; /* from 1 */
    GSpacing pixel_space, line_space, band_space;
};

} // namespace zarr3

class Zarr3Dataset final : public Zarr3Container {
  public:
    /* Null, with *reason set, when the array cannot be a raster. */
    static std::unique_ptr<Zarr3Dataset> make(const zarr3::Hierarchy &hierarchy,
                                              const zarr3::NodePtr &array,
                                              const zarr3::ArrayOptions &options,
                                              std::string *reason);
    ~Zarr3Dataset() override;

    CPLErr GetGeoTransform(zarr3::GeoTransformOut transform) ZARR3_CONST_SINCE_3_12 override;
    const OGRSpatialReference *GetSpatialRef() const override;

    const zb_node *array() const {
        return node_.get();
    }
    const zarr3::Layout &layout() const {
        return layout_;
    }
    zarr3::Neighbours &around() const {
        return around_;
    }
    const zarr3::NoData &nodata() const {
        return nodata_;
    }

    /* The coarser levels of the pyramid that the array belongs to, finest first; opened at the
       first call. */
    const std::vector<std::unique_ptr<Zarr3Dataset>> &overviews();

    /* Reads straight into the caller's buffer when that is the better way. Sets *done unless the
       blocks of the cache should serve the request. */
    CPLErr read_direct(const zarr3::PixelRequest &request, bool *done);

    /* Fills one block and, in the same plan, the blocks of bands that share its chunks and those
       that the request under way will need next. */
    enum zb_code load_block(int band, int block_x, int block_y, void *image, zb_error *err);

    /* Bytes that the blocks of a window take in GDAL's cache, chunk mates included. */
    uint64_t block_bytes(const zarr3::Window &window, int band_count) const;

    /* While it lives, load_block knows which blocks are wanted. Requests nest: the inner one
     * counts. */
    class Expect {
      public:
        Expect(Zarr3Dataset *dataset, const zarr3::Window &window, int buffer_width,
               int buffer_height);
        ~Expect();
        Expect(const Expect &) = delete;
        Expect &operator=(const Expect &) = delete;

      private:
        Zarr3Dataset *dataset_;
        std::optional<zarr3::BlockRange> outer_;
    };

  protected:
    CPLErr IRasterIO(GDALRWFlag mode, int x, int y, int width, int height, void *data,
                     int buffer_width, int buffer_height, GDALDataType type, int band_count,
                     BANDMAP_TYPE bands, GSpacing pixel_space, GSpacing line_space,
                     GSpacing band_space, GDALRasterIOExtraArg *extra) override;

  private:
    Zarr3Dataset(const zarr3::Hierarchy &hierarchy, const zarr3::NodePtr &array,
                 std::vector<uint64_t> pinned, zarr3::Layout layout, zarr3::Pyramid pyramid,
                 zarr3::Neighbours around);

    zarr3::BlockRange blocks_of(const zarr3::Window &window) const;
    bool prefers_direct(const zarr3::PixelRequest &request) const;
    void locate() const;

    std::vector<uint64_t> pinned_;
    zarr3::Layout layout_;
    zarr3::Pyramid pyramid_;
    mutable zarr3::Neighbours around_;
    zarr3::NoData nodata_;
    std::optional<zarr3::BlockRange> expected_;

    /* Found at the first question, because coordinates must be read for it. */
    mutable bool located_ = false;
    mutable std::optional<OGRSpatialReference> srs_;
    mutable std::optional<zarr3::GeoTransform> transform_;

    bool overviews_opened_ = false;
    std::vector<std::unique_ptr<Zarr3Dataset>> overviews_;
};

#endif
