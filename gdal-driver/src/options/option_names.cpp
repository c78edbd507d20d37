/* SPDX-License-Identifier: MIT */
#include "options/option_names.h"

#include <cstring>

#include "cpl_error.h"
#include "cpl_string.h"

namespace zarr3 {

static constexpr char kName[] = "<Option name='";

bool declares_option(const char *xml, const std::string &name) {
    const std::string all = CPLString(xml).toupper();
    return all.find("NAME='" + CPLString(name).toupper() + "'") != std::string::npos;
}

void tell_options(const char *kind, const std::string &unknown, const char *xml) {
    std::string names;
    for (const char *at = xml; (at = strstr(at, kName)) != nullptr;) {
        at += strlen(kName);
        names += (names.empty() ? "" : ", ") + std::string(at, strcspn(at, "'"));
    }
    CPLError(CE_Warning, CPLE_NotSupported, "Zarr3 has no %s option %s: there are %s", kind,
             unknown.c_str(), names.c_str());
}

} // namespace zarr3
