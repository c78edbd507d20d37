/* SPDX-License-Identifier: MIT */
/*
 * The fill value of an array cannot be changed once there are chunks, and what is never written
 * reads as it. So a new array that gets a nodata value before its first pixel is created once more,
 * with that as its fill value; an array in a hierarchy that has others also when its place decides
 * about the names of its dimensions.
 */
#include "array/fresh_array.h"

namespace zarr3 {

void FreshArray::begin(const NewArray &plan, NameDimensions names) {
    plan_ = plan;
    fill_.assign(plan.dtype.size, 0);
    names_ = names;
}

bool FreshArray::has_stale_fill(const NoData &nodata) const {
    return plan_ && plan_->dtype.kind != ZB_KIND_STRING &&
           nodata_element(nodata, plan_->dtype) != fill_;
}

enum zb_code FreshArray::follow(zb_hierarchy *hierarchy, const std::string &array,
                                const NoData *nodata, const Georeference &place, bool *changed,
                                zb_error *err) {
    const std::vector<std::string> names = plan_->names;
    const enum zb_code code =
        names_ != nullptr ? names_(hierarchy, array, place, &*plan_, err) : ZB_OK;
    const bool is_stale = nodata != nullptr && has_stale_fill(*nodata);
    if (is_stale)
        fill_ = nodata_element(*nodata, plan_->dtype);
    *changed = is_stale || names != plan_->names;
    return code;
}

} // namespace zarr3
