/* SPDX-License-Identifier: MIT */
/* What the reading and the writing half of the store over GDAL's file systems share. */
#ifndef ZARR3_VSI_FILES_H
#define ZARR3_VSI_FILES_H

#include <string>

#include "location.h"
#include "zarrbridge/store.h"

namespace zarr3 {

struct VsiStore {
    zb_store base;
    std::string root;
    std::string archive, inside; /* of a store in a zip archive: its file, and the path in it */
};

inline std::string path_of(zb_store *store, const char *key) {
    return file_in(reinterpret_cast<VsiStore *>(store)->root, key);
}

/* The operations that write, for /vsimem/. vsi_memory.cpp */
void add_memory_writes(zb_store_ops *ops);

} // namespace zarr3

#endif
