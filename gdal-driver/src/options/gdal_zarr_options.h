/* SPDX-License-Identifier: MIT */
/* Creation options of GDAL's own Zarr driver, which its users bring along. */
#ifndef ZARR3_GDAL_ZARR_OPTIONS_H
#define ZARR3_GDAL_ZARR_OPTIONS_H

#include <string>

#include "cpl_string.h"

namespace zarr3 {

/* For the list of creation options: what is understood besides ours. */
extern const char *const kOwnOptions;

/* Puts ours in the place of theirs. False, with *reason set, for what cannot be had here. */
bool translate_own_options(CSLConstList list, CPLStringList *ours, std::string *reason);

} // namespace zarr3

#endif
