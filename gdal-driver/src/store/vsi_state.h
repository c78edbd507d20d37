/* SPDX-License-Identifier: MIT */
/* The struct of a store over GDAL's file systems, which vsi_store.cpp and vsi_write.cpp share. */
#ifndef ZARR3_VSI_STATE_H
#define ZARR3_VSI_STATE_H

#include <atomic>
#include <string>

#include "cpl_string.h"
#include "store/location.h"
#include "zarrbridge/sys/store.h"

namespace zarr3 {

struct VsiStore {
    zb_store base;
    std::string root;
    CPLStringList options;       /* of GDAL, of the thread that opened the store alone */
    std::atomic<bool> is_sparse; /* the last chunk that was asked for is missing */
};

inline std::string path_of(zb_store *store, const char *key) {
    return file_in(reinterpret_cast<VsiStore *>(store)->root, key);
}

} // namespace zarr3

#endif
