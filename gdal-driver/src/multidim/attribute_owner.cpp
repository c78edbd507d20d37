/* SPDX-License-Identifier: MIT */
#include "multidim/attribute_owner.h"

#include <algorithm>

#include "array/attributes.h"
#include "array/conventions.h"
#include "geo/crs.h"
#include "multidim/attribute.h"
#include "zarrbridge/conventions.h"

namespace zarr3 {

static bool is_text(const zb_json *value, const std::string &text) {
    const char *found = zb_json_string(value);
    return found != nullptr && found == text;
}

/* The declarations of conventions whose attributes are hidden themselves. */
static bool declares_crs_alone(const zb_json *list) {
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY)
        return false;
    for (const zb_json *entry = zb_json_first(list); entry != nullptr;
         entry = zb_json_next(entry)) {
        if (!is_text(zb_json_get(entry, "uuid"), kProj.uuid))
            return false;
    }
    return true;
}

/* GDAL has calls for these, by which its programs copy them. */
static bool has_own_call(const zb_node *node, const zb_json *member) {
    static constexpr const char *kNames[] = {
        "units", "scale_factor", "add_offset", "_FillValue",    "_Unsigned",
        "_CRS",  "proj:code",    "proj:wkt2",  "proj:projjson", "grid_mapping"};
    const std::string name = zb_json_name(member);
    if (zb_node_array(node) == nullptr)
        return false;
    if (name == "zarr_conventions")
        return declares_crs_alone(member);
    if (name == "coordinates") /* the grid mapping stands there for xarray */
        return is_text(member, attribute_text(node, "grid_mapping"));
    return name == kEpochAttribute || name == ZB_FILL_IS_NODATA ||
           std::any_of(std::begin(kNames), std::end(kNames),
                       [&](const char *known) { return name == known; });
}

void AttributeOwner::rename_held() {
    for (Zarr3Attribute *attribute : held_)
        attribute->follow_owner();
}

std::vector<std::shared_ptr<GDALAttribute>>
list_attributes(const std::shared_ptr<AttributeOwner> &self, bool all) {
    std::vector<std::shared_ptr<GDALAttribute>> result;
    const zb_node *node = self->attributes_of();
    const zb_json *attributes = node == nullptr ? nullptr : zb_node_attributes(node);
    for (const zb_json *member = zb_json_first(attributes); member != nullptr;
         member = zb_json_next(member)) {
        if (all || !has_own_call(node, member))
            result.push_back(Zarr3Attribute::make(self, member));
    }
    return result;
}

std::shared_ptr<GDALAttribute> find_attribute(const std::shared_ptr<AttributeOwner> &self,
                                              const std::string &name) {
    const zb_json *member = attribute(self->attributes_of(), name.c_str());
    return member == nullptr ? nullptr : Zarr3Attribute::make(self, member);
}

std::shared_ptr<GDALAttribute> create_attribute(const std::shared_ptr<AttributeOwner> &self,
                                                const std::string &name,
                                                const std::vector<GUInt64> &shape,
                                                const GDALExtendedDataType &type) {
    if (name.empty() || attribute(self->attributes_of(), name.c_str()) != nullptr) {
        CPLError(CE_Failure, CPLE_AppDefined, "%s: an attribute '%s' cannot be created: %s",
                 self->owner_name().c_str(), name.c_str(),
                 name.empty() ? "it needs a name" : "there is one");
        return nullptr;
    }
    std::string reason;
    const auto made = Zarr3Attribute::make_new(self, name, shape, type, &reason);
    if (made == nullptr)
        CPLError(CE_Failure, CPLE_NotSupported, "%s: attribute %s: %s", self->owner_name().c_str(),
                 name.c_str(), reason.c_str());
    return made;
}

bool delete_attribute(AttributeOwner &owner, const std::string &name) {
    if (attribute(owner.attributes_of(), name.c_str()) == nullptr) {
        CPLError(CE_Failure, CPLE_AppDefined, "%s has no attribute %s", owner.owner_name().c_str(),
                 name.c_str());
        return false;
    }
    AttributeChanges changes;
    changes.remove(name);
    return owner.change(changes);
}

} // namespace zarr3
