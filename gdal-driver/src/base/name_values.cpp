/* SPDX-License-Identifier: MIT */
#include "base/name_values.h"

#include "base/handles.h"

namespace zarr3 {

std::vector<std::pair<std::string, std::string>> name_values(CSLConstList list) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (; list != nullptr && *list != nullptr; list++) {
        char *name = nullptr;
        const char *value = CPLParseNameValue(*list, &name);
        const GdalText owner(name);
        if (name != nullptr)
            pairs.emplace_back(name, value);
    }
    return pairs;
}

} // namespace zarr3
