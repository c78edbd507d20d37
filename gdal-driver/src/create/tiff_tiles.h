/* SPDX-License-Identifier: MIT */
/*
 * The tiles of a GeoTIFF as its file has them, for copies that do not encode them again. GDAL's
 * GTiff driver tells where they lie (metadata domain TIFF) and what was done to them (domain
 * IMAGE_STRUCTURE).
 */
#ifndef ZARR3_TIFF_TILES_H
#define ZARR3_TIFF_TILES_H

#include <string>

#include "gdal_priv.h"

namespace zarr3 {

struct TiffTiles {
    std::string file; /* that they lie in */
    /* Of Zarr, that their bytes went through: "zstd", "numcodecs.zlib", or "". */
    std::string codec;
    bool big_endian = false;
    int width = 0, height = 0;    /* of a tile; those at the edges have all of it, too */
    bool has_all_bands = false;   /* a tile has the samples of all bands, pixel by pixel */
    bool last_row_is_cut = false; /* of strips */
};

/* Where a tile lies in the file. */
struct TilePlace {
    uint64_t offset, size;
};

/* `file`: where GDAL reads the dataset from. False, with *reason set, where tiles are not to be had,
   or are more than samples and one codec: predictors, samples of other sizes than GDAL's types,
   colours that GDAL converts. */
bool find_tiff_tiles(GDALDataset *dataset, const std::string &file, TiffTiles *tiles,
                     std::string *reason);

/* False where GDAL does not tell, as for a tile that is not stored. */
bool find_tile(GDALRasterBand *band, int column, int row, TilePlace *place);

} // namespace zarr3

#endif
