/* SPDX-License-Identifier: MIT */
/*
 * The core's writer gathers parts of chunks and stores each chunk once. The set of chunks kept here
 * is a superset of those that wait in it: a chunk enters when a box touches it in part, and leaves
 * when a box covers it or when everything is flushed. One too many costs a flush that was not
 * needed; one too few would be stale pixels.
 */
#include "array/pixel_writer.h"

#include <algorithm>

#include "zarrbridge/write.h"

namespace zarr3 {

/* With more chunks open at once than this, keeping track would cost more than storing them. */
static constexpr size_t kMaxWaiting = 100000;

namespace {

/* Steps through the chunks that a box touches. */
class ChunkWalk {
  public:
    ChunkWalk(const zb_node *array, const Box &box) {
        for (uint32_t d = 0; d < box.start.size(); d++) {
            const uint64_t end = box.start[d] + (box.count[d] - 1) * box.step_along(d) + 1;
            dense_ = dense_ && (box.count[d] == 1 || box.step_along(d) == 1);
            const zb_chunk_span first = zb_array_chunk_of(array, ZB_GRID_CHUNKS, d, box.start[d]);
            const zb_chunk_span last = zb_array_chunk_of(array, ZB_GRID_CHUNKS, d, end - 1);
            first_.push_back(first.index);
            last_.push_back(last.index);
            first_covered_.push_back(first.start >= box.start[d]);
            last_covered_.push_back(last.start + last.inside <= end);
        }
        at = first_;
    }

    bool next() {
        for (size_t d = at.size(); d-- > 0;) {
            if (at[d]++ < last_[d])
                return true;
            at[d] = first_[d];
        }
        return false;
    }

    /* True if the box holds all of the current chunk's elements that lie in the array. Only the
       first and the last chunk along a dimension may reach out of the box. A box with steps holds
       no chunk's elements all. */
    bool covered() const {
        if (!dense_)
            return false;
        for (size_t d = 0; d < at.size(); d++) {
            if ((at[d] == first_[d] && !first_covered_[d]) ||
                (at[d] == last_[d] && !last_covered_[d]))
                return false;
        }
        return true;
    }

    std::vector<uint64_t> at;

  private:
    std::vector<uint64_t> first_, last_;
    std::vector<bool> first_covered_, last_covered_;
    bool dense_ = true;
};

} // namespace

void PixelWriter::note(const zb_node *array, const Box &box) {
    ChunkWalk walk(array, box);
    do {
        if (!walk.covered())
            waiting_.insert(walk.at);
        else if (!waiting_.empty())
            waiting_.erase(walk.at);
    } while (walk.next());
}

enum zb_code PixelWriter::write(const NodePtr &array, const Box &box, const zb_write &write,
                                zb_error *err) {
    const std::lock_guard<std::recursive_mutex> guard(turn_);
    if (writer_ == nullptr) {
        zb_writer *opened = nullptr;
        const enum zb_code code = zb_writer_open(array.get(), &options_, &opened, err);
        if (code != ZB_OK)
            return code;
        writer_.reset(opened);
        array_ = array;
    }
    note(array.get(), box);
    const enum zb_code code = zb_writer_write(writer_.get(), &write, err);
    return code == ZB_OK && waiting_.size() > kMaxWaiting ? flush(err) : code;
}

enum zb_code PixelWriter::settle(const Box &box, zb_error *err) {
    const std::lock_guard<std::recursive_mutex> guard(turn_);
    if (waiting_.empty())
        return ZB_OK;
    ChunkWalk walk(array_.get(), box);
    do {
        if (waiting_.count(walk.at) > 0) {
            mixed_ = true;
            return flush(err);
        }
    } while (walk.next());
    return ZB_OK;
}

enum zb_code PixelWriter::flush(zb_error *err) {
    const std::lock_guard<std::recursive_mutex> guard(turn_);
    const enum zb_code code = writer_ == nullptr ? ZB_OK : zb_writer_flush(writer_.get(), err);
    if (code == ZB_OK)
        waiting_.clear();
    return code;
}

void PixelWriter::abandon() {
    const std::lock_guard<std::recursive_mutex> guard(turn_);
    writer_.reset();
    waiting_.clear();
}

} // namespace zarr3
