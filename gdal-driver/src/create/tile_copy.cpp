/* SPDX-License-Identifier: MIT */
#include "create/tile_copy.h"

#include <algorithm>

#include "zarrbridge/limits.h"

namespace zarr3 {

/* ---- Whether they can be chunks ---- */

/* A tile has rows, in them columns, in them perhaps bands: so must an inner chunk. */
bool TileCopy::match_shapes(std::string *reason) const {
    const Layout &layout = copy_->layout();
    const uint64_t *inner = zb_node_array(copy_->node())->inner_shape;
    const uint64_t width = inner[layout.axes.x], height = inner[layout.axes.y];
    const uint64_t depth = layout.extra.empty() ? 1 : inner[layout.extra[0].dim];
    const int bands = source_->GetRasterCount();
    const bool has_band = !layout.extra.empty();
    const bool band_is_last = has_band && static_cast<int>(layout.extra[0].dim) > layout.axes.x;
    if (source_->GetRasterBand(1)->GetRasterDataType() !=
        copy_->GetRasterBand(1)->GetRasterDataType())
        *reason = "the copy has another type";
    else if (layout.extra.size() > 1 || layout.axes.x < layout.axes.y)
        *reason = "the copy has its dimensions in another order";
    else if (width != static_cast<uint64_t>(tiles_.width) ||
             height != static_cast<uint64_t>(tiles_.height))
        *reason = "its tiles are " + std::to_string(tiles_.width) + " x " +
                  std::to_string(tiles_.height) + ", blocks of the copy " + std::to_string(width) +
                  " x " + std::to_string(height) + ": see BLOCKSIZE";
    else if (tiles_.has_all_bands && (!band_is_last || depth != static_cast<uint64_t>(bands)))
        *reason = "its tiles have all bands, pixel by pixel: see INTERLEAVE=PIXEL";
    else if (!tiles_.has_all_bands && depth != 1)
        *reason = "its tiles have one band each: see INTERLEAVE=BAND";
    return reason->empty();
}

bool TileCopy::match_codecs(std::string *reason) {
    const std::string codecs = std::string(R"([{"name":"bytes","configuration":{"endian":")") +
                               (tiles_.big_endian ? "big" : "little") + "\"}},{\"name\":\"" +
                               tiles_.codec + "\"}]";
    zb_chain *from = nullptr, *to = nullptr;
    zb_error err;
    enum zb_code code = zb_chain_new(copy_->node(), codecs.c_str(), &from, &err);
    chain_.reset(from);
    if (code == ZB_OK)
        code = zb_chain_of(copy_->node(), &to, &err);
    const Chain target(to);
    if (code != ZB_OK) {
        *reason = err.message;
        return false;
    }
    const char *why = nullptr;
    const enum zb_chain_way way = zb_chain_compare(from, to, &why);
    if (way != ZB_CHAIN_SAME && way != ZB_CHAIN_REWRAPPED)
        *reason = why;
    return reason->empty();
}

std::unique_ptr<TileCopy> TileCopy::find(GDALDataset *source, VSILFILE *file, Zarr3Dataset *copy,
                                         std::string *reason) {
    std::unique_ptr<TileCopy> found(new TileCopy(source, file, copy));
    if (!find_tiff_tiles(source, file, &found->tiles_, reason) || !found->match_shapes(reason) ||
        !found->match_codecs(reason))
        return nullptr;
    return found;
}

/* ---- Moving them ---- */

/* A piece that cuts a shard cannot replace it. */
bool TileCopy::has_whole_chunks(const Window &window, int first_band, int bands) const {
    const Layout &layout = copy_->layout();
    const zb_array_info *info = zb_node_array(copy_->node());
    const auto is_whole = [info](int dim, int start, int count, int extent) {
        const uint64_t chunk = info->chunk_shape[dim];
        const uint64_t from = static_cast<uint64_t>(start),
                       end = from + static_cast<uint64_t>(count);
        return from % chunk == 0 && (end % chunk == 0 || end == static_cast<uint64_t>(extent));
    };
    return is_whole(layout.axes.x, window.x, window.width, layout.width) &&
           is_whole(layout.axes.y, window.y, window.height, layout.height) &&
           (layout.extra.empty() ||
            is_whole(static_cast<int>(layout.extra[0].dim), first_band, bands, layout.bands)) &&
           (!tiles_.last_row_is_cut || window.y + window.height < layout.height);
}

static bool read_ranges(VSILFILE *file, const TileRanges &ranges, EncodedTiles *tiles) {
    if (ranges.total > tiles->room) {
        tiles->room = ranges.total + ranges.total / 4; /* those that follow are like these */
        tiles->data.reset(static_cast<char *>(VSIMalloc(tiles->room)));
    }
    if (tiles->data == nullptr) {
        tiles->room = 0;
        return false;
    }
    const size_t ndim = tiles->indices.size() / ranges.sizes.size();
    std::vector<void *> targets;
    char *at = tiles->data.get();
    tiles->chunks.clear();
    for (size_t i = 0; i < ranges.sizes.size(); i++) {
        zb_encoded chunk = {};
        chunk.index = &tiles->indices[i * ndim];
        chunk.data = at;
        chunk.size = ranges.sizes[i];
        tiles->chunks.push_back(chunk);
        targets.push_back(at);
        at += ranges.sizes[i];
    }
    return VSIFReadMultiRangeL(static_cast<int>(targets.size()), targets.data(),
                               ranges.offsets.data(), ranges.sizes.data(), file) == 0;
}

bool TileCopy::add_tile(int band, int x, int y, EncodedTiles *tiles, TileRanges *ranges,
                        std::string *reason) const {
    const Layout &layout = copy_->layout();
    /* More cannot be what a piece's elements are compressed to. */
    const uint64_t most = 2 * zb_limits_get()->write_cache_bytes;
    TilePlace place;
    if (!find_tile(source_->GetRasterBand(band + 1), x, y, &place))
        *reason = "not stored";
    else if (place.size > most || ranges->total + place.size > most)
        *reason = "larger than its pixels";
    if (!reason->empty()) {
        *reason = "the tile of column " + std::to_string(x) + ", row " + std::to_string(y) +
                  ", band " + std::to_string(band + 1) + " is " + *reason;
        return false;
    }
    ranges->offsets.push_back(place.offset);
    ranges->sizes.push_back(static_cast<size_t>(place.size));
    ranges->total += place.size;
    std::vector<uint64_t> index(zb_node_array(copy_->node())->ndim, 0);
    index[static_cast<size_t>(layout.axes.x)] = static_cast<uint64_t>(x);
    index[static_cast<size_t>(layout.axes.y)] = static_cast<uint64_t>(y);
    if (!layout.extra.empty() && !tiles_.has_all_bands)
        index[layout.extra[0].dim] = static_cast<uint64_t>(band);
    tiles->indices.insert(tiles->indices.end(), index.begin(), index.end());
    return true;
}

bool TileCopy::read(const Window &window, int first_band, int bands, EncodedTiles *tiles,
                    std::string *reason) {
    if (!has_whole_chunks(window, first_band, bands)) {
        *reason = "they are a part of a shard, or have a strip that is cut";
        return false;
    }
    const BlockRange range = blocks_of(copy_->layout(), window);
    const int end = tiles_.has_all_bands ? first_band + 1 : first_band + bands;
    TileRanges ranges;
    tiles->indices.clear();
    for (int band = first_band; band < end; band++) {
        for (int y = range.y0; y <= range.y1; y++) {
            for (int x = range.x0; x <= range.x1; x++) {
                if (!add_tile(band, x, y, tiles, &ranges, reason))
                    return false;
            }
        }
    }
    if (!read_ranges(file_, ranges, tiles))
        *reason = "the file has no such bytes";
    return reason->empty();
}

enum zb_code TileCopy::write(EncodedTiles *tiles, zb_error *err) {
    for (zb_encoded &chunk : tiles->chunks)
        chunk.chain = chain_.get();
    return copy_->array().write_encoded(tiles->chunks, err);
}

/* ---- The block size of a copy ---- */

void follow_tiles(const TiffFile &source, CreationOptions *options) {
    /* Blocks of another order of magnitude than usual are no gain to those who read the copy. */
    constexpr int kLeast = 128, kMost = 1024;
    TiffTiles tiles;
    std::string reason;
    if (source.raster() == nullptr ||
        !find_tiff_tiles(source.raster(), source.file(), &tiles, &reason))
        return;
    const std::vector<uint64_t> block = {static_cast<uint64_t>(tiles.height),
                                         static_cast<uint64_t>(tiles.width)};
    const char *codec = tiles.codec == "zstd" ? "zstd" : "gzip";
    if (options->compressor != codec || tiles.has_all_bands != options->pixel_interleave)
        return;
    if (options->block.empty() && std::min(tiles.width, tiles.height) >= kLeast &&
        std::max(tiles.width, tiles.height) <= kMost)
        options->block = block;
    /* Floats are sorted where they have to be encoded anyway. */
    if (options->block == block && options->predictor == Predictor::Auto)
        options->predictor = Predictor::None;
}

} // namespace zarr3
