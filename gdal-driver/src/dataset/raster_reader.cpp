/* SPDX-License-Identifier: MIT */
/*
 * Two ways for pixels to reach a program. *Direct*: the core decodes into the caller's buffer.
 * *Blocks*: GDAL's block cache holds decoded chunks (a block is an inner chunk) and copies out of
 * them.
 *
 * Direct saves a copy but keeps nothing, so it is for requests that use up what they decode: whole
 * blocks, and either full rows of them (how whole rasters are copied) or more than the cache should
 * give up for one request. All else goes through blocks, because the next row or the next window
 * will touch the same chunks; a miss then loads all blocks that the request still needs in one
 * plan, on all threads.
 *
 * Of a distant store each request costs a round trip. There parts of shards go through blocks, too,
 * and one plan has the rest of a shard that the program is going to want, in all bands.
 *
 * Memory: what one plan brings into the cache is at most half of the cache (GDAL_CACHEMAX).
 */
#include "dataset/raster_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/errors.h"
#include "dataset/block_cache.h"
#include "dataset/dataset.h"
#include "store/network.h"

namespace zarr3 {

/* Boxes in one plan: keeps the plan itself small when blocks are tiny. */
static constexpr size_t kMaxBoxes = 65536;

/* The most that one plan brings into the cache ahead of the program, so that the next one needs no
   round trip for long. Bytes. */
static constexpr uint64_t kMostAhead = uint64_t{64} << 20;

/* The number of blocks that one plan may fill. */
static size_t most_blocks(uint64_t block_bytes) {
    const uint64_t budget = cache_limit() / 2 / std::max<uint64_t>(block_bytes, 1);
    return static_cast<size_t>(std::min<uint64_t>(budget, kMaxBoxes));
}

const Layout &RasterReader::layout() const {
    return raster_->layout();
}

BlockRange RasterReader::all_blocks() const {
    return blocks_of(layout(), {0, 0, layout().width, layout().height});
}

uint64_t RasterReader::block_bytes(const Window &window, int band_count) const {
    uint64_t bytes = bytes_of_block(layout(), raster_->GetRasterBand(1)->GetRasterDataType());
    if (__builtin_mul_overflow(bytes, blocks_of(layout(), window).count(), &bytes) ||
        __builtin_mul_overflow(
            bytes, static_cast<uint64_t>(std::max(layout().chunk_bands, band_count)), &bytes))
        return UINT64_MAX;
    return bytes;
}

bool RasterReader::prefers_direct(const PixelRequest &request) const {
    const Window &w = request.window;
    const uint64_t limit = cache_limit();
    const uint64_t need = block_bytes(w, request.band_count);
    const bool one_block = request.band_count == 1 && blocks_of(layout(), w).count() == 1;
    /* More than the cache can hold: then the core's own serves the chunks that are read in part.
       One block is held whatever its size, so that rows of a single huge chunk decode it once. */
    if (need > limit - limit / 8 && !one_block)
        return true;
    /* A shard is no unit of decoding: of the parts of one the core keeps what it has decoded. */
    if (layout().shows_shards && !is_whole_blocks(layout(), w))
        return true;
    const auto has_all_bands = [&](int together) {
        return request.band_count == layout().bands || together == 1;
    };
    if (looks_ahead() && need <= limit / 2 &&
        !(is_whole_shards(layout(), w) && has_all_bands(layout().shard_bands)))
        return false; /* the next request would ask for the same shards */
    const bool uses_all = is_whole_blocks(layout(), w) && has_all_bands(layout().chunk_bands);
    /* Programs that copy a raster go through it once, by rows of blocks; for them a cache is a
       detour. A program that asks for a part of a row may come back for the same blocks. */
    const bool full_rows = w.width == layout().width;
    return uses_all && ((full_rows && blocks_of(layout(), w).count() > 1) || need > limit / 4);
}

CPLErr RasterReader::read(const PixelRequest &request, bool *done) {
    /* GDAL asks for each block of each band, so that what looks into attributes comes last. */
    *done = prefers_direct(request) && reads_exactly(raster_->node(), request.type);
    if (!*done)
        return CE_None;
    zb_error err;
    if (raster_->updates() && raster_->array().prepare_read(&err) != ZB_OK) {
        report(err);
        return CE_Failure;
    }
    if (raster_->updates() && !empty_cache(raster_, layout(), request, false))
        return CE_Failure;
    std::vector<BoxRead> reads;
    for (const BandRun &run : band_runs(layout(), request))
        reads.push_back({box_of(layout(), raster_->array().info()->ndim, run), run.data});
    if (read_boxes(reads, exchange_dtype(raster_->node(), request.type), 0, 1, &err) == ZB_OK)
        return CE_None;
    report(err);
    return CE_Failure;
}

enum zb_code RasterReader::read_boxes(const std::vector<BoxRead> &boxes, zb_dtype memory,
                                      double from, double to, zb_error *err) {
    if (listener_ == nullptr)
        return raster_->array().read(boxes, memory, err);
    ListenerPart part = {listener_, from, to};
    return raster_->array().read(boxes, memory, err, ListenerPart::hear, &part);
}

bool RasterReader::has_listener(GDALRWFlag mode, const GDALRasterIOExtraArg *extra) const {
    return mode == GF_Read && extra != nullptr && extra->pfnProgress != nullptr &&
           is_distant(raster_->hierarchy().store.get());
}

RasterReader::Listen::Listen(RasterReader *reader, GDALRWFlag mode, GDALRasterIOExtraArg *extra)
    : reader_(reader), outer_(reader->listener_), extra_(extra) {
    if (reader->has_listener(mode, extra))
        reader->listener_ = &listener_.emplace(*extra);
}

RasterReader::Listen::~Listen() {
    reader_->listener_ = outer_;
}

RasterReader::Expect::Expect(RasterReader *reader, const Window &window, int buffer_width,
                             int buffer_height, int band_count, const int *bands)
    : reader_(reader), outer_(reader->expected_) {
    /* A thumbnail that skips whole blocks must not load them. */
    const Layout &layout = reader->layout();
    const bool touches_all = window.width / std::max(buffer_width, 1) < layout.block_width &&
                             window.height / std::max(buffer_height, 1) < layout.block_height;
    const BlockRange blocks = blocks_of(layout, window);
    if (outer_ && outer_->blocks.contains(blocks))
        return; /* GDAL takes requests apart, band by band or block by block */
    if (!touches_all) {
        reader->expected_.reset();
        return;
    }
    Wanted wanted = {blocks, {}};
    for (int i = 0; i < band_count; i++)
        wanted.bands.push_back(bands[i] - 1);
    reader->expected_ = std::move(wanted);
}

RasterReader::Expect::~Expect() {
    reader_->expected_ = outer_;
}

namespace {

/* The blocks that one plan fills. Those taken from the cache stay locked until it has run. */
class BlockBatch {
  public:
    /* expected: blocks, of which there may come to be more. */
    BlockBatch(Zarr3Dataset *raster, GDALDataType type, size_t expected)
        : raster_(raster), layout_(raster->layout()), type_(type) {
        reads_.reserve(expected);
        held_.reserve(expected);
    }

