/* SPDX-License-Identifier: MIT */
/*
 * The fill value of an array cannot be changed once there are chunks, and what is never written
 * reads as it. So a new array that gets a nodata value before its first pixel is created once more,
 * with that as its fill value; an array in a hierarchy that has others also when its place decides
 * about the names of its dimensions. What it has now is asked of its node, and so is true also
 * after a creation that has failed.
 */
#include "array/fresh_array.h"

#include "array/dimension_names.h"

namespace zarr3 {

void FreshArray::begin(const NewArray &plan, NameDimensions names) {
    plan_ = plan;
    names_ = names;
}

/* One element as zb_array_spec has it; that of text points into the node. */
static std::vector<unsigned char> fill_of(const zb_array_info *info) {
    const auto *bytes = static_cast<const unsigned char *>(info->fill_value);
    return {bytes, bytes + info->dtype.size};
}

bool FreshArray::has_stale_fill(const zb_array_info *info, const NoData &nodata) const {
    return plan_ && plan_->dtype.kind != ZB_KIND_STRING &&
           nodata_element(nodata, plan_->dtype) != fill_of(info);
}

static bool has_names(const zb_array_info *info, const std::vector<std::string> &names) {
    for (uint32_t d = 0; d < info->ndim; d++) {
        if (dimension_name(info, d) != names[d])
            return false;
    }
    return true;
}

enum zb_code FreshArray::follow(const zb_node *array, const NoData *nodata,
                                const Georeference &place, std::vector<unsigned char> *fill,
                                bool *changed, zb_error *err) {
    const zb_array_info *info = zb_node_array(array);
    const bool is_stale = nodata != nullptr && has_stale_fill(info, *nodata);
    enum zb_code code = ZB_OK;
    if (names_ != nullptr)
        code = names_(zb_node_hierarchy(array), zb_node_path(array), place, &*plan_, err);
    *fill = is_stale ? nodata_element(*nodata, plan_->dtype) : fill_of(info);
    *changed = is_stale || !has_names(info, plan_->names);
    return code;
}

} // namespace zarr3
