/* SPDX-License-Identifier: MIT */
/* A store over GDAL's virtual file systems: /vsimem/, /vsizip/, /vsis3/ and the like. */
#ifndef ZARR3_VSI_STORE_H
#define ZARR3_VSI_STORE_H

#include <string>

#include "zarrbridge/sys/store.h"

namespace zarr3 {

/* ZB_ENOTFOUND when root holds no zarr.json (not all systems have directories to ask for). */
enum zb_code open_vsi_store(const std::string &root, zb_store **out, zb_error *err);

} // namespace zarr3

#endif
