/* SPDX-License-Identifier: MIT */
/*
 * Single items among those that GDAL keeps for a dataset or a band (PAM), by names that may have
 * colons: name_values.h. `Pam` is GDAL's class, whose methods are called past those of this driver.
 */
#ifndef ZARR3_PAM_ITEMS_H
#define ZARR3_PAM_ITEMS_H

#include "base/compat.h"
#include "base/name_values.h"

namespace zarr3 {

/* NULL where there is none. GDAL makes up some items, of domains that have no list. */
template <class Pam> const char *pam_item(Pam *object, const char *name, const char *domain) {
    CSLConstList items = object->Pam::GetMetadata(domain);
    return items == nullptr ? object->Pam::GetMetadataItem(name, domain) : item_value(items, name);
}

/* Without the items that are derived from the store: a copy of them would go stale. */
template <class Pam>
CPLErr set_pam_item(Pam *object, const char *name, const char *value, const char *domain) {
    CPLStringList items(CSLDuplicate(object->GDALMajorObject::GetMetadata(domain)), TRUE);
    set_item(&items, name, value);
    return object->Pam::SetMetadata(items.List(), domain);
}

/* What a sidecar file says would win over a value that goes to the store. */
template <class Pam> CPLErr drop_pam_item(Pam *object, const char *name, const char *domain) {
    return item_value(object->Pam::GetMetadata(domain), name) == nullptr
               ? CE_None
               : set_pam_item<Pam>(object, name, nullptr, domain);
}

} // namespace zarr3

#endif
