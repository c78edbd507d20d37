/* SPDX-License-Identifier: MIT */
/*
 * Which parts of a raster are stored at all. GDAL asks it to copy sparse rasters without reading
 * what is empty. The answer counts pixels by their chunks: a chunk that is not there reads as the
 * fill value.
 */
#include "dataset/coverage.h"

#include <algorithm>

#include "base/compat.h"
#include "store/network.h"

#include "zarrbridge/read.h"

namespace zarr3 {

/* Neither every answer nor every place is worth the questions: each costs a look at a directory,
   and far away a request. Pixels that wait are not in the store yet. */
static bool knows_coverage(const Array &array) {
    return !is_distant(zb_node_store(array.node())) && !array.is_writable();
}

namespace {

/* The innermost chunks along the rows or columns of a window. */
class ChunkRow {
  public:
    ChunkRow(const zb_node *array, int axis, int start, int count)
        : array_(array), axis_(axis), start_(static_cast<uint64_t>(start)),
          end_(static_cast<uint64_t>(start) + static_cast<uint64_t>(count)) {
        first();
    }

    void first() {
        if (axis_ >= 0)
            span_ = zb_array_chunk_of(array_, ZB_GRID_INNER, static_cast<uint32_t>(axis_), start_);
        past_ = false;
    }
    void next() {
        past_ = axis_ < 0 || span_.start + span_.extent >= end_;
        if (!past_)
            span_ = zb_array_chunk_at(array_, ZB_GRID_INNER, static_cast<uint32_t>(axis_),
                                      span_.index + 1);
    }
    bool past() const {
        return past_;
    }
    /* Elements of the window in the chunk. */
    uint64_t inside() const {
        return axis_ < 0
                   ? 1
                   : std::min(end_, span_.start + span_.extent) - std::max(start_, span_.start);
    }
    void put(std::vector<uint64_t> *index) const {
        if (axis_ >= 0)
            (*index)[static_cast<size_t>(axis_)] = span_.index;
    }

  private:
    const zb_node *array_;
    int axis_; /* -1: the raster has but one row */
    uint64_t start_, end_;
    zb_chunk_span span_ = {};
    bool past_ = false;
};

} // namespace

int coverage(const Array &array, const Layout &layout, int band, const Window &window, int stop,
             double *percent) {
    static constexpr int kUnknown =
        GDAL_DATA_COVERAGE_STATUS_UNIMPLEMENTED | GDAL_DATA_COVERAGE_STATUS_DATA;
    const zb_node *node = array.node();
    if (!knows_coverage(array))
        return kUnknown;
    std::vector<uint64_t> index(array.info()->ndim);
    const std::vector<uint64_t> place = layout.band_index(band);
    for (size_t i = 0; i < place.size(); i++) {
        const uint32_t dim = layout.extra[i].dim;
        index[dim] = zb_array_chunk_of(node, ZB_GRID_INNER, dim, place[i]).index;
    }
    int status = 0;
    uint64_t stored = 0;
    ChunkRow rows(node, layout.axes.y, window.y, window.height);
    ChunkRow columns(node, layout.axes.x, window.x, window.width);
    for (; !rows.past(); rows.next()) {
        rows.put(&index);
        for (columns.first(); !columns.past(); columns.next()) {
            zb_error err;
            uint64_t bytes = 0;
            columns.put(&index);
            if (zb_array_chunk_stored(node, index.data(), &bytes, &err) != ZB_OK)
                return kUnknown; /* reading will tell what is wrong */
            stored += bytes > 0 ? rows.inside() * columns.inside() : 0;
            status |= bytes > 0 ? GDAL_DATA_COVERAGE_STATUS_DATA : GDAL_DATA_COVERAGE_STATUS_EMPTY;
            if ((status & stop) != 0) {
                if (percent != nullptr)
                    *percent = -1;
                return status;
            }
        }
    }
    if (percent != nullptr)
        *percent = 100.0 * static_cast<double>(stored) /
                   (static_cast<double>(window.width) * window.height);
    return status;
}

} // namespace zarr3
