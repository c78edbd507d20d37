/* SPDX-License-Identifier: MIT */
#include "array/pixel_writer.h"

namespace zarr3 {

enum zb_code PixelWriter::write(const NodePtr &array, const zb_write &write, zb_error *err) {
    const std::lock_guard<std::recursive_mutex> guard(lock_scope_);
    if (writer_ == nullptr) {
        zb_writer *opened = nullptr;
        const enum zb_code code = zb_writer_open(array.get(), &options_, &opened, err);
        if (code != ZB_OK)
            return code;
        writer_.reset(opened);
    }
    return zb_writer_write(writer_.get(), &write, err);
}

enum zb_code PixelWriter::settle(const Box &box, zb_error *err) {
    const std::lock_guard<std::recursive_mutex> guard(lock_scope_);
    if (writer_ == nullptr)
        return ZB_OK;
    std::vector<uint64_t> extent; /* from the first to the last element, steps included */
    for (size_t d = 0; d < box.count.size(); d++)
        extent.push_back((box.count[d] - 1) * box.step_along(d) + 1);
    if (!zb_writer_waits(writer_.get(), box.start.data(), extent.data()))
        return ZB_OK;
    mixed_ = true;
    return flush(err);
}

enum zb_code PixelWriter::flush(zb_error *err) {
    const std::lock_guard<std::recursive_mutex> guard(lock_scope_);
    return writer_ == nullptr ? ZB_OK : zb_writer_flush(writer_.get(), err);
}

void PixelWriter::abandon() {
    const std::lock_guard<std::recursive_mutex> guard(lock_scope_);
    writer_.reset();
}

} // namespace zarr3
