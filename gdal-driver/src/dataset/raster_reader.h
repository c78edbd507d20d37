/* SPDX-License-Identifier: MIT */
/* The way of a raster's pixels to a program. */
#ifndef ZARR3_RASTER_READER_H
#define ZARR3_RASTER_READER_H

#include <optional>
#include <vector>

#include "array/array.h"
#include "dataset/listener.h"
#include "dataset/pixel_request.h"
#include "dataset/read_ahead.h"

class Zarr3Dataset;

namespace zarr3 {

/* Knows what the requests under way want. Those of a dataset come one at a time, and nest. */
class RasterReader {
    /* By a request. */
    struct Wanted {
        BlockRange blocks;
        std::vector<int> bands; /* from 0 */
    };

  public:
    explicit RasterReader(Zarr3Dataset *raster) : raster_(raster) {
    }
    RasterReader(const RasterReader &) = delete;
    RasterReader &operator=(const RasterReader &) = delete;

    /* Reads straight into the caller's buffer when that is the better way. Sets *done unless the
       blocks of the cache should serve the request. */
    CPLErr read(const PixelRequest &request, bool *done);

    /* Fills one block and, in the same plan, the blocks of bands that share its chunks and those
       that the request under way will need next. */
    enum zb_code load_block(int band, int block_x, int block_y, void *image, zb_error *err);

    /* A program is going to read the window of a band, into a buffer of that size. */
    void advise(int band, const Window &window, int buffer_width, int buffer_height);

    /* While it lives, a program goes through a whole band. If it has gone through an earlier one
       before, it will want the later ones, too. */
    class AdviseAll {
      public:
        AdviseAll(RasterReader *reader, int band);
        ~AdviseAll();
        AdviseAll(const AdviseAll &) = delete;
        AdviseAll &operator=(const AdviseAll &) = delete;

      private:
        RasterReader *reader_;
        int band_;
        ReadAhead::Advice outer_;
    };

    /* Bytes that the blocks of a window take in GDAL's cache, chunk mates included. */
    uint64_t block_bytes(const Window &window, int band_count) const;

    /* True if progress is told by a Listener of the request, in place of strips. */
    bool has_listener(GDALRWFlag mode, const GDALRasterIOExtraArg *extra) const;

    /* While it lives, the program that gave `extra` hears of the reads of this raster, if it wants
       to. Requests nest. */
    class Listen {
      public:
        Listen(RasterReader *reader, GDALRWFlag mode, GDALRasterIOExtraArg *extra);
        ~Listen();
        Listen(const Listen &) = delete;
        Listen &operator=(const Listen &) = delete;

        /* For GDAL's own ways of the request. */
        GDALRasterIOExtraArg *extra() {
            return listener_ ? listener_->extra() : extra_;
        }

      private:
        RasterReader *reader_;
        Listener *outer_;
        GDALRasterIOExtraArg *extra_;
        std::optional<Listener> listener_;
    };

    /* While it lives, load_block knows which blocks are wanted. Requests nest: the outer one counts
       where the inner is a part of it, else the inner. */
    class Expect {
      public:
        Expect(RasterReader *reader, const Window &window, int buffer_width, int buffer_height,
               int band_count, const int *bands);
        ~Expect();
        Expect(const Expect &) = delete;
        Expect &operator=(const Expect &) = delete;

      private:
        RasterReader *reader_;
        std::optional<Wanted> outer_;
    };

  private:
    const Layout &layout() const;
    BlockRange all_blocks() const;
    bool prefers_direct(const PixelRequest &request) const;
    bool looks_ahead() const;
    std::vector<int> choose_bands(int band, const BlockRange &wanted, uint64_t block_bytes) const;
    ReadAhead::Plan plan_blocks(int band, int block_x, int block_y, const BlockRange &wanted,
                                uint64_t block_bytes);
    double done_with(int block_x, int block_y, uint64_t blocks) const;

    /* Reads, and tells of it whoever listens to the request under way: as the part [from, to] of
       the request. */
    enum zb_code read_boxes(const std::vector<BoxRead> &boxes, zb_dtype memory, double from,
                            double to, zb_error *err);

    Zarr3Dataset *raster_;
    std::optional<Wanted> expected_; /* by the request under way */
    ReadAhead ahead_;
    std::optional<int> last_band_; /* that a program has gone through as a whole */
    Listener *listener_ = nullptr; /* of the request under way */
};

} // namespace zarr3

#endif
