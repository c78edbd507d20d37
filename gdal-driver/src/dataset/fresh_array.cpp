/* SPDX-License-Identifier: MIT */
/*
 * The fill value of an array cannot be changed once there are chunks, and what is never written
 * reads as it. So a new array that gets a nodata value before its first pixel is created once more,
 * with that as its fill value; an array in a hierarchy that has others also when its place decides
 * about the names of its dimensions.
 */
#include "dataset/fresh_array.h"

#include "geo/shared_names.h"

namespace zarr3 {

void FreshArray::begin(const NewArray &plan, bool company) {
    plan_ = plan;
    fill_.assign(plan.dtype.size, 0);
    has_company_ = company;
}

bool FreshArray::has_stale_fill(const NoData &nodata) const {
    return plan_ && nodata_element(nodata, plan_->dtype) != fill_;
}

enum zb_code FreshArray::settle(zb_hierarchy *hierarchy, Array *array, const NoData &nodata,
                                const Georeference &place, zb_error *err) {
    if (!plan_)
        return ZB_OK;
    const std::vector<std::string> names = plan_->names;
    enum zb_code code = ZB_OK;
    if (has_company_)
        code = name_dimensions(hierarchy, array->path(), place, &*plan_, err);
    if (code == ZB_OK && (has_stale_fill(nodata) || names != plan_->names)) {
        fill_ = nodata_element(nodata, plan_->dtype);
        code = array->recreate(*plan_, fill_, err);
    }
    return code;
}

} // namespace zarr3
