/* SPDX-License-Identifier: MIT */
#include "create/tiff_tiles.h"

#include "base/handles.h"

namespace zarr3 {

/* ---- Where tiles lie ---- */

static bool find_number(GDALRasterBand *band, const char *item, int column, int row,
                        uint64_t *number) {
    const char *text = band->GetMetadataItem(CPLSPrintf("%s_%d_%d", item, column, row), "TIFF");
    if (text == nullptr)
        return false;
    char *end = nullptr;
    *number = strtoull(text, &end, 10);
    return end != text && *end == '\0';
}

bool find_tile(GDALRasterBand *band, int column, int row, TilePlace *place) {
    return find_number(band, "BLOCK_OFFSET", column, row, &place->offset) &&
           find_number(band, "BLOCK_SIZE", column, row, &place->size) && place->size > 0;
}

/* ---- What was done to them ---- */

/* The codec that a compression of TIFF is. */
static bool find_codec(const char *compression, std::string *codec, std::string *reason) {
    if (compression == nullptr)
        *codec = "";
    else if (EQUAL(compression, "ZSTD"))
        *codec = "zstd";
    else if (EQUAL(compression, "DEFLATE"))
        *codec = "numcodecs.zlib";
    else
        *reason = std::string("no codec is like the compression ") + compression;
    return reason->empty();
}

/* The samples in the file are those that a program reads. */
static bool check_samples(GDALDataset *dataset, std::string *reason) {
    const GDALDataType type = dataset->GetRasterBand(1)->GetRasterDataType();
    if (dataset->GetMetadataItem("SOURCE_COLOR_SPACE", "IMAGE_STRUCTURE") != nullptr)
        *reason = "GDAL converts its colours";
    for (int i = 1; i <= dataset->GetRasterCount() && reason->empty(); i++) {
        GDALRasterBand *band = dataset->GetRasterBand(i);
        if (band->GetMetadataItem("NBITS", "IMAGE_STRUCTURE") != nullptr)
            *reason = "its samples have fewer bits than GDAL's type";
        else if (band->GetRasterDataType() != type)
            *reason = "its bands have several types";
    }
    if (type == GDT_CInt16 || type == GDT_CInt32)
        *reason = "its samples are complex integers";
    return reason->empty();
}

/* The first bytes of a TIFF file tell the order of bytes of all numbers in it. */
static bool read_byte_order(const std::string &file, bool *is_big) {
    char start[2] = {};
    const FileHandle handle(VSIFOpenL(file.c_str(), "rb"));
    if (handle == nullptr || VSIFReadL(start, 1, sizeof(start), handle.get()) != sizeof(start))
        return false;
    *is_big = start[0] == 'M';
    return start[0] == start[1] && (start[0] == 'M' || start[0] == 'I');
}

bool find_tiff_tiles(GDALDataset *dataset, const std::string &file, TiffTiles *tiles,
                     std::string *reason) {
    const auto structure = [dataset](const char *name) {
        return dataset->GetMetadataItem(name, "IMAGE_STRUCTURE");
    };
    const char *interleave = structure("INTERLEAVE"), *predictor = structure("PREDICTOR");
    const int bands = dataset->GetRasterCount();
    TilePlace first;
    reason->clear();
    if (bands == 0 || !find_tile(dataset->GetRasterBand(1), 0, 0, &first))
        *reason = "the source is no GeoTIFF whose tiles GDAL can find";
    else if (dataset->GetAccess() != GA_ReadOnly)
        *reason = "the source is open for update";
    else if (predictor != nullptr && !EQUAL(predictor, "1"))
        *reason = "its tiles went through a predictor";
    else if (bands > 1 && (interleave == nullptr || EQUAL(interleave, "TILE")))
        *reason = "its tiles have their samples in an order of their own";
    if (!reason->empty() || !check_samples(dataset, reason) ||
        !find_codec(structure("COMPRESSION"), &tiles->codec, reason))
        return false;
    tiles->file = file;
    if (!read_byte_order(file, &tiles->big_endian)) {
        *reason = "there is no file of its name";
        return false;
    }
    dataset->GetRasterBand(1)->GetBlockSize(&tiles->width, &tiles->height);
    tiles->has_all_bands = bands > 1 && EQUAL(interleave, "PIXEL");
    tiles->last_row_is_cut =
        tiles->width == dataset->GetRasterXSize() && dataset->GetRasterYSize() % tiles->height != 0;
    return true;
}

} // namespace zarr3
