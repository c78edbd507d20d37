/* SPDX-License-Identifier: MIT */
/* What GDAL asks of the driver itself: its properties and calls. */
#ifndef ZARR3_DESCRIPTION_H
#define ZARR3_DESCRIPTION_H

#include "base/compat.h"

namespace zarr3 {

/* Gives a driver its name, and the properties and the calls of this one; the suffixes of stores are
   those of one driver. */
void describe_driver(GDALDriver *driver, const char *name, bool has_suffixes);

/* Both views of a name: as rasters, and the multidimensional one. */
GDALDataset *open_view(GDALOpenInfo *info);
GDALDataset *copy_view(const char *name, GDALDataset *source, int strict, OptionList options,
                       GDALProgressFunc progress, void *progress_data);

} // namespace zarr3

#endif
