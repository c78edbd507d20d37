/* SPDX-License-Identifier: MIT */
#include "store/complete.h"

#include "base/errors.h"
#include "zarrbridge/change.h"
#include "zarrbridge/write.h"

namespace zarr3 {

static enum zb_code consolidate(zb_hierarchy *hierarchy, Consolidate wish, zb_error *err) {
    if (wish == Consolidate::No)
        return ZB_OK;
    const enum zb_code code = zb_group_consolidate(hierarchy, "", err);
    return code == ZB_ELIMIT && wish == Consolidate::IfItFits ? ZB_OK : code;
}

CPLErr complete(zb_hierarchy *hierarchy, Consolidate wish) {
    zb_error err;
    if (consolidate(hierarchy, wish, &err) == ZB_OK &&
        zb_hierarchy_commit(hierarchy, &err) == ZB_OK)
        return CE_None;
    report(err);
    return CE_Failure;
}

} // namespace zarr3
