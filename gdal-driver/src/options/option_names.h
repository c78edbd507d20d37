/* SPDX-License-Identifier: MIT */
/* The names in a list of options as GDAL has it, for people who have mistyped one. */
#ifndef ZARR3_OPTION_NAMES_H
#define ZARR3_OPTION_NAMES_H

#include <string>

namespace zarr3 {

/* True if an XML list of options, as GDAL's metadata have it, declares the name. */
bool declares_option(const char *xml, const std::string &name);

/* A warning that says which options there are. GDAL's own says only that this one is not. */
void tell_options(const char *kind, const std::string &unknown, const char *xml);

} // namespace zarr3

#endif
