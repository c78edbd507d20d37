/* SPDX-License-Identifier: MIT */
/*
 * The tiles of a GeoTIFF as its file has them, for copies that do not encode them again. GDAL's
 * GTiff driver tells where they lie (metadata domain TIFF) and what was done to them (domain
 * IMAGE_STRUCTURE).
 */
#ifndef ZARR3_TIFF_TILES_H
#define ZARR3_TIFF_TILES_H

#include <string>

#include "base/handles.h"
#include "gdal_priv.h"

namespace zarr3 {

struct TiffTiles {
    /* Of Zarr, that their bytes went through: "zstd" or "numcodecs.zlib". */
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

/* Of a raster in `file`, which GDAL's GTiff driver reads. False, with *reason set, where tiles are
   not to be had, or are more than samples and one codec: predictors, samples of other sizes than
   GDAL's types, colours that GDAL converts. */
bool find_tiff_tiles(GDALDataset *dataset, VSILFILE *file, TiffTiles *tiles, std::string *reason);

/* False where GDAL does not tell, as for a tile that is not stored. */
bool find_tile(GDALRasterBand *band, int column, int row, TilePlace *place);

/*
 * The file of a GeoTIFF that a program has open, opened once more: what the program has may be a
 * view of it (open option OVERVIEW_LEVEL), or the file may have been replaced since. Pixels and
 * tiles of a copy come from the same file, this one.
 */
class TiffFile {
  public:
    explicit TiffFile(GDALDataset *source);

    /* Null, with a reason, where there is no such file, or it is not what the program has. */
    GDALDataset *raster() const {
        return raster_.get();
    }
    /* The raster of an overview that is in the file, or null. */
    GDALDataset *level(int number) const;
    VSILFILE *file() const {
        return file_.get();
    }
    const std::string &reason() const {
        return reason_;
    }

  private:
    bool open(GDALDataset *source);

    GDALDatasetUniquePtr raster_;
    FileHandle file_;
    std::string reason_;
};

} // namespace zarr3

#endif
