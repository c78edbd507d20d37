/* SPDX-License-Identifier: MIT */
/* From windows of bands to boxes of the array. A plan collects boxes that one call of the core then
   reads together, so that it sees all of the work at once: chunks that several boxes share are
   decoded once, on all threads. */
#ifndef ZARR3_READ_PLAN_H
#define ZARR3_READ_PLAN_H

#include <vector>

#include "cpl_vsi.h"
#include "raster/layout.h"
#include "zarrbridge/zarrbridge.h"

namespace zarr3 {

/* A rectangle of pixels. */
struct Window {
    int x, y, width, height;
};

/* Bytes between neighbours in a caller's memory. */
struct Spacings {
    int64_t pixel, line, band;
};

/* The box of `count` bands from first_band on (their indices differ in the last extra dimension
   only, in steps of one) within the window: one entry for each of the array's dimensions. */
void fill_box(const Layout &layout, uint32_t ndim, int first_band, int count, const Window &window,
              const Spacings &spacings, uint64_t *starts, uint64_t *counts, int64_t *strides);

class ReadPlan {
  public:
    ReadPlan(const zb_node *array, const Layout &layout, zb_dtype memory)
        : array_(array), layout_(layout), memory_(memory) {
    }

    /* The window of one band, to data; the spaces are bytes between pixels and lines. */
    void add(int band, const Window &window, void *data, int64_t pixel_space, int64_t line_space) {
        add_run(band, 1, window, data, {pixel_space, line_space, 0});
    }

    /* The window of several bands, as in fill_box; the space between bands may be negative. */
    void add_run(int first_band, int count, const Window &window, void *data,
                 const Spacings &spacings);

    size_t size() const {
        return data_.size();
    }

    enum zb_code run(zb_error *err) const;

  private:
    const zb_node *array_;
    const Layout &layout_;
    zb_dtype memory_;
    /* Per box, ndim entries each: pointers are made in run(), when the vectors have stopped
     * growing. */
    std::vector<uint64_t> start_, count_;
    std::vector<int64_t> strides_;
    std::vector<void *> data_;
};

} // namespace zarr3

#endif
