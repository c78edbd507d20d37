/* SPDX-License-Identifier: MIT */
/*
 * The layout is computed once and then answers for every request which box of the array is meant.
 * It allocates nothing that grows with the array: dimensions are bounded by what the core accepts,
 * bands by kMaxBands, and the number of blocks is GDAL's business, whose cache is sparse.
 */
#include "raster/layout.h"

#include <algorithm>
#include <climits>

#include "array/dimension_names.h"
#include "array/types.h"

namespace zarr3 {

/* Mixed-radix digits of the band number, the last dimension being the lowest digit. */
std::vector<uint64_t> Layout::band_index(int band) const {
    std::vector<uint64_t> index(extra.size());
    uint64_t rest = static_cast<uint64_t>(band);
    for (size_t i = extra.size(); i-- > 0;) {
        index[i] = extra[i].start + rest % extra[i].count;
        rest /= extra[i].count;
    }
    return index;
}

uint64_t Layout::number_in_array(const zb_array_info *info, int band) const {
    uint64_t number = 0;
    const std::vector<uint64_t> index = band_index(band);
    for (size_t i = 0; i < index.size(); i++)
        number = number * info->shape[extra[i].dim] + index[i];
    return number;
}

std::vector<int> Layout::chunk_mates(int band) const {
    return mates(band, &ExtraDimension::chunk);
}

std::vector<int> Layout::shard_mates(int band) const {
    return mates(band, &ExtraDimension::shard);
}

std::vector<int> Layout::mates(int band, uint64_t ExtraDimension::*unit) const {
    /* Builds the band numbers digit by digit: each dimension multiplies the list by the indices
       that lie in the same chunk. Ascending, because the highest digit goes first. */
    std::vector<uint64_t> mates = {0};
    const std::vector<uint64_t> index = band_index(band);
    for (size_t i = 0; i < extra.size(); i++) {
        const ExtraDimension &dim = extra[i];
        uint64_t first = 0, last = 0; /* from dim.start */
        if (dim.count > 1) {
            const uint64_t chunk = index[i] / (dim.*unit) * (dim.*unit);
            first = std::max(chunk, dim.start) - dim.start;
            last = std::min(chunk + dim.*unit - dim.start, dim.count) - 1;
        }
        std::vector<uint64_t> next;
        for (const uint64_t mate : mates) {
            for (uint64_t at = first; at <= last; at++)
                next.push_back(mate * dim.count + at);
        }
        mates = std::move(next);
    }
    return std::vector<int>(mates.begin(), mates.end());
}

/* GDAL counts pixels in int, and a raster has at least one. */
static bool extent_fits(const zb_array_info *info, int dim, int *extent, std::string *reason) {
    if (dim < 0)
        return true;
    const uint64_t value = info->shape[dim];
    if (value == 0) {
        *reason = "dimension " + std::to_string(dim) + " has extent 0, a raster needs a pixel";
        return false;
    }
    if (value > INT_MAX) {
        *reason = "dimension " + std::to_string(dim) + " has extent " + std::to_string(value) +
                  ", rasters end at " + std::to_string(INT_MAX);
        return false;
    }
    *extent = static_cast<int>(value);
    return true;
}

/* A chunk may be larger than its array; a block need not be. */
static int chunk_extent(const uint64_t *chunk_shape, int dim, int extent) {
    if (dim < 0)
        return 1;
    return static_cast<int>(std::min<uint64_t>(chunk_shape[dim], static_cast<uint64_t>(extent)));
}

static bool is_extra(const Axes &axes, uint32_t dim) {
    return static_cast<int>(dim) != axes.x && static_cast<int>(dim) != axes.y;
}

uint64_t count_bands(const zb_array_info *info, const Axes &axes) {
    uint64_t bands = 1;
    for (uint32_t dim = 0; dim < info->ndim; dim++) {
        if (is_extra(axes, dim) && __builtin_mul_overflow(bands, info->shape[dim], &bands))
            return UINT64_MAX;
    }
    return bands;
}

static std::string plural(size_t count, const char *one, const char *many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

/* One entry for each extra dimension, pinned or not, so that a slice still knows where it lies. */
static bool add_extra(const zb_array_info *info, const IndexRanges &pinned, Layout *layout,
                      std::string *reason) {
    for (uint32_t dim = 0; dim < info->ndim; dim++) {
        if (is_extra(layout->axes, dim)) {
            const uint64_t extent = info->shape[dim];
            layout->extra.push_back({dim, 0, extent, std::min(info->inner_shape[dim], extent),
                                     std::min(info->chunk_shape[dim], extent)});
        }
    }
    if (pinned.empty())
        return true;
    if (pinned.size() != layout->extra.size()) {
        *reason = "the name has " + plural(pinned.size(), "index", "indices") + ", the array has " +
                  plural(layout->extra.size(), "dimension", "dimensions") +
                  " besides rows and columns";
        return false;
    }
    for (size_t i = 0; i < pinned.size(); i++) {
        ExtraDimension &extra = layout->extra[i];
        if (pinned[i].last >= extra.count) {
            *reason = "the index " + std::to_string(pinned[i].last) +
                      " in the name is beyond dimension " + std::to_string(extra.dim) + " (" +
                      dimension_label(info, extra.dim) + "), whose extent is " +
                      std::to_string(extra.count);
            return false;
        }
        const uint64_t count = pinned[i].last - pinned[i].first + 1;
        extra = {extra.dim, pinned[i].first, count, count == 1 ? 1 : extra.chunk,
                 count == 1 ? 1 : extra.shard};
    }
    return true;
}

static uint64_t bands_of(const Layout &layout) {
    uint64_t bands = 1;
    for (const ExtraDimension &extra : layout.extra) {
        if (__builtin_mul_overflow(bands, extra.count, &bands))
            return UINT64_MAX;
    }
    return bands;
}

/* GDAL counts the bytes of a block in int. Those of inner chunks are bounded by the limit
   chunk_bytes. */
static bool block_fits(const zb_array_info *info, const Layout &layout, std::string *reason) {
    const uint64_t pixels =
        static_cast<uint64_t>(layout.block_width) * static_cast<uint64_t>(layout.block_height);
    if (!layout.shows_shards || pixels <= INT_MAX / std::max<uint64_t>(info->dtype.size, 1))
        return true;
    *reason = "a shard of " + std::to_string(layout.block_width) + " x " +
              std::to_string(layout.block_height) +
              " pixels is larger than a block of GDAL may be (2 GiB); open it without SHOW=SHARDS";
    return false;
}

bool make_layout(const zb_array_info *info, const Axes &axes, const IndexRanges &pinned,
                 bool shows_shards, Layout *layout, std::string *reason) {
    *layout = Layout();
    layout->axes = axes;
    layout->shows_shards = shows_shards && info->shard_depth > 0;
    *reason = without_type(info->dtype);
    if (!reason->empty())
        return false;
    if (!extent_fits(info, axes.x, &layout->width, reason) ||
        !extent_fits(info, axes.y, &layout->height, reason) ||
        !add_extra(info, pinned, layout, reason))
        return false;
    const uint64_t *block = layout->shows_shards ? info->chunk_shape : info->inner_shape;
    layout->block_width = chunk_extent(block, axes.x, layout->width);
    layout->block_height = chunk_extent(block, axes.y, layout->height);
    if (!block_fits(info, *layout, reason))
        return false;
    layout->shard_width = chunk_extent(info->chunk_shape, axes.x, layout->width);
    layout->shard_height = chunk_extent(info->chunk_shape, axes.y, layout->height);
    /* At most kMaxBands from here on, so that the products of counts fit an int. */
    const uint64_t bands = bands_of(*layout);
    if (bands == 0) {
        *reason = "a dimension has extent 0, a raster needs a band";
        return false;
    }
    if (bands > kMaxBands) {
        *reason = std::to_string(bands) + " bands, more than the " + std::to_string(kMaxBands) +
                  " that GDAL allows; name one slice (\":i\" after the array) or some in a row "
                  "(\":i-j\"), or list them with MULTIBAND=NO";
        return false;
    }
    layout->bands = static_cast<int>(bands);
    for (const ExtraDimension &extra : layout->extra) { /* products of at most `bands` */
        layout->chunk_bands *= static_cast<int>(std::min(extra.chunk, extra.count));
        layout->shard_bands *= static_cast<int>(std::min(extra.shard, extra.count));
    }
    return true;
}

} // namespace zarr3
