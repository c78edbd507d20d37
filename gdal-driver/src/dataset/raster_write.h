/* SPDX-License-Identifier: MIT */
/* The way of pixels from a program into a raster that is open for update. */
#ifndef ZARR3_RASTER_WRITE_H
#define ZARR3_RASTER_WRITE_H

#include "dataset/pixel_request.h"
#include "zarrbridge/error.h"

class Zarr3Dataset;

namespace zarr3 {

/* Writes pixels from the caller's buffer, where the raster is open for update. Sets *done unless
   the blocks of the cache should take them. */
CPLErr write_pixels(Zarr3Dataset *raster, const PixelRequest &request, bool *done);

CPLErr write_block(Zarr3Dataset *raster, int band, int block_x, int block_y, const void *image);

/* Writes pixels of a type that needs no conversion by GDAL. From any thread, but one at a time;
   before the first time the raster must have been prepared by prepare_first_write(). */
enum zb_code write_run(Zarr3Dataset *raster, const BandRun &run, zb_error *err);

} // namespace zarr3

#endif
