/* SPDX-License-Identifier: MIT */
/* The way of pixels into an array: the core's writer, opened at the first write. */
#ifndef ZARR3_PIXEL_WRITER_H
#define ZARR3_PIXEL_WRITER_H

#include <mutex>
#include <vector>

#include "array/box.h"
#include "base/handles.h"
#include "store/node.h"
#include "zarrbridge/encoded.h"

namespace zarr3 {

/* Readers of the same array call settle() before each read: zb_array_read sees the elements that
   are stored, and not those that wait in the writer for the rest of their chunk. GDAL's block cache
   may write blocks from any thread; all calls take turns. */
class PixelWriter {
  public:
    explicit PixelWriter(const zb_write_options &options) : options_(options) {
    }
    PixelWriter(const PixelWriter &) = delete;
    PixelWriter &operator=(const PixelWriter &) = delete;

    enum zb_code write(const NodePtr &array, const zb_write &write, zb_error *err);
    enum zb_code write_encoded(const NodePtr &array, const std::vector<zb_encoded> &chunks,
                               zb_error *err);

    /* Stores what waits, if any of it lies in chunks that the box touches. */
    enum zb_code settle(const Box &box, zb_error *err);

    enum zb_code flush(zb_error *err);

    /* Forgets what waits. */
    void abandon();

    /* True after a read has met chunks that waited. Then the program reads and writes by turns, and
       small writes are better kept in GDAL's block cache than stored before each read. */
    bool is_mixed() const {
        return mixed_;
    }

  private:
    enum zb_code open(const NodePtr &array, zb_error *err);

    zb_write_options options_;
    Writer writer_;
    std::recursive_mutex lock_scope_;
    bool mixed_ = false;
};

} // namespace zarr3

#endif
