/* SPDX-License-Identifier: MIT */
/* From a name to a dataset. */
#ifndef ZARR3_OPEN_H
#define ZARR3_OPEN_H

#include "base/compat.h"
#include "store/node.h"

namespace zarr3 {

/* One stat at most where there is a zarr.json. GDAL_IDENTIFY_UNKNOWN for version 2 beside GDAL's own
   driver, which may decode it. */
int identify(GDALOpenInfo *info);

/* Null without an error for everything that is not Zarr version 3, nor a store of version 2 that GDAL's
   own driver does not decode. */
GDALDataset *open(GDALOpenInfo *info);

} // namespace zarr3

#endif
