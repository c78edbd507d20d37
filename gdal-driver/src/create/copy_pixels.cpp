/* SPDX-License-Identifier: MIT */
/*
 * The source is read in pieces that cover whole chunks of the copy, so that each chunk is encoded
 * once and straight from the piece. While one piece is encoded and stored by the core's threads,
 * this thread reads the next one: two buffers.
 *
 * Many sources are stored by rows, and pieces narrower than the raster would decode each of their
 * rows several times, unless GDAL's cache keeps what they have decoded: then pieces are no larger
 * than chunks want. Where it has no room, the writer gathers shards from rows of blocks, or from
 * parts of them if the cache has room for such a row; where a row of shards has no room there
 * either, pieces are as wide as their budget lets them.
 */
#include "create/copy_pixels.h"

#include <algorithm>
#include <future>

#include "base/errors.h"
#include "base/handles.h"
#include "create/tile_copy.h"
#include "dataset/block_cache.h"
#include "dataset/raster_write.h"

#include "zarrbridge/limits.h"

namespace zarr3 {

/* Bytes of a piece, where pieces can be made larger without need. */
static constexpr uint64_t kGoodPiece = uint64_t{32} << 20;
/* The same of what is moved to other memory and not decoded or encoded on the way, as tiles between
   local files and rows of blocks to the writer are: it stays in the processor's caches. */
static constexpr uint64_t kNearPiece = uint64_t{4} << 20;

namespace {

/* Extents of the pieces, all but the last multiples of chunks. */
struct PieceShape {
    int width, height, bands;
};

/* A piece on its way: read, then written by another thread. */
struct Piece {
    VsiMemory<char> data; /* pixels, where tiles are not moved */
    EncodedTiles tiles;
    bool is_tiles = false;
    Window window;
    int first_band, bands;
};

class PixelCopy {
  public:
    PixelCopy(GDALDataset *source, Zarr3Dataset *copy);
    void move_tiles(GDALDataset *tiles, VSILFILE *file);
    bool run(GDALProgressFunc progress, void *progress_data);

  private:
    uint64_t bytes(int width, int height, int bands) const;
    bool is_cached(int height) const;
    uint64_t good_piece() const;
    int source_height() const;
    PieceShape rows_of_blocks(int most_height) const;
    PieceShape choose_shape() const;
    Spacings spacings(const Piece &piece) const;
    void forget_source(int y);
    bool read_pixels(Piece *piece);
    bool read(Piece *piece);
    enum zb_code write(Piece *piece);
    void start_writing(Piece *piece);
    bool finish_writing();

