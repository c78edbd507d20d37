/* SPDX-License-Identifier: MIT */
/*
 * Defaults for options that are not given. A block is the least that a reader decodes: 512 x 512
 * pixels serve both a viewer's windows and whole reads, with all samples of a pixel together or one
 * band alone. Where a raster is thinner than that, blocks grow along its other extent instead, so
 * that none is so small that its overhead counts. Shards keep the number of files low where it
 * would matter, and are small enough to be gathered in memory several at a time.
 */
#include "create/array_plan.h"

#include <algorithm>
#include <climits>

#include "array/new_array.h"
#include "array/types.h"
#include "raster/layout.h"

namespace zarr3 {

static constexpr uint64_t kBlockEdge = 512;
static constexpr uint64_t kBlockPixels = kBlockEdge * kBlockEdge;
static constexpr uint64_t kMaxBlockBytes = uint64_t{16} << 20; /* of a default block */
static constexpr uint64_t kShardBytes = uint64_t{64} << 20;
static constexpr uint64_t kShardAbove = uint64_t{256} << 20; /* bytes of an array without shards */

/* Places of the dimensions; band is -1 for a single band. */
namespace {
struct Places {
    int band, y, x;
};
} // namespace

static Places places_of(int bands, bool pixel_interleave) {
    if (bands == 1)
        return {-1, 0, 1};
    return pixel_interleave ? Places{2, 0, 1} : Places{0, 1, 2};
}

static uint64_t product(const std::vector<uint64_t> &extents) {
    uint64_t result = 1;
    for (const uint64_t extent : extents) {
        if (__builtin_mul_overflow(result, extent, &result))
            return UINT64_MAX;
    }
    return result;
}

static uint64_t &at(std::vector<uint64_t> &extents, int place) {
    return extents[static_cast<size_t>(place)];
}

/* The largest power of two that is not above the value. */
static uint64_t power_below(uint64_t value) {
    uint64_t power = 1;
    while (power <= value / 2)
        power *= 2;
    return power;
}

static void default_block(NewArray *array, const Places &places, bool pixel_interleave) {
    array->block = array->shape;
    uint64_t &x = at(array->block, places.x), &y = at(array->block, places.y);
    const uint64_t width = x, height = y;
    x = std::min(width, kBlockEdge);
    y = std::min(height, kBlockEdge);
    if (y < kBlockEdge)
        x = std::min(width, power_below(kBlockPixels / y));
    else if (x < kBlockEdge)
        y = std::min(height, power_below(kBlockPixels / x));
    if (places.band >= 0 && !pixel_interleave)
        at(array->block, places.band) = 1;
    while (product(array->block) > kMaxBlockBytes / array->dtype.size && (x > 64 || y > 64)) {
        uint64_t &longer = x > y ? x : y;
        longer = (longer + 1) / 2;
    }
}

/* Doubles the extents in turn, first along rows and columns, then over bands. */
static void default_shard(NewArray *array, const Places &places) {
    const uint64_t bytes = product(array->block) * array->dtype.size;
    const uint64_t total = product(array->shape);
    if (total <= kShardAbove / array->dtype.size || bytes > kShardBytes / 2)
        return;
    uint64_t room = kShardBytes / bytes;
    std::vector<uint64_t> shard = array->block;
    const auto grow = [&](int place) {
        if (room < 2 || at(shard, place) >= at(array->shape, place))
            return false;
        at(shard, place) *= 2;
        room /= 2;
        return true;
    };
    for (bool grown = true; grown;) {
        grown = grow(places.x);
        grown = grow(places.y) || grown;
    }
    while (places.band >= 0 && grow(places.band)) {
    }
    if (shard != array->block)
        array->shard = shard;
}

/* Two extents are rows and columns; those of bands then follow `bands`. */
static bool take_extents(const char *name, const std::vector<uint64_t> &given, const Places &places,
                         uint64_t bands, std::vector<uint64_t> *extents, std::string *reason) {
    const size_t ndim = places.band >= 0 ? 3 : 2;
    if (given.size() != 2 && given.size() != ndim) {
        *reason = std::string(name) + " has " + std::to_string(given.size()) +
                  " extents, the array has " + std::to_string(ndim) + " dimensions";
        return false;
    }
    *extents = given;
    if (given.size() < ndim)
        extents->insert(extents->begin() + places.band, bands);
    return true;
}

static std::string text_of(const std::vector<uint64_t> &extents) {
    std::string text;
    for (const uint64_t extent : extents)
        text += (text.empty() ? "" : " x ") + std::to_string(extent);
    return text;
}

/* The limits are the reader's: what is written must be readable with the defaults. */
static bool check_shapes(const NewArray &array, std::string *reason) {
    const uint64_t limit = zb_limits_get()->chunk_bytes;
    if (product(array.block) > limit / array.dtype.size) {
        *reason = "a block of " + text_of(array.block) +
                  " elements exceeds the limit chunk_bytes of " + std::to_string(limit) + " bytes";
        return false;
    }
    if (array.shard.empty())
        return true;
    uint64_t inner = 1;
    for (size_t d = 0; d < array.shard.size(); d++) {
        if (array.shard[d] % array.block[d] != 0) {
            *reason = "a shard of " + text_of(array.shard) +
                      " elements is no multiple of the block, " + text_of(array.block);
            return false;
        }
        if (__builtin_mul_overflow(inner, array.shard[d] / array.block[d], &inner))
            inner = UINT64_MAX;
    }
    const uint64_t index_limit = zb_limits_get()->index_bytes;
    if (inner > (index_limit - 4) / 16) {
        *reason = "a shard of " + std::to_string(inner) +
                  " blocks needs an index above the limit index_bytes of " +
                  std::to_string(index_limit) + " bytes";
        return false;
    }
    return true;
}

bool plan_array(const RasterShape &raster, const CreationOptions &options, NewArray *array,
                std::string *reason) {
    array->dtype = memory_dtype(raster.type);
    if (array->dtype.size == 0) {
        *reason = std::string("GDAL's type ") + GDALGetDataTypeName(raster.type) +
                  " has no Zarr form" +
                  (GDALDataTypeIsComplex(raster.type) ? "; CFloat32 has" : "");
        return false;
    }
    if (raster.bands < 1 || static_cast<uint64_t>(raster.bands) > kMaxBands) {
        *reason =
            std::to_string(raster.bands) + " bands; a raster has 1 to " + std::to_string(kMaxBands);
        return false;
    }
    const Places places = places_of(raster.bands, options.pixel_interleave);
    array->codecs = options.codecs;
    array->separator = options.separator;
    array->shape.resize(places.band >= 0 ? 3 : 2);
    array->names.resize(array->shape.size());
    at(array->shape, places.x) = static_cast<uint64_t>(raster.width);
    at(array->shape, places.y) = static_cast<uint64_t>(raster.height);
    array->names[static_cast<size_t>(places.x)] = "x";
    array->names[static_cast<size_t>(places.y)] = "y";
    if (places.band >= 0) {
        at(array->shape, places.band) = static_cast<uint64_t>(raster.bands);
        array->names[static_cast<size_t>(places.band)] = "band";
    }
    const uint64_t block_bands = options.pixel_interleave ? static_cast<uint64_t>(raster.bands) : 1;
    if (options.block.empty())
        default_block(array, places, options.pixel_interleave);
    else if (!take_extents("BLOCKSIZE", options.block, places, block_bands, &array->block, reason))
        return false;
    if (options.sharding == Sharding::Auto)
        default_shard(array, places);
    else if (options.sharding == Sharding::Given &&
             !take_extents("SHARD", options.shard, places,
                           places.band >= 0 ? at(array->block, places.band) : 1, &array->shard,
                           reason))
        return false;
    return check_shapes(*array, reason);
}

} // namespace zarr3
