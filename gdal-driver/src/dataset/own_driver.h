/* SPDX-License-Identifier: MIT */
/* GDAL's own driver for Zarr, and what it reads. */
#ifndef ZARR3_OWN_DRIVER_H
#define ZARR3_OWN_DRIVER_H

#include "base/compat.h"
#include "store/node.h"

namespace zarr3 {

/* True if GDAL's own driver is there and may open this name. */
bool has_own_driver(const GDALOpenInfo *info);

/* True if that driver decodes this array, or all arrays that are children of this group, as far as
   their codecs tell. */
bool own_driver_decodes(const zb_node *node);

} // namespace zarr3

#endif
