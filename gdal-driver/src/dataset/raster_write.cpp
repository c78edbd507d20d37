/* SPDX-License-Identifier: MIT */
/*
 * The way of pixels out of a program. Nearly always they go straight from its buffer to the core's
 * writer, whatever their strides: the writer gathers parts of chunks itself, so GDAL's block cache
 * would only be a second copy. Where the buffer's type does not convert exactly, GDAL's own
 * conversion (which rounds and clamps by its rules) makes strips of the array's type first.
 *
 * The block cache is for two kinds of programs: those that write by blocks, and those that read and
 * write small windows by turns, each of which would otherwise store the chunks under it.
 *
 * Three places may hold the newest pixels then: the cache, the writer, the store. Order is kept by
 * two rules. A direct write first empties the cache of the blocks that it touches. A read that goes
 * past the cache first has changed blocks stored, and the array stores the chunks that wait.
 */
#include "dataset/raster_write.h"

#include <algorithm>

#include "base/errors.h"
#include "base/handles.h"
#include "dataset/block_cache.h"
#include "dataset/dataset.h"

namespace zarr3 {

/* Bytes of a strip of converted pixels. */
static constexpr uint64_t kStripBytes = uint64_t{16} << 20;

enum zb_code write_run(Zarr3Dataset *raster, const BandRun &run, zb_error *err) {
    Array &array = raster->array();
    const NodePtr node = array.shared_node();
    return array.write(box_of(raster->layout(), zb_node_array(node.get())->ndim, run), run.data,
                       exchange_dtype(node.get(), run.type), err);
}

/* By strips of rows, converted by GDAL. */
static enum zb_code write_converted(Zarr3Dataset *raster, const BandRun &run, zb_error *err) {
    const Window &window = run.window;
    const Spacings &from = run.spacings;
    const GDALDataType own = raster->GetRasterBand(1)->GetRasterDataType();
    const int pixel = GDALGetDataTypeSizeBytes(own);
    const uint64_t row = static_cast<uint64_t>(window.width) * static_cast<uint64_t>(run.count) *
                         static_cast<uint64_t>(pixel);
    int rows = static_cast<int>(
        std::clamp<uint64_t>(kStripBytes / row, 1, static_cast<uint64_t>(window.height)));
    const int block = raster->layout().block_height;
    if (rows > block) /* so that strips cover whole blocks as far as possible */
        rows -= rows % block;
    VsiMemory<char> strip(static_cast<char *>(VSI_MALLOC2_VERBOSE(static_cast<size_t>(rows), row)));
    if (strip == nullptr)
        return zb_fail(err, ZB_ENOMEM, "no memory to convert pixels");
    const Spacings to = {pixel, int64_t{pixel} * window.width,
                         int64_t{pixel} * window.width * rows};
    enum zb_code code = ZB_OK;
    for (int y = 0; y < window.height && code == ZB_OK; y += rows) {
        const int height = std::min(rows, window.height - y);
        for (int band = 0; band < run.count; band++) {
            for (int line = 0; line < height; line++)
                GDALCopyWords64(run.data + band * from.band + (y + line) * from.line, run.type,
                                static_cast<int>(from.pixel),
                                strip.get() + band * to.band + line * to.line, own, pixel,
                                window.width);
        }
        const Window part = {window.x, window.y + y, window.width, height};
        code = write_run(raster, {run.first_band, run.count, part, strip.get(), own, to}, err);
    }
    return code;
}

CPLErr write_pixels(Zarr3Dataset *raster, const PixelRequest &request, bool *done) {
    const Layout &layout = raster->layout();
    *done = raster->updates() &&
            (!raster->array().is_mixed() || is_whole_blocks(layout, request.window));
    if (!*done)
        return CE_None;
    if (!raster->prepare_first_write() || !empty_cache(raster, layout, request, true))
        return CE_Failure;
    const bool exact = writes_exactly(raster->node(), request.type);
    for (const BandRun &run : band_runs(layout, request)) {
        zb_error err;
        const enum zb_code code =
            exact ? write_run(raster, run, &err) : write_converted(raster, run, &err);
        if (code != ZB_OK) {
            report(err);
            return CE_Failure;
        }
    }
    return CE_None;
}

/* Blocks are whole also where the raster ends within them. From any thread. */
CPLErr write_block(Zarr3Dataset *raster, int band, int block_x, int block_y, const void *image) {
    const GDALDataType type = raster->GetRasterBand(band + 1)->GetRasterDataType();
    void *block = const_cast<void *>(image); /* it is read, and no more */
    zb_error err;
    if (write_run(raster, block_run(raster->layout(), band, block_x, block_y, block, type), &err) ==
        ZB_OK)
        return CE_None;
    report(err);
    return CE_Failure;
}

} // namespace zarr3
