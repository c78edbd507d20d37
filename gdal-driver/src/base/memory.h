/* SPDX-License-Identifier: MIT */
/* Owners of memory that GDAL allocates. */
#ifndef ZARR3_MEMORY_H
#define ZARR3_MEMORY_H

#include "cpl_vsi.h"

namespace zarr3 {

/* For memory that GDAL allocates. */
struct FreeMemory {
    void operator()(void *memory) const {
        VSIFree(memory);
    }
};

} // namespace zarr3

#endif
