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
 * Memory: what one plan brings into the cache is at most half of the cache (GDAL_CACHEMAX).
 */
#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "dataset/band.h"
#include "dataset/dataset.h"
#include "store/network.h"

using namespace zarr3;

/* Boxes in one plan: keeps the plan itself small when blocks are tiny. */
static constexpr size_t kMaxBoxes = 65536;

/* As GDAL allocates it: whole, also at the edges. */
static uint64_t bytes_of_block(const Layout &layout, GDALDataType type) {
    return static_cast<uint64_t>(layout.block_width) * static_cast<uint64_t>(layout.block_height) *
           static_cast<uint64_t>(GDALGetDataTypeSizeBytes(type));
}

/* Asked each time, because programs may change it while datasets are open. */
static uint64_t cache_limit() {
    return static_cast<uint64_t>(std::max<GIntBig>(GDALGetCacheMax64(), 0));
}

uint64_t Zarr3Dataset::block_bytes(const Window &window, int band_count) const {
    uint64_t bytes = bytes_of_block(layout_, pixel_type(node()));
    if (__builtin_mul_overflow(bytes, blocks_of(layout_, window).count(), &bytes) ||
        __builtin_mul_overflow(
            bytes, static_cast<uint64_t>(std::max(layout_.chunk_bands, band_count)), &bytes))
        return UINT64_MAX;
    return bytes;
}

bool Zarr3Dataset::prefers_direct(const PixelRequest &request) const {
    if (!reads_exactly(node(), request.type))
        return false;
    const Window &w = request.window;
    const uint64_t limit = cache_limit();
    const uint64_t need = block_bytes(w, request.band_count);
    const bool one_block = request.band_count == 1 && blocks_of(layout_, w).count() == 1;
    /* More than the cache can hold: then the core's own serves the chunks that are read in part.
       One block is held whatever its size, so that rows of a single huge chunk decode it once. */
    if (need > limit - limit / 8 && !one_block)
        return true;
    const bool uses_all =
        is_whole_blocks(layout_, w) && (request.band_count == nBands || layout_.chunk_bands == 1);
    /* Programs that copy a raster go through it once, by rows of blocks; for them a cache is a
       detour. A program that asks for a part of a row may come back for the same blocks. */
    const bool full_rows = w.width == nRasterXSize;
    return uses_all && ((full_rows && blocks_of(layout_, w).count() > 1) || need > limit / 4);
}

CPLErr Zarr3Dataset::read_direct(const PixelRequest &request, bool *done) {
    *done = prefers_direct(request);
    if (!*done)
        return CE_None;
    zb_error err;
    if (updates() && prepare_read(&err) != ZB_OK) {
        report(err);
        return CE_Failure;
    }
    if (updates() && !empty_cache(request, false))
        return CE_Failure;
    std::vector<BoxRead> reads;
    for (const BandRun &run : band_runs(layout_, request))
        reads.push_back(
            {box_of(run.first_band, run.count, request.window, run.spacings), run.data});
    if (read_boxes(reads, exchange_dtype(node(), request.type), 0, 1, &err) == ZB_OK)
        return CE_None;
    report(err);
    return CE_Failure;
}

enum zb_code Zarr3Dataset::read_boxes(const std::vector<BoxRead> &boxes, zb_dtype memory,
                                      double from, double to, zb_error *err) {
    if (listener_ == nullptr)
        return array_.read(boxes, memory, err);
    ListenerPart part = {listener_, from, to};
    return array_.read(boxes, memory, err, ListenerPart::hear, &part);
}

bool Zarr3Dataset::has_listener(GDALRWFlag mode, const GDALRasterIOExtraArg *extra) const {
    return mode == GF_Read && extra != nullptr && extra->pfnProgress != nullptr &&
           is_distant(hierarchy_.store.get());
}

Zarr3Dataset::Listen::Listen(Zarr3Dataset *dataset, GDALRWFlag mode, GDALRasterIOExtraArg *extra)
    : dataset_(dataset), outer_(dataset->listener_), extra_(extra) {
    if (dataset->has_listener(mode, extra))
        dataset->listener_ = &listener_.emplace(*extra);
}

Zarr3Dataset::Listen::~Listen() {
    dataset_->listener_ = outer_;
}

Zarr3Dataset::Expect::Expect(Zarr3Dataset *dataset, const Window &window, int buffer_width,
                             int buffer_height)
    : dataset_(dataset), outer_(dataset->expected_) {
    /* A thumbnail that skips whole blocks must not load them. */
    const bool touches_all =
        window.width / std::max(buffer_width, 1) < dataset->layout_.block_width &&
        window.height / std::max(buffer_height, 1) < dataset->layout_.block_height;
    const BlockRange blocks = blocks_of(dataset->layout_, window);
    if (outer_ && outer_->contains(blocks.x0, blocks.y0) && outer_->contains(blocks.x1, blocks.y1))
        return; /* GDAL takes requests for PIXEL interleaving apart, block by block */
    dataset->expected_.reset();
    if (touches_all)
        dataset->expected_ = blocks;
}

Zarr3Dataset::Expect::~Expect() {
    dataset_->expected_ = outer_;
}

