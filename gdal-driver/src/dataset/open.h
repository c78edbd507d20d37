/* SPDX-License-Identifier: MIT */
/* From a name to a dataset. */
#ifndef ZARR3_OPEN_H
#define ZARR3_OPEN_H

#include "base/compat.h"
#include "store/node.h"

namespace zarr3 {

/* One stat at most. */
int identify(GDALOpenInfo *info);

/* Null without an error for everything that is not Zarr version 3. */
GDALDataset *open(GDALOpenInfo *info);

} // namespace zarr3

#endif
