/* SPDX-License-Identifier: MIT */
/* From a name to a dataset. */
#ifndef ZARR3_OPEN_H
#define ZARR3_OPEN_H

#include <vector>

#include "base/compat.h"
#include "base/index_range.h"
#include "store/node.h"
#include "zarrbridge/write.h"

namespace zarr3 {

/* One stat at most where there is a zarr.json. GDAL_IDENTIFY_UNKNOWN for version 2 beside GDAL's
   own driver, which may decode it. */
int identify(GDALOpenInfo *info);

/* The node that a name leads to, and how it is to be opened. */
struct Opened {
    Hierarchy hierarchy;
    NodePtr node;
    IndexRanges pinned; /* the slice */
    bool update = false;
    bool shows_shards = false;   /* as blocks */
    zb_write_options write = {}; /* for updating */
};

/* False without an error for names that are not for this driver (see open). */
bool open_name(GDALOpenInfo *info, Opened *opened);

/* Null without an error for everything that is not Zarr version 3, nor a store of version 2 that
   GDAL's own driver does not decode. */
GDALDataset *open(GDALOpenInfo *info);

} // namespace zarr3

#endif
