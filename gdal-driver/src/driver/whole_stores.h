/* SPDX-License-Identifier: MIT */
/* Deleting, renaming and copying stores as a whole. */
#ifndef ZARR3_WHOLE_STORES_H
#define ZARR3_WHOLE_STORES_H

#include <string>

#include "base/compat.h"

namespace zarr3 {

/* Only nodes of Zarr version 3, with all below them. Other files in a store's directory stay. Does
   nothing when GDAL clears the way for a new raster, see gdal_deletions.h. */
CPLErr delete_dataset(const char *name);

/* A whole store to another place, or a node within its hierarchy. Nothing is overwritten. */
CPLErr rename_dataset(const char *new_name, const char *old_name);
CPLErr copy_dataset(const char *new_name, const char *old_name);

} // namespace zarr3

#endif
