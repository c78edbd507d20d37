/* SPDX-License-Identifier: MIT */
/* GDAL's cache of blocks, as far as reads and writes past it have to know of it. */
#ifndef ZARR3_BLOCK_CACHE_H
#define ZARR3_BLOCK_CACHE_H

#include "dataset/pixel_request.h"

namespace zarr3 {

/* Bytes that all datasets together may have in it. Asked each time, because programs may change it
   while datasets are open. */
uint64_t cache_limit();

/* Bytes of a block. GDAL allocates it whole, also at the edges. */
uint64_t bytes_of_block(const Layout &layout, GDALDataType type);

/* Takes changed blocks out of the cache, or all when a write past the cache is to follow
   (`overwritten`); changed ones are written first, unless that write covers them. False, with the
   error reported, when that fails. */
bool empty_cache(GDALDataset *raster, const Layout &layout, const PixelRequest &request,
                 bool overwritten);

} // namespace zarr3

#endif
