/* SPDX-License-Identifier: MIT */
/* Chunks of several extents as an option has them: lists like those of the `rectilinear` grid. */
#ifndef ZARR3_EXTENT_LISTS_H
#define ZARR3_EXTENT_LISTS_H

#include <string>
#include <vector>

#include "zarrbridge/array.h"

namespace zarr3 {

/* For each dimension the runs of its chunks; none where all have one extent. Empty: no dimension
   has any. */
using ChunkRuns = std::vector<std::vector<zb_chunk_run>>;

/* Reads "[31,28,31],512,[[100,8],24]": for each dimension, in the array's order, an extent, or a
   list of extents and of runs [extent, count]. extents gets the largest ones. False, with *reason
   set, when the text is not of that form. */
bool parse_extent_lists(const char *name, const char *text, std::vector<uint64_t> *extents,
                        ChunkRuns *runs, std::string *reason);

} // namespace zarr3

#endif
