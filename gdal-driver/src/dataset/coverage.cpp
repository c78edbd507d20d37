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
    return !is_distant(zb_node_hierarchy(array.node())) && !array.is_writable();
}

namespace {

/* What a walk over the stored chunks of a window finds. */
struct Found {
    const zb_node *array;
    const uint64_t *start, *count; /* of the window, along the array's dimensions */
    bool stops_at_data;            /* at the first stored chunk */
    uint64_t elements;             /* of the window, in stored chunks */
};

int take(void *context, const uint64_t *index, uint64_t /* bytes */) {
    auto *found = static_cast<Found *>(context);
    uint64_t inside = 1;
    for (uint32_t d = 0; d < zb_node_array(found->array)->ndim; d++) {
        const zb_chunk_span span = zb_array_chunk_at(found->array, ZB_GRID_INNER, d, index[d]);
        inside *= std::min(found->start[d] + found->count[d], span.start + span.extent) -
                  std::max(found->start[d], span.start);
    }
    found->elements += inside;
    return found->stops_at_data ? 1 : 0;
}

} // namespace

int coverage(const Array &array, const Layout &layout, int band, const Window &window,
             int stop_flags, double *percent) {
    static constexpr int kUnknown =
        GDAL_DATA_COVERAGE_STATUS_UNIMPLEMENTED | GDAL_DATA_COVERAGE_STATUS_DATA;
    if (!knows_coverage(array))
        return kUnknown;
    std::vector<uint64_t> start(array.info()->ndim), count(array.info()->ndim, 1);
    const std::vector<uint64_t> place = layout.band_index(band);
    for (size_t i = 0; i < place.size(); i++)
        start[layout.extra[i].dim] = place[i];
    const auto put = [&](int axis, int first, int extent) {
        if (axis < 0) /* a raster of one row */
            return;
        start[static_cast<size_t>(axis)] = static_cast<uint64_t>(first);
        count[static_cast<size_t>(axis)] = static_cast<uint64_t>(extent);
    };
    put(layout.axes.y, window.y, window.height);
    put(layout.axes.x, window.x, window.width);

    Found found = {array.node(), start.data(), count.data(),
                   (stop_flags & GDAL_DATA_COVERAGE_STATUS_DATA) != 0, 0};
    zb_error err;
    if (zb_array_stored_in(array.node(), start.data(), count.data(), take, &found, &err) != ZB_OK)
        return kUnknown; /* reading will tell what is wrong */
    const uint64_t all = static_cast<uint64_t>(window.width) * static_cast<uint64_t>(window.height);
    const bool was_stopped = found.elements > 0 && found.stops_at_data;
    if (percent != nullptr)
        *percent = was_stopped
                       ? -1
                       : 100.0 * static_cast<double>(found.elements) / static_cast<double>(all);
    return (found.elements > 0 ? GDAL_DATA_COVERAGE_STATUS_DATA : 0) |
           (found.elements < all && !was_stopped ? GDAL_DATA_COVERAGE_STATUS_EMPTY : 0);
}

} // namespace zarr3
