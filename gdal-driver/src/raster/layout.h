/* SPDX-License-Identifier: MIT */
/*
 * How an array of any rank appears as a raster: two dimensions are its columns and rows, and each
 * combination of indices of the others ("extra" dimensions, in array order, the last one fastest)
 * is a band. Dimensions can also be pinned to an index or a range (`:i:j-k` in a connection
 * string).
 */
#ifndef ZARR3_LAYOUT_H
#define ZARR3_LAYOUT_H

#include <cstdint>
#include <string>
#include <vector>

#include "base/index_range.h"
#include "raster/axes.h"

namespace zarr3 {

/* The number of bands that GDAL allows a dataset by default. */
constexpr uint64_t kMaxBands = 65536;

struct ExtraDimension {
    uint32_t dim;
    uint64_t start; /* the first index that is shown */
    uint64_t count; /* how many are: the extent, unless pinned */
    uint64_t chunk; /* the inner chunk's extent; 1 when one index is pinned */
    uint64_t shard; /* that of the chunk under one key, likewise */
};

struct Layout {
    Axes axes;
    int width = 1, height = 1;
    int block_width = 1, block_height = 1;
    bool shows_shards = false; /* blocks are shards, not inner chunks */
    int bands = 1;
    int chunk_bands = 1; /* bands that share an inner chunk that the edge does not cut */
    /* What lies under one key, without shards a block; of the largest where they differ. */
    int shard_width = 1, shard_height = 1, shard_bands = 1;
    std::vector<ExtraDimension> extra;

    /* The index along each extra dimension of a band (from 0). */
    std::vector<uint64_t> band_index(int band) const;

    /* The number of a band (both from 0) among all bands of the array, of which a slice shows
       some. */
    uint64_t number_in_array(const zb_array_info *info, int band) const;

    /* The bands, from 0 and ascending, whose pixels lie in the same inner chunks as those of
       `band`, itself included: reading one of them decodes them all. */
    std::vector<int> chunk_mates(int band) const;

    /* Likewise, those under the same keys. */
    std::vector<int> shard_mates(int band) const;

  private:
    std::vector<int> mates(int band, uint64_t ExtraDimension::*unit) const;
};

/* Lays out the array. With `pinned` not empty there must be one range for each extra dimension.
   False, with *reason set, when GDAL cannot hold the result. */
bool make_layout(const zb_array_info *info, const Axes &axes, const IndexRanges &pinned,
                 bool shows_shards, Layout *layout, std::string *reason);

/* The number of bands that make_layout would give without pinning; saturates at UINT64_MAX. */
uint64_t count_bands(const zb_array_info *info, const Axes &axes);

} // namespace zarr3

#endif