    void add(int band, int x, int y, void *image) {
        const BandRun run = block_run(layout_, band, x, y, image, type_);
        if (run.window.width < layout_.block_width || run.window.height < layout_.block_height)
            memset(image, 0,
                   static_cast<size_t>(run.spacings.line) *
                       static_cast<size_t>(layout_.block_height));
        reads_.push_back({box_of(layout_, raster_->array().info()->ndim, run), image});
    }

    /* The block in the cache, unless it is there already. False when memory has run out. */
    bool add_missing(int band, int x, int y) {
        GDALRasterBand *owner = raster_->GetRasterBand(band + 1);
        GDALRasterBlock *block = owner->TryGetLockedBlockRef(x, y);
        if (block != nullptr) {
            block->DropLock();
            return true;
        }
        block = owner->GetLockedBlockRef(x, y, TRUE);
        if (block == nullptr)
            return false;
        held_.push_back({owner, block});
        add(band, x, y, block->GetDataRef());
        return true;
    }

    size_t size() const {
        return reads_.size();
    }

    /* The program may want some of the blocks, and has not said so. */
    void call_ahead() {
        for (BoxRead &read : reads_)
            read.is_ahead = true;
    }

    /* To be read last of all, because making room in the cache may push changed blocks into the
       writer. */
    const std::vector<BoxRead> &reads() const {
        return reads_;
    }

    /* Lets go of the blocks; after a failure they leave the cache. Returns code. */
    enum zb_code drop(enum zb_code code) {
        for (const Held &held : held_) {
            const int x = held.block->GetXOff(), y = held.block->GetYOff();
            held.block->DropLock();
            if (code != ZB_OK)
                held.band->FlushBlock(x, y, FALSE); /* nothing valid is in it */
        }
        return code;
    }

