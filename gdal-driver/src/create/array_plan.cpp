/* SPDX-License-Identifier: MIT */
#include "create/array_plan.h"

#include <algorithm>
#include <climits>

#include "array/new_array.h"
#include "array/types.h"
#include "raster/layout.h"
#include "zarrbridge/conventions.h"

#include "zarrbridge/change.h"
#include "zarrbridge/limits.h"

namespace zarr3 {

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

static std::vector<enum zb_role> roles_of(const Places &places, bool pixel_interleave) {
    std::vector<enum zb_role> roles(places.band >= 0 ? 3 : 2, ZB_ROLE_PLANE);
    if (places.band >= 0)
        roles[static_cast<size_t>(places.band)] =
            pixel_interleave ? ZB_ROLE_SAMPLES : ZB_ROLE_SERIES;
    return roles;
}

static void default_block(NewArray *array, const std::vector<enum zb_role> &roles) {
    array->block.resize(array->shape.size());
    zb_default_chunk(static_cast<uint32_t>(roles.size()), array->shape.data(), array->dtype.size,
                     roles.data(), array->block.data());
}

static void default_shard(NewArray *array, const std::vector<enum zb_role> &roles) {
    std::vector<uint64_t> shard(array->shape.size());
    if (zb_default_shard(static_cast<uint32_t>(roles.size()), array->shape.data(),
                         array->dtype.size, roles.data(), array->block.data(), shard.data()))
        array->shard = shard;
}

/* Two extents are those of the plane; along other dimensions they follow `others`. */
static bool take_extents(const char *name, const std::vector<uint64_t> &given,
                         const ChunkRuns &given_runs, const std::vector<enum zb_role> &roles,
                         const std::vector<uint64_t> &others, std::vector<uint64_t> *extents,
                         ChunkRuns *runs, std::string *reason) {
    const size_t ndim = roles.size();
    const bool has_plane = std::count(roles.begin(), roles.end(), ZB_ROLE_PLANE) == 2;
    if (!(has_plane && given.size() == 2) && given.size() != ndim) {
        *reason = std::string(name) + " has " + std::to_string(given.size()) +
                  " extents, the array has " + std::to_string(ndim) + " dimensions" +
                  (has_plane ? "; WIDTHxHEIGHT or ROWS,COLUMNS are those of the plane" : "");
        return false;
    }
    *extents = given;
    if (!given_runs.empty())
        *runs = given_runs;
    for (size_t d = 0; given.size() < ndim && d < ndim; d++) {
        if (roles[d] == ZB_ROLE_PLANE)
            continue;
        extents->insert(extents->begin() + static_cast<std::ptrdiff_t>(d), others[d]);
        if (!given_runs.empty())
            runs->insert(runs->begin() + static_cast<std::ptrdiff_t>(d),
                         std::vector<zb_chunk_run>());
    }
    return true;
}

static std::string text_of(const std::vector<uint64_t> &extents) {
    std::string text;
    for (const uint64_t extent : extents)
        text += (text.empty() ? "" : " x ") + std::to_string(extent);
    return text;
}

/* True if each shard along the dimension is a multiple of the block. */
static bool is_divided(const NewArray &array, size_t d) {
    const uint64_t block = array.block[d];
    return array.shard[d] % block == 0 &&
           (array.runs.empty() ||
            std::all_of(array.runs[d].begin(), array.runs[d].end(),
                        [block](const zb_chunk_run &run) { return run.extent % block == 0; }));
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
        if (!is_divided(array, d)) {
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

bool plan_chunks(const CreationOptions &options, const std::vector<enum zb_role> &roles,
                 uint64_t depth, NewArray *array, std::string *reason) {
    const std::vector<uint64_t> others(roles.size(), depth);
    if (options.block.empty())
        default_block(array, roles);
    else if (!take_extents("BLOCKSIZE", options.block, options.block_runs, roles, others,
                           &array->block, &array->runs, reason))
        return false;
    if (options.sharding == Sharding::Given && !array->runs.empty()) {
        *reason = "BLOCKSIZE has lists, and the blocks of a shard have one extent: give the lists "
                  "to SHARD";
        return false;
    }
    if (options.sharding == Sharding::Auto && array->runs.empty())
        default_shard(array, roles);
    else if (options.sharding == Sharding::Given &&
             !take_extents("SHARD", options.shard, options.shard_runs, roles, array->block,
                           &array->shard, &array->runs, reason))
        return false;
    return check_shapes(*array, reason);
}

/* `codecs` behind the differences of neighbours. Those of floats are of their bits, which loses
   nothing; the identity in front is for numcodecs, whose decoded differences are integers until
   another codec views them as the floats that they are. */
static std::string with_differences(zb_dtype dtype, const std::string &codecs) {
    const std::string size = std::to_string(dtype.size) + "\"";
    const bool is_float = dtype.kind == ZB_KIND_FLOAT;
    std::string text = "[";
    if (is_float)
        text += R"({"name":"numcodecs.astype","configuration":{"encode_dtype":"<f)" + size +
                R"(,"decode_dtype":"<f)" + size + "}},";
    text += R"({"name":"numcodecs.delta","configuration":{"dtype":"<)" +
            std::string(dtype.kind == ZB_KIND_INT ? "i" : "u") + size + "}}";
    return text + (codecs == "[]" ? "" : ",") + codecs.substr(1);
}

