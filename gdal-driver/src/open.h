/* SPDX-License-Identifier: MIT */
/* Which names the driver takes, and what it makes of them. */
#ifndef ZARR3_OPEN_H
#define ZARR3_OPEN_H

#include "compat.h"
#include "node.h"

namespace zarr3 {

/* One stat at most. */
int identify(GDALOpenInfo *info);

/* Null without an error for everything that is not Zarr version 3. */
GDALDataset *open(GDALOpenInfo *info);

/* Opens the store whose root is the directory. */
enum zb_code open_store(const std::string &root, Hierarchy *hierarchy, zb_error *err,
                        bool create = false);

/* Does the document at the path say "zarr_format": 3, readable or not? */
bool claims_version_3(zb_store *store, const std::string &path);

/* Local paths, and GDAL's files in memory. */
bool is_writable_place(const std::string &root);

/* GDAL_NUM_THREADS for the core; before its first use. */
void adopt_thread_count();

} // namespace zarr3

#endif
