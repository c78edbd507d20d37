/* SPDX-License-Identifier: MIT */
/* Writing stores over GDAL's file systems: in /vsimem/ only, where a put can be what the interface
   promises, all or nothing. */
#ifndef ZARR3_VSI_WRITE_H
#define ZARR3_VSI_WRITE_H

#include "zarrbridge/sys/store.h"

namespace zarr3 {

/* Sets the operations that write. */
void add_vsi_writing(zb_store_ops *ops);

} // namespace zarr3

#endif
