/* SPDX-License-Identifier: MIT */
#include "array/pixel_writer.h"

#include "zarrbridge/hidden_chunks.h"

namespace zarr3 {

enum zb_code PixelWriter::open(const NodePtr &array, zb_error *err) {
    if (writer_ != nullptr)
        return ZB_OK;
    zb_writer *opened = nullptr;
    const enum zb_code code = zb_writer_open(array.get(), &options_, &opened, err);
    writer_.reset(opened);
    return code;
}

enum zb_code PixelWriter::write(const NodePtr &array, const zb_write &write, zb_error *err) {
    const std::lock_guard<std::recursive_mutex> guard(lock_scope_);
    const enum zb_code code = open(array, err);
    return code != ZB_OK ? code : zb_writer_write(writer_.get(), &write, err);
}

enum zb_code PixelWriter::write_encoded(const NodePtr &array, const std::vector<zb_encoded> &chunks,
                                        zb_error *err) {
    const std::lock_guard<std::recursive_mutex> guard(lock_scope_);
    const bool is_first = writer_ == nullptr;
    const enum zb_code code = open(array, err);
    if (code == ZB_OK && is_first) /* a copy, into an array that it has just made */
        zb_writer_hide(writer_.get());
    return code != ZB_OK ? code
                         : zb_writer_put_encoded(writer_.get(), chunks.data(), chunks.size(), err);
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
