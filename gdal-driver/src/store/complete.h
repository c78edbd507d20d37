/* SPDX-License-Identifier: MIT */
/* The end of making a store. */
#ifndef ZARR3_STORE_COMPLETE_H
#define ZARR3_STORE_COMPLETE_H

#include "cpl_error.h"
#include "zarrbridge/hierarchy.h"

namespace zarr3 {

/* Whether the root gets consolidated metadata: IfItFits leaves out what is larger than
   consolidated_bytes, where Yes fails. */
enum class Consolidate { No, IfItFits, Yes };

/* Consolidates the metadata, which later changes keep current, and commits the store of a new
   archive; settles another one. Reports errors. */
CPLErr complete(zb_hierarchy *hierarchy, Consolidate wish);

} // namespace zarr3

#endif
