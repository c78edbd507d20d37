/* SPDX-License-Identifier: MIT */
/* Names that no driver opens, and of which this one knows why. */
#ifndef ZARR3_WRONG_NAMES_H
#define ZARR3_WRONG_NAMES_H

#include <string>

#include "base/compat.h"
#include "zarrbridge/error.h"

namespace zarr3 {

/* True, with *err set, for a name that zb_name_explain knows, and that no other driver reads. */
bool is_wrong_name(GDALOpenInfo *info, zb_error *err);

/* A warning where a program gives options for opening that there are not. */
void check_open_options(GDALOpenInfo *info);

} // namespace zarr3

#endif
