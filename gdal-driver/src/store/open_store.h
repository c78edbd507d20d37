/* SPDX-License-Identifier: MIT */
/* Stores on local directories and on GDAL's virtual file systems. */
#ifndef ZARR3_OPEN_STORE_H
#define ZARR3_OPEN_STORE_H

#include "store/node.h"

namespace zarr3 {

/* Opens the store whose root is the directory. */
enum zb_code open_store(const std::string &root, Hierarchy *hierarchy, zb_error *err,
                        bool create = false);

/* True if the document at the path says "zarr_format": 3, readable or not. */
bool claims_version_3(zb_store *store, const std::string &path);

/* Local paths, and GDAL's files in memory. */
bool is_writable_place(const std::string &root);

/* GDAL_NUM_THREADS for the core; before its first use. */
void adopt_thread_count();

} // namespace zarr3

#endif
