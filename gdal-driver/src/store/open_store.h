/* SPDX-License-Identifier: MIT */
/* Stores on local directories and on GDAL's virtual file systems. */
#ifndef ZARR3_OPEN_STORE_H
#define ZARR3_OPEN_STORE_H

#include "store/node.h"

namespace zarr3 {

/* Opens the store whose root is the directory. */
enum zb_code open_store(const std::string &root, Hierarchy *hierarchy, zb_error *err,
                        bool create = false);

/* From now on the store's arrays have elements of all kinds, those included of which no raster is
   made: structs, text, bytes. Before any node is opened. */
void take_all_kinds(const Hierarchy &hierarchy);

/* Local paths, and GDAL's files in memory. */
bool is_writable_place(const std::string &root);

/* GDAL_NUM_THREADS for the core; before its first use. */
void adopt_thread_count();

} // namespace zarr3

#endif