  private:
    struct Held {
        GDALRasterBand *band;
        GDALRasterBlock *block;
    };
    Zarr3Dataset *raster_;
    const Layout &layout_;
    GDALDataType type_;
    std::vector<BoxRead> reads_;
    std::vector<Held> held_;
};

} // namespace

/* True for a distant store that is only read. */
bool RasterReader::looks_ahead() const {
    return !raster_->updates() && is_distant(raster_->hierarchy().store.get());
}

/* The bands, from 0, of which one plan loads blocks: those that share the chunks; where there is
   room, also those that the request under way wants, or those that lie in the same shards, of which
   the program has said that it is going to read them. */
std::vector<int> RasterReader::choose_bands(int band, const BlockRange &wanted,
                                            uint64_t block_bytes) const {
    const std::vector<int> mates = layout().chunk_mates(band);
    if (!looks_ahead())
        return mates;
    std::set<int> bands;
    uint64_t blocks = wanted.count();
    if (expected_ && expected_->blocks.contains(wanted) && expected_->bands.size() > 1) {
        bands.insert(expected_->bands.begin(), expected_->bands.end());
    } else if (const std::optional<BlockRange> advice = ahead_.advised(band, wanted)) {
        blocks = advice->count();
        for (const int mate : layout().shard_mates(band)) {
            if (ahead_.advised(mate, wanted))
                bands.insert(mate);
        }
    }
    bands.insert(mates.begin(), mates.end());
    return bands.size() <= most_blocks(block_bytes) / blocks
               ? std::vector<int>(bands.begin(), bands.end())
               : mates;
}

/* block_bytes: of all bands that are loaded. */
ReadAhead::Plan RasterReader::plan_blocks(int band, int block_x, int block_y,
                                          const BlockRange &wanted, uint64_t block_bytes) {
    if (!looks_ahead())
        return {wanted, wanted.number(block_x, block_y), wanted.count(), false};
    const auto in_blocks = [](int pixels, int block) { return (pixels - 1) / block + 1; };
    const ReadAhead::Bounds bounds = {
        all_blocks(), in_blocks(layout().shard_width, layout().block_width),
        in_blocks(layout().shard_height, layout().block_height),
        std::min(kMostAhead, cache_limit() / 4) / std::max<uint64_t>(block_bytes, 1),
        most_blocks(block_bytes)};
    return ahead_.plan(band, block_x, block_y, wanted, bounds);
}

void RasterReader::advise(int band, const Window &window, int buffer_width, int buffer_height) {
    /* GDAL checks windows of datasets, not of bands. */
    const bool is_inside = window.x >= 0 && window.y >= 0 && window.width > 0 &&
                           window.height > 0 && window.x <= layout().width - window.width &&
                           window.y <= layout().height - window.height;
    ahead_.advise(band, is_inside && window.width == buffer_width && window.height == buffer_height
                            ? std::optional<BlockRange>(blocks_of(layout(), window))
                            : std::nullopt);
}

RasterReader::AdviseAll::AdviseAll(RasterReader *reader, int band) : reader_(reader), band_(band) {
    ReadAhead::Advice advice = {reader->all_blocks(), {band}, false};
    if (reader->last_band_ && *reader->last_band_ < band) {
        for (const int mate : reader->layout().shard_mates(band)) {
            if (mate > band)
                advice.bands.insert(mate);
        }
        advice.is_guess = advice.bands.size() > 1;
    }
    outer_ = reader->ahead_.exchange(advice);
}

RasterReader::AdviseAll::~AdviseAll() {
    reader_->ahead_.exchange(outer_);
    reader_->last_band_ = band_;
}

/* The share of the request under way that is done when this number of its blocks, from this one
   on, has been read. 0 for blocks that no request of GDAL's wants. */
double RasterReader::done_with(int block_x, int block_y, uint64_t blocks) const {
    if (!expected_ || !expected_->blocks.contains(block_x, block_y))
        return 0;
    return static_cast<double>(expected_->blocks.number(block_x, block_y) + blocks) /
           static_cast<double>(expected_->blocks.count());
}

enum zb_code RasterReader::load_block(int band, int block_x, int block_y, void *image,
                                      zb_error *err) {
    /* First of all, because it may make the array anew. */
    const enum zb_code ready = raster_->array().prepare_read(err);
    if (ready != ZB_OK)
        return ready;
    const GDALDataType type = raster_->GetRasterBand(band + 1)->GetRasterDataType();
    const uint64_t block_bytes = bytes_of_block(layout(), type);
    const BlockRange wanted = expected_ && expected_->blocks.contains(block_x, block_y)
                                  ? expected_->blocks
                                  : BlockRange{block_x, block_y, block_x, block_y};
    const std::vector<int> bands = choose_bands(band, wanted, block_bytes);
    const size_t most = most_blocks(block_bytes);
    BlockBatch batch(raster_, type, bands.size());
    batch.add(band, block_x, block_y, image);

    /* Room for blocks, by bytes and by number. The block that was asked for goes in whatever it
       takes; the rest only while there is room. */
    bool room = true;
    const auto add_bands = [&](int x, int y, bool with_band) {
        for (size_t i = 0; i < bands.size() && room; i++) {
            if (with_band || bands[i] != band)
                room = batch.size() < most && batch.add_missing(bands[i], x, y);
        }
    };
    add_bands(block_x, block_y, false);
    /* Onwards from here, in the order in which GDAL will ask for them: what does not fit any more
       is what it needs last. */
    const ReadAhead::Plan plan =
        plan_blocks(band, block_x, block_y, wanted, block_bytes * bands.size());
    uint64_t next = plan.first;
    for (; room && next < plan.end; next++) {
        const int x = plan.range.x_of(next), y = plan.range.y_of(next);
        if (x != block_x || y != block_y)
            add_bands(x, y, true);
    }
    if (plan.is_guess)
        batch.call_ahead();
    return batch.drop(read_boxes(
        batch.reads(), exchange_dtype(raster_->node(), type), done_with(block_x, block_y, 0),
        done_with(block_x, block_y, std::max<uint64_t>(next - plan.first, 1)), err));
}

} // namespace zarr3
