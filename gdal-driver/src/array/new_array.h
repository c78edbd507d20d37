/* SPDX-License-Identifier: MIT */
/* The form of a new array: dimensions, blocks (inner chunks), shards. */
#ifndef ZARR3_NEW_ARRAY_H
#define ZARR3_NEW_ARRAY_H

#include <string>
#include <vector>

#include "base/extent_lists.h"
#include "store/node.h"

namespace zarr3 {

struct NewArray {
    std::vector<std::string> names;            /* of the dimensions, in array order; "": none */
    std::vector<uint64_t> shape, block, shard; /* shard is empty when there are none */
    ChunkRuns runs; /* of the shards, or of the blocks where there are no shards */
    zb_dtype dtype = {};
    std::string codecs;
    std::string key_encoding; /* of chunks, as zb_array_spec has it; "": `default` with separator */
    char separator = '/';

    /* Creates it, with fill_value (one element) or zero, and with attributes (JSON) or "". */
    enum zb_code create(zb_hierarchy *hierarchy, const std::string &path,
                        const std::vector<unsigned char> &fill_value, const std::string &attributes,
                        NodePtr *out, zb_error *err) const;
};

} // namespace zarr3

#endif
