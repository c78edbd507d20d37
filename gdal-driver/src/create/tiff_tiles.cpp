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
    if (compression == nullptr) /* nothing in them would tell bits in reverse, TIFF's FillOrder 2 */
        *reason = "its tiles are not compressed";
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
static bool read_byte_order(VSILFILE *file, bool *is_big) {
    char start[2] = {};
    if (VSIFSeekL(file, 0, SEEK_SET) != 0 ||
        VSIFReadL(start, 1, sizeof(start), file) != sizeof(start))
        return false;
    *is_big = start[0] == 'M';
    return start[0] == start[1] && (start[0] == 'M' || start[0] == 'I');
}

bool find_tiff_tiles(GDALDataset *dataset, VSILFILE *file, TiffTiles *tiles, std::string *reason) {
    const auto structure = [dataset](const char *name) {
        return dataset->GetMetadataItem(name, "IMAGE_STRUCTURE");
    };
    const char *interleave = structure("INTERLEAVE"), *predictor = structure("PREDICTOR");
    const int bands = dataset->GetRasterCount();
    TilePlace first;
    reason->clear();
    if (bands == 0 || !find_tile(dataset->GetRasterBand(1), 0, 0, &first))
        *reason = "its first tile is not stored";
    else if (predictor != nullptr && !EQUAL(predictor, "1"))
        *reason = "its tiles went through a predictor";
    else if (bands > 1 && (interleave == nullptr || EQUAL(interleave, "TILE")))
        *reason = "its tiles have their samples in an order of their own";
    if (!reason->empty() || !check_samples(dataset, reason) ||
        !find_codec(structure("COMPRESSION"), &tiles->codec, reason))
        return false;
    if (!read_byte_order(file, &tiles->big_endian)) {
        *reason = "its file does not begin as TIFF does";
        return false;
    }
    dataset->GetRasterBand(1)->GetBlockSize(&tiles->width, &tiles->height);
    tiles->has_all_bands = bands > 1 && EQUAL(interleave, "PIXEL");
    tiles->last_row_is_cut =
        tiles->width == dataset->GetRasterXSize() && dataset->GetRasterYSize() % tiles->height != 0;
    return true;
}

/* ---- The file ---- */

static bool is_same_file(const VSIStatBufL &a, const VSIStatBufL &b) {
    return a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_mtime == b.st_mtime;
}

static bool is_same_tile(GDALDataset *a, GDALDataset *b, int column, int row) {
    TilePlace in_a, in_b;
    const bool is_in_a = find_tile(a->GetRasterBand(1), column, row, &in_a);
    const bool is_in_b = find_tile(b->GetRasterBand(1), column, row, &in_b);
    return is_in_a == is_in_b &&
           (!is_in_a || (in_a.offset == in_b.offset && in_a.size == in_b.size));
}

static bool is_same_raster(GDALDataset *a, GDALDataset *b) {
    const int width = a->GetRasterXSize(), height = a->GetRasterYSize();
    int across = 0, down = 0, other_across = 0, other_down = 0;
    if (width != b->GetRasterXSize() || height != b->GetRasterYSize() ||
        a->GetRasterCount() != b->GetRasterCount() || a->GetRasterCount() == 0)
        return false;
    a->GetRasterBand(1)->GetBlockSize(&across, &down);
    b->GetRasterBand(1)->GetBlockSize(&other_across, &other_down);
    return across == other_across && down == other_down &&
           a->GetRasterBand(1)->GetRasterDataType() == b->GetRasterBand(1)->GetRasterDataType() &&
           is_same_tile(a, b, 0, 0) &&
           is_same_tile(a, b, (width - 1) / across, (height - 1) / down);
}

bool TiffFile::open(GDALDataset *source) {
    const char *name = source->GetDescription();
    const char *const drivers[] = {"GTiff", nullptr};
    VSIStatBufL before, after;
    if (VSIStatL(name, &before) != 0)
        return false;
    file_.reset(VSIFOpenL(name, "rb"));
    raster_.reset(
        GDALDataset::Open(name, GDAL_OF_RASTER | GDAL_OF_READONLY, drivers, nullptr, nullptr));
    return file_ != nullptr && raster_ != nullptr && VSIStatL(name, &after) == 0 &&
           is_same_file(before, after);
}

TiffFile::TiffFile(GDALDataset *source) {
    const GDALDriver *driver = source->GetDriver();
    if (driver == nullptr || !EQUAL(driver->GetDescription(), "GTiff"))
        reason_ = "the source is no GeoTIFF as it is in a file";
    else if (source->GetAccess() != GA_ReadOnly)
        reason_ = "the source is open for update";
    else if (!open(source))
        reason_ = "its file does not open, or changes";
    else if (!is_same_raster(source, raster_.get()))
        reason_ = "the source is a part of its file, or the file has been replaced";
    if (!reason_.empty())
        raster_.reset();
}

/* Overviews beside the file are datasets with a name of their own. */
GDALDataset *TiffFile::level(int number) const {
    GDALRasterBand *first = raster_ == nullptr ? nullptr : raster_->GetRasterBand(1);
    GDALRasterBand *band = first == nullptr ? nullptr : first->GetOverview(0);
    const GDALDataset *beside = band == nullptr ? nullptr : band->GetDataset();
    if (beside == nullptr || beside->GetDescription()[0] != '\0')
        return nullptr;
    band = first->GetOverview(number);
    GDALDataset *level = band == nullptr ? nullptr : band->GetDataset();
    return level == nullptr || level->GetRasterCount() != raster_->GetRasterCount() ? nullptr
                                                                                    : level;
}

} // namespace zarr3
