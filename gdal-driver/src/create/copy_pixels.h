/* SPDX-License-Identifier: MIT */
/* The pixels of a whole raster from any source into a new store. */
#ifndef ZARR3_COPY_PIXELS_H
#define ZARR3_COPY_PIXELS_H

#include "dataset/dataset.h"

namespace zarr3 {

/* `file`: where GDAL reads the source from, if it is one, for tiles that need not be encoded again.
   False after an error has been reported, or when the user cancelled. */
bool copy_pixels(GDALDataset *source, const std::string &file, Zarr3Dataset *copy,
                 GDALProgressFunc progress, void *progress_data);

} // namespace zarr3

#endif
