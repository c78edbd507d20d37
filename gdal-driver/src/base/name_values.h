/* SPDX-License-Identifier: MIT */
/* GDAL's lists of NAME=VALUE as pairs. (GDAL's own iterator over them is not for plugins.) */
#ifndef ZARR3_NAME_VALUES_H
#define ZARR3_NAME_VALUES_H

#include <string>
#include <utility>
#include <vector>

#include "cpl_string.h"

namespace zarr3 {

/* Items without a separator are left out. Blanks stay, which CPLParseNameValue() takes away. */
std::vector<std::pair<std::string, std::string>> name_values(CSLConstList list);

} // namespace zarr3

#endif
