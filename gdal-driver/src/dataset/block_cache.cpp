/* SPDX-License-Identifier: MIT */
#include "dataset/block_cache.h"

#include <algorithm>

namespace zarr3 {

uint64_t cache_limit() {
    return static_cast<uint64_t>(std::max<GIntBig>(GDALGetCacheMax64(), 0));
}

uint64_t bytes_of_block(const Layout &layout, GDALDataType type) {
    return static_cast<uint64_t>(layout.block_width) * static_cast<uint64_t>(layout.block_height) *
           static_cast<uint64_t>(GDALGetDataTypeSizeBytes(type));
}

bool empty_cache(GDALDataset *raster, const Layout &layout, const PixelRequest &request,
                 bool overwritten) {
    const Window &w = request.window;
    const BlockRange range = blocks_of(layout, w);
    for (int i = 0; i < request.band_count; i++) {
        GDALRasterBand *band = raster->GetRasterBand(request.bands[i]);
        for (int y = range.y0; y <= range.y1; y++) {
            for (int x = range.x0; x <= range.x1; x++) {
                GDALRasterBlock *block = band->TryGetLockedBlockRef(x, y);
                if (block == nullptr)
                    continue;
                const bool changed = block->GetDirty();
                block->DropLock();
                if (!changed && !overwritten)
                    continue;
                const bool covered = overwritten && contains(w, block_window(layout, x, y));
                if (band->FlushBlock(x, y, !covered) != CE_None)
                    return false;
            }
        }
    }
    return true;
}

} // namespace zarr3
