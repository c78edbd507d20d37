/* SPDX-License-Identifier: MIT */
/* What an array says of the bytes of its chunks, in GDAL's words. */
#ifndef ZARR3_RAW_BLOCK_H
#define ZARR3_RAW_BLOCK_H

#include <string>

#include "base/compat.h"
#include "zarrbridge/zarrbridge.h"

namespace zarr3 {

/* The one compressor of the innermost chunks as JSON; "" where there is none, or something else
   stands behind the elements' bytes. */
std::string compressor_of(const zb_node *array);

/* What a reader of a raw block has to undo: ENDIANNESS, TRANSPOSE_ORDER, COMPRESSOR, and all CODECS
   where these do not tell it. */
CPLStringList raw_block_items(const zb_node *array);

/* The name of an object as GDAL's virtual files have it; "", with *reason set, where it has
   none. */
std::string object_file(const std::string &root, const std::string &key, std::string *reason);

} // namespace zarr3

#endif
