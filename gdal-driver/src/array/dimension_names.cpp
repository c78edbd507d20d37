/* SPDX-License-Identifier: MIT */
#include "array/dimension_names.h"

#include "cpl_string.h"

namespace zarr3 {

std::string dimension_name(const zb_array_info *info, uint32_t dim) {
    if (info->dimension_names == nullptr || info->dimension_names[dim] == nullptr)
        return {};
    return info->dimension_names[dim];
}

bool has_dimension(const zb_node *node, const std::string &name) {
    const zb_array_info *info = node == nullptr ? nullptr : zb_node_array(node);
    for (uint32_t d = 0; info != nullptr && d < info->ndim; d++) {
        if (dimension_name(info, d) == name)
            return true;
    }
    return false;
}

std::string usual_name(const std::string &name, const std::string &array) {
    const std::string own = array + "_";
    return !array.empty() && STARTS_WITH(name.c_str(), own.c_str()) ? name.substr(own.size())
                                                                    : name;
}

std::string dimension_label(const zb_array_info *info, uint32_t dim) {
    const std::string name = dimension_name(info, dim);
    return name.empty() ? "dim" + std::to_string(dim) : name;
}

} // namespace zarr3