static std::string planned_codecs(const CreationOptions &options, zb_dtype dtype) {
    const bool is_integer = dtype.kind == ZB_KIND_INT || dtype.kind == ZB_KIND_UINT;
    const bool is_delta =
        options.predictor == Predictor::Delta && (is_integer || dtype.kind == ZB_KIND_FLOAT);
    const bool is_sorted = !options.sorted_codecs.empty() && dtype.size > 1 &&
                           (options.predictor == Predictor::Shuffle ||
                            (options.predictor == Predictor::Delta && !is_integer));
    const std::string &codecs = is_sorted ? options.sorted_codecs : options.codecs;
    return is_delta ? with_differences(dtype, codecs) : codecs;
}

void plan_form(const CreationOptions &options, NewArray *array) {
    array->codecs = planned_codecs(options, array->dtype);
    array->separator = options.separator;
    array->key_encoding = options.key_encoding;
    if (!options.fortran_order || array->shape.size() < 2)
        return;
    std::string order;
    for (size_t d = array->shape.size(); d-- > 0;)
        order += std::to_string(d) + (d > 0 ? "," : "");
    const bool has_others = array->codecs.find('{') != std::string::npos;
    array->codecs = R"([{"name":"transpose","configuration":{"order":[)" + order + "]}}" +
                    (has_others ? "," : "") + array->codecs.substr(1);
}

static bool is_float(GDALDataType type) {
    return GDALDataTypeIsFloating(type) != FALSE;
}

bool plan_array(const RasterShape &raster, const CreationOptions &options, NewArray *array,
                std::string *reason) {
    array->dtype = memory_dtype(raster.type);
    if (array->dtype.size == 0) {
        *reason =
            std::string("GDAL's type ") + GDALGetDataTypeName(raster.type) + " has no Zarr form";
        return false;
    }
    if (raster.bands < 1 || static_cast<uint64_t>(raster.bands) > kMaxBands) {
        *reason =
            std::to_string(raster.bands) + " bands; a raster has 1 to " + std::to_string(kMaxBands);
        return false;
    }
    const Places places = places_of(raster.bands, options.pixel_interleave);
    array->shape.resize(places.band >= 0 ? 3 : 2);
    CreationOptions form = options;
    if (options.predictor == Predictor::Auto)
        form.predictor = is_float(raster.type) ? Predictor::Shuffle : Predictor::None;
    plan_form(form, array);
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
    const std::vector<enum zb_role> roles = roles_of(places, options.pixel_interleave);
    return plan_chunks(options, roles, block_bands, array, reason);
}

} // namespace zarr3
