/* SPDX-License-Identifier: MIT */
#include "base/name_values.h"

#include <cstring>

namespace zarr3 {

std::vector<std::pair<std::string, std::string>> name_values(CSLConstList list) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (; list != nullptr && *list != nullptr; list++) {
        const char *separator = strpbrk(*list, "=:");
        if (separator != nullptr && separator != *list)
            pairs.emplace_back(std::string(*list, separator), separator + 1);
    }
    return pairs;
}

} // namespace zarr3