namespace {

/* The blocks that one plan fills. Those taken from the cache stay locked until it has run. */
class BlockBatch {
  public:
    BlockBatch(Zarr3Dataset *dataset, GDALDataType type)
        : dataset_(dataset), layout_(dataset->layout()), pixel_(GDALGetDataTypeSizeBytes(type)),
          memory_(exchange_dtype(dataset->node(), type)) {
    }

    void add(int band, int x, int y, void *image) {
        const Window window = block_window(layout_, x, y);
        if (window.width < layout_.block_width || window.height < layout_.block_height)
            memset(image, 0,
                   static_cast<size_t>(pixel_) * static_cast<size_t>(layout_.block_width) *
                       static_cast<size_t>(layout_.block_height));
        reads_.push_back({box_of(layout_, dataset_->array().info()->ndim, band, 1, window,
                                 {pixel_, int64_t{pixel_} * layout_.block_width, 0}),
                          image});
    }

    /* The block in the cache, unless it is there already. False when memory has run out. */
    bool add_missing(int band, int x, int y) {
        GDALRasterBand *owner = dataset_->GetRasterBand(band + 1);
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

    /* Last of all, because making room in the cache may have pushed changed blocks into the
       writer. From and to: the part that this is of the request under way. */
    enum zb_code run(double from, double to, zb_error *err) {
        return drop(dataset_->read_boxes(reads_, memory_, from, to, err));
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
    Zarr3Dataset *dataset_;
    const Layout &layout_;
    int pixel_; /* bytes */
    zb_dtype memory_;
    std::vector<BoxRead> reads_;
    std::vector<Held> held_;
};

} // namespace

/* The most that one plan brings into the cache ahead of the program, so that the next one needs no
   round trip for long. Bytes. */
static constexpr uint64_t kMostAhead = uint64_t{64} << 20;

ReadAhead::Plan Zarr3Dataset::plan_blocks(int band, int block_x, int block_y,
                                          uint64_t block_bytes) {
    const bool is_expected = expected_ && expected_->contains(block_x, block_y);
    const BlockRange wanted =
        is_expected ? *expected_ : BlockRange{block_x, block_y, block_x, block_y};
    if (!is_distant(hierarchy_.store.get()) || updates())
        return {wanted, wanted.number(block_x, block_y), wanted.count()};
    const uint64_t bytes = std::min(kMostAhead, cache_limit() / 4);
    return ahead_.plan(band, block_x, block_y, wanted,
                       blocks_of(layout_, {0, 0, layout_.width, layout_.height}),
                       bytes / std::max<uint64_t>(block_bytes, 1));
}

void Zarr3Dataset::advise(const Window &window, int buffer_width, int buffer_height) {
    /* GDAL checks windows of datasets, not of bands. */
    const bool is_inside = window.x >= 0 && window.y >= 0 && window.width > 0 &&
                           window.height > 0 && window.x <= layout_.width - window.width &&
                           window.y <= layout_.height - window.height;
    ahead_.advise(is_inside && window.width == buffer_width && window.height == buffer_height
                      ? std::optional<BlockRange>(blocks_of(layout_, window))
                      : std::nullopt);
}

enum zb_code Zarr3Dataset::load_block(int band, int block_x, int block_y, void *image,
                                      zb_error *err) {
    /* First of all, because it may make the array anew. */
    const enum zb_code ready = prepare_read(err);
    if (ready != ZB_OK)
        return ready;
    const GDALDataType type = GetRasterBand(band + 1)->GetRasterDataType();
    const std::vector<int> mates = layout_.chunk_mates(band);
    const uint64_t budget =
        cache_limit() / 2 / std::max<uint64_t>(bytes_of_block(layout_, type), 1);
    const size_t most = static_cast<size_t>(std::min<uint64_t>(budget, kMaxBoxes));
    BlockBatch batch(this, type);
    batch.add(band, block_x, block_y, image);

    /* Room for blocks, by bytes and by number. The block that was asked for goes in whatever it
       takes; the rest only while there is room. */
    bool room = true;
    const auto add_mates = [&](int x, int y, bool with_band) {
        for (size_t i = 0; i < mates.size() && room; i++) {
            if (with_band || mates[i] != band)
                room = batch.size() < most && batch.add_missing(mates[i], x, y);
        }
    };
    add_mates(block_x, block_y, false);
    /* Onwards from here, in the order in which GDAL will ask for them: what does not fit any more
       is what it needs last. */
    const ReadAhead::Plan plan =
        plan_blocks(band, block_x, block_y, bytes_of_block(layout_, type) * mates.size());
    uint64_t next = plan.first + 1;
    for (; room && next < plan.end; next++)
        add_mates(plan.range.x_of(next), plan.range.y_of(next), true);
    const auto part =
        [&](uint64_t number) { /* of the request under way, if it is one of GDAL's */
                               return expected_ && expected_->contains(block_x, block_y)
                                          ? static_cast<double>(
                                                expected_->number(block_x, block_y) + number -
                                                plan.first) /
                                                static_cast<double>(expected_->count())
                                          : 0;
        };
    return batch.run(part(plan.first), part(next), err);
}