    GDALDataset *source_;
    Zarr3Dataset *copy_;
    GDALDataType type_;
    int size_;                        /* bytes of a sample */
    PieceShape shape_ = {};           /* known once it is known whether tiles are moved */
    std::unique_ptr<TileCopy> tiles_; /* null: all is decoded */
    size_t moved_ = 0;                /* tiles */
    Piece *written_ = nullptr;        /* by the other thread */
    std::future<enum zb_code> writing_;
    zb_error error_ = {};
};

} // namespace

PixelCopy::PixelCopy(GDALDataset *source, Zarr3Dataset *copy)
    : source_(source), copy_(copy), type_(copy->GetRasterBand(1)->GetRasterDataType()),
      size_(GDALGetDataTypeSizeBytes(type_)) {
}

uint64_t PixelCopy::bytes(int width, int height, int bands) const {
    return static_cast<uint64_t>(width) * static_cast<uint64_t>(height) *
           static_cast<uint64_t>(bands) * static_cast<uint64_t>(size_);
}

/* The largest multiple of `unit` within `room` units, at least one and at most the extent. */
static int multiple(int unit, uint64_t room, int extent) {
    const uint64_t most = (static_cast<uint64_t>(extent) + static_cast<uint64_t>(unit) - 1) /
                          static_cast<uint64_t>(unit);
    const uint64_t count = std::clamp<uint64_t>(room, 1, most);
    return static_cast<int>(
        std::min<uint64_t>(count * static_cast<uint64_t>(unit), static_cast<uint64_t>(extent)));
}

/* True if GDAL's cache has room for so many rows of the source, all bands, beside others. */
bool PixelCopy::is_cached(int height) const {
    return bytes(copy_->layout().width, height, copy_->layout().bands) <= cache_limit() / 2;
}

uint64_t PixelCopy::good_piece() const {
    const bool is_near = tiles_ != nullptr && VSIIsLocal(source_->GetDescription()) &&
                         zb_hierarchy_is_local(zb_node_hierarchy(copy_->node()));
    return is_near ? kNearPiece : kGoodPiece;
}

/* The height of the source's tallest blocks; what a VRT reads has others, which nobody tells. */
int PixelCopy::source_height() const {
    const GDALDriver *driver = source_->GetDriver();
    const bool is_virtual = driver != nullptr && EQUAL(driver->GetDescription(), "VRT");
    int tallest = is_virtual ? source_->GetRasterYSize() : 1;
    for (int i = 1; i <= source_->GetRasterCount(); i++) {
        int width, height;
        source_->GetRasterBand(i)->GetBlockSize(&width, &height);
        tallest = std::max(tallest, height);
    }
    return tallest;
}

/* Where the cache keeps a row of blocks of the source, parts of one, for then the two pieces take
   the less memory. */
PieceShape PixelCopy::rows_of_blocks(int most_height) const {
    const Layout &layout = copy_->layout();
    PieceShape shape = {layout.width, layout.block_height, layout.bands};
    uint64_t good = kGoodPiece / 2;
    if (is_cached(std::max(layout.block_height, source_height()))) {
        good = kNearPiece;
        shape.width =
            multiple(layout.block_width,
                     good / bytes(layout.block_width, shape.height, shape.bands), layout.width);
    }
    shape.height = multiple(layout.block_height,
                            good / bytes(shape.width, shape.height, shape.bands), most_height);
    return shape;
}

PieceShape PixelCopy::choose_shape() const {
    const Layout &layout = copy_->layout();
    /* Where chunks have several extents, pieces cut some of them: the writer gathers those. */
    const auto extent = [this](int dim) {
        const zb_array_info *info = zb_node_array(copy_->node());
        return static_cast<int>(std::min(info->chunk_shape[dim], info->shape[dim]));
    };
    const int unit_width = extent(layout.axes.x);
    const int unit_bands = layout.extra.empty() ? 1 : extent(static_cast<int>(layout.extra[0].dim));
    int unit_height = extent(layout.axes.y);
    /* Two pieces and the chunks that the writer gathers share the memory set aside for writing. */
    const uint64_t budget =
        std::clamp<uint64_t>(zb_limits_get()->write_cache_bytes / 2, kGoodPiece, 4 * kGoodPiece);
    /* Shards too large for that are gathered by the writer, from rows of blocks. */
    if (bytes(unit_width, unit_height, unit_bands) > budget)
        unit_height =
            multiple(layout.block_height,
                     budget / bytes(unit_width, layout.block_height, unit_bands), layout.height);
    /* A store is read by whole rows, which take no cache; tiles are moved by whole chunks. */
    const bool is_store = dynamic_cast<Zarr3Dataset *>(source_) != nullptr;
    const bool keeps_rows = !is_store && is_cached(unit_height);
    if (!is_store && !keeps_rows && tiles_ == nullptr &&
        bytes(layout.width, unit_height, layout.bands) <= budget)
        return rows_of_blocks(unit_height);
    const uint64_t good = good_piece();
    const uint64_t most = tiles_ != nullptr || keeps_rows ? good : budget;
    PieceShape shape = {layout.width, unit_height, unit_bands};
    if (bytes(shape.width, unit_height, unit_bands) > most)
        shape.width =
            multiple(unit_width, most / bytes(unit_width, unit_height, unit_bands), layout.width);
    shape.bands =
        multiple(unit_bands, most / bytes(shape.width, unit_height, unit_bands), layout.bands);
    shape.height =
        multiple(unit_height, good / bytes(shape.width, unit_height, shape.bands), layout.height);
    return shape;
}

/* In the order of the array's dimensions, so that encoding finds samples one after the other. */
Spacings PixelCopy::spacings(const Piece &piece) const {
    const Layout &layout = copy_->layout();
    const bool pixel =
        !layout.extra.empty() && static_cast<int>(layout.extra[0].dim) > layout.axes.x;
    const int64_t sample = size_, width = piece.window.width;
    if (pixel)
        return {sample * piece.bands, sample * piece.bands * width, sample};
    return {sample, sample * width, sample * width * piece.window.height};
}

bool PixelCopy::read_pixels(Piece *piece) {
    const Window &w = piece->window;
    const Spacings to = spacings(*piece);
    std::vector<int> bands;
    for (int i = 0; i < piece->bands; i++)
        bands.push_back(piece->first_band + i + 1);
    if (piece->data == nullptr)
        piece->data.reset(static_cast<char *>(
            VSI_MALLOC_VERBOSE(bytes(shape_.width, shape_.height, shape_.bands))));
    return piece->data != nullptr &&
           source_->RasterIO(GF_Read, w.x, w.y, w.width, w.height, piece->data.get(), w.width,
                             w.height, type_, piece->bands, bands.data(), to.pixel, to.line,
                             to.band, nullptr) == CE_None;
}

bool PixelCopy::read(Piece *piece) {
    std::string reason;
    piece->is_tiles = tiles_ != nullptr && tiles_->read(piece->window, piece->first_band,
                                                        piece->bands, &piece->tiles, &reason);
    if (!reason.empty())
        CPLDebug("ZARR3", "pixels of %d x %d, %d bands, at %d, %d are decoded: %s",
                 piece->window.width, piece->window.height, piece->bands, piece->window.x,
                 piece->window.y, reason.c_str());
    if (piece->is_tiles)
        piece->data.reset();
    else
        piece->tiles = {};
    return piece->is_tiles || read_pixels(piece);
}

enum zb_code PixelCopy::write(Piece *piece) {
    if (piece->is_tiles)
        return tiles_->write(&piece->tiles, &error_);
    return write_run(copy_,
                     {piece->first_band, piece->bands, piece->window, piece->data.get(), type_,
                      spacings(*piece)},
                     &error_);
}

/* Only the core runs in the other thread; its error is reported by this one. */
void PixelCopy::start_writing(Piece *piece) {
    written_ = piece;
    writing_ = std::async(std::launch::async, [this, piece] { return write(piece); });
}

/* Tiles that are damaged, or are something else than they were taken for, are read as pixels: GDAL
   says which one is damaged, and how. */
bool PixelCopy::finish_writing() {
    if (!writing_.valid())
        return true;
    enum zb_code code = writing_.get();
    if (written_->is_tiles && zb_encoded_may_decode(code)) {
        CPLDebug("ZARR3", "a tile cannot be moved: %s", error_.message);
        written_->is_tiles = false;
        if (!read_pixels(written_))
            return false;
        code = write(written_);
    }
    if (code == ZB_OK && written_->is_tiles)
        moved_ += written_->tiles.chunks.size();
    if (code == ZB_OK)
        return true;
    report(error_);
    return false;
}

void PixelCopy::move_tiles(GDALDataset *tiles, VSILFILE *file) {
    std::string reason;
    tiles_ = TileCopy::find(tiles, file, copy_, &reason);
    if (tiles_ != nullptr) {
        source_ = tiles;
        CPLDebug("ZARR3", "tiles are moved as they are encoded");
    } else {
        CPLDebug("ZARR3", "pixels are decoded and encoded: %s", reason.c_str());
    }
}

/* Before the first piece at row y: GDAL's cache lets go of what all pieces above have read, which
   nothing asks for again. Else it would come to hold the whole source. */
void PixelCopy::forget_source(int y) {
    for (int i = 1; i <= source_->GetRasterCount(); i++) {
        GDALRasterBand *band = source_->GetRasterBand(i);
        int width, height;
        band->GetBlockSize(&width, &height);
        if (y % height == 0)
            band->FlushCache(false);
    }
}

/* False when the user wants no more. */
static bool tell(double done, GDALProgressFunc progress, void *progress_data) {
    if (progress(done, nullptr, progress_data))
        return true;
    CPLError(CE_Failure, CPLE_UserInterrupt, "the copy was cancelled");
    return false;
}

/* Bands are stepped through first: a source that keeps them together has them in its cache. */
bool PixelCopy::run(GDALProgressFunc progress, void *progress_data) {
    shape_ = choose_shape();
    const Layout &layout = copy_->layout();
    const auto steps = [](int extent, int step) { return int64_t{extent - 1} / step + 1; };
    const int64_t across = steps(layout.width, shape_.width);
    const int64_t deep = steps(layout.bands, shape_.bands);
    const int64_t count = steps(layout.height, shape_.height) * across * deep;
    Piece pieces[2];
    bool good = tell(0, progress, progress_data);
    for (int64_t i = 0; i < count && good; i++) {
        Piece &piece = pieces[i % 2];
        const int x = static_cast<int>(i / deep % across * shape_.width);
        const int y = static_cast<int>(i / deep / across * shape_.height);
        if (i > 0 && i % (deep * across) == 0)
            forget_source(y);
        piece.first_band = static_cast<int>(i % deep * shape_.bands);
        piece.bands = std::min(shape_.bands, layout.bands - piece.first_band);
        piece.window = {x, y, std::min(shape_.width, layout.width - x),
                        std::min(shape_.height, layout.height - y)};
        good = read(&piece);
        good = finish_writing() && good; /* always: the other buffer must be free */
        if (good) {
            start_writing(&piece);
            const double done = static_cast<double>(i + 1) / static_cast<double>(count);
            good = tell(done, progress, progress_data);
        }
    }
    good = finish_writing() && good;
    if (good && tiles_ != nullptr)
        CPLDebug("ZARR3", "%zu tiles have been moved", moved_);
    return good;
}

bool copy_pixels(GDALDataset *source, GDALDataset *tiles, VSILFILE *file, Zarr3Dataset *copy,
                 GDALProgressFunc progress, void *progress_data) {
    if (!copy->prepare_first_write())
        return false;
    PixelCopy pixels(source, copy);
    if (tiles != nullptr)
        pixels.move_tiles(tiles, file);
    return pixels.run(progress, progress_data);
}

} // namespace zarr3
