/* SPDX-License-Identifier: MIT */
/* GDAL's lists of NAME=VALUE as pairs. (GDAL's own iterator over them is not for plugins.) */
#ifndef ZARR3_NAME_VALUES_H
#define ZARR3_NAME_VALUES_H

#include <string>
#include <utility>
#include <vector>

#include "cpl_string.h"

namespace zarr3 {

/*
 * GDAL's own functions take both "=" and ":" for what ends a name, so that they split "a:b=c" after
 * the "a", and find or replace it where a program says "a". Here a name ends at the first "=", and
 * at the first ":" of an item without one; names may have colons.
 */

/* Items without a separator are left out. Blanks stay, which CPLParseNameValue() takes away. */
std::vector<std::pair<std::string, std::string>> name_values(CSLConstList list);

/* The value of the first item of that name, else of the first one whose name has other cases of
   letters, which GDAL takes for the same; NULL where there is none. */
const char *item_value(CSLConstList list, const char *name);

/* Sets the first item of that name, or adds one; the value NULL removes it. Programs may give no
   name, which leads to nothing. */
void set_item(CPLStringList *list, const char *name, const char *value);

} // namespace zarr3

#endif
