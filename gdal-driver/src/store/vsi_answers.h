/* SPDX-License-Identifier: MIT */
/* What the answers of GDAL's file systems mean: an object, its absence, or a failure. */
#ifndef ZARR3_VSI_ANSWERS_H
#define ZARR3_VSI_ANSWERS_H

#include <string>

#include "cpl_vsi.h"
#include "zarrbridge/sys/store.h"

namespace zarr3 {

/* The size and the version of a file: see the top of vsi_store.cpp. */
void fill_info(const VSIStatBufL &stat, zb_object_info *info);

/* Asks for a file. ZB_ENOTFOUND where it surely is not there. A directory in an object's place is
   damage: an absent chunk would read as fill. */
enum zb_code stat_path(const std::string &path, zb_object_info *info, zb_error *err);

/* The reason (errno: `code`) of a failed open of what stat_path has found: another has erased it
   since, or it cannot be read. */
enum zb_code explain_open(const std::string &path, int code, zb_error *err);

} // namespace zarr3

#endif
