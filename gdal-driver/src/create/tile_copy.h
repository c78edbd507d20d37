/* SPDX-License-Identifier: MIT */
/*
 * Tiles of a GeoTIFF that become chunks, or inner chunks of shards, as they are: nothing is decoded
 * but to check it, and nothing encoded.
 */
#ifndef ZARR3_TILE_COPY_H
#define ZARR3_TILE_COPY_H

#include <memory>
#include <string>
#include <vector>

#include "base/handles.h"
#include "create/tiff_tiles.h"
#include "dataset/dataset.h"
#include "options/creation_options.h"

#include "zarrbridge/encoded.h"

namespace zarr3 {

/* Encoded tiles in memory, and their places in the copy's grid of innermost chunks. The memory
   stays from one read to the next: its first touch costs more than the read. */
struct EncodedTiles {
    VsiMemory<char> data;
    uint64_t room = 0;             /* bytes of data */
    std::vector<uint64_t> indices; /* one after the other, of all dimensions of the array each */
    std::vector<zb_encoded> chunks;
};

/* Where tiles lie in the file. */
struct TileRanges {
    std::vector<vsi_l_offset> offsets;
    std::vector<size_t> sizes;
    uint64_t total = 0; /* bytes */
};

class TileCopy {
  public:
    /* Null, with *reason set, where the source's tiles cannot be chunks of the copy. The copy has
       been prepared for its first write. */
    static std::unique_ptr<TileCopy> find(GDALDataset *source, VSILFILE *file, Zarr3Dataset *copy,
                                          std::string *reason);

    /* Reads the tiles of whole chunks of the copy. False, with *reason set, where one of them
       cannot be moved: the pixels of all of them are to be copied then. */
    bool read(const Window &window, int first_band, int bands, EncodedTiles *tiles,
              std::string *reason);

    /* From any thread. ZB_EFORMAT and ZB_ECHECKSUM for tiles that are not what they should be. */
    enum zb_code write(EncodedTiles *tiles, zb_error *err);

  private:
    TileCopy(GDALDataset *source, VSILFILE *file, Zarr3Dataset *copy)
        : source_(source), file_(file), copy_(copy) {
    }
    bool match_shapes(std::string *reason) const;
    bool match_codecs(std::string *reason);
    bool has_whole_chunks(const Window &window, int first_band, int bands) const;
    bool add_tile(int band, int x, int y, EncodedTiles *tiles, TileRanges *ranges,
                  std::string *reason) const;

    GDALDataset *source_;
    VSILFILE *file_;
    Zarr3Dataset *copy_;
    TiffTiles tiles_;
    Chain chain_; /* of the tiles */
};

/* Lets blocks follow the source's tiles where these can be chunks then, and BLOCKSIZE is not
   given. */
void follow_tiles(const TiffFile &source, CreationOptions *options);

} // namespace zarr3

#endif
