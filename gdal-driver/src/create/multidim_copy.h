/* SPDX-License-Identifier: MIT */
/*
 * Copies of multidimensional datasets, which GDAL's own Zarr driver makes.
 *
 * GDAL's programs choose a driver by the suffix ".zarr", and that is this one. So that
 * `gdalmdimtranslate in.nc out.zarr` and `gdal mdim convert` work as they do without it, the driver
 * declares that it can copy such datasets, and hands them on. It does not declare that it can open
 * them: GDAL then asks the next driver.
 */
#ifndef ZARR3_MULTIDIM_COPY_H
#define ZARR3_MULTIDIM_COPY_H

#include "base/compat.h"

namespace zarr3 {

/* Opened by the multidimensional API, without bands. */
bool is_multidimensional(GDALDataset *source);

/* CreateCopy() of GDAL's own driver, with its options. */
GDALDataset *copy_multidimensional(const char *name, GDALDataset *source, int strict,
                                   CSLConstList options, GDALProgressFunc progress,
                                   void *progress_data);

} // namespace zarr3

#endif
