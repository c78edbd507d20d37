/* SPDX-License-Identifier: MIT */
/* The pixels of a whole raster from any source into a new store. */
#ifndef ZARR3_COPY_PIXELS_H
#define ZARR3_COPY_PIXELS_H

#include "dataset/dataset.h"

namespace zarr3 {

/* With `tiles`, a raster in `file` that is the same, tiles are moved as they are encoded where they
   can be, and other pixels are read there, too. False after an error has been reported, or when
   the user cancelled. */
bool copy_pixels(GDALDataset *source, GDALDataset *tiles, VSILFILE *file, Zarr3Dataset *copy,
                 GDALProgressFunc progress, void *progress_data);

} // namespace zarr3

#endif
