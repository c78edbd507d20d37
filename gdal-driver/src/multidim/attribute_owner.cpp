/* SPDX-License-Identifier: MIT */
#include "multidim/attribute_owner.h"

#include <algorithm>
#include <cstring>

#include "array/attributes.h"
#include "array/conventions.h"
#include "array/dimension_names.h"
#include "array/hdf5_side.h"
#include "base/json_text.h"
#include "multidim/attribute.h"
#include "raster/axes.h"
#include "side/side_properties.h"
#include "zarrbridge/conventions.h"

namespace zarr3 {

static bool is_text(const zb_json *value, const std::string &text) {
    const char *found = zb_json_string(value);
    return found != nullptr && found == text;
}

/* ---- What would be wrong of a view ---- */

/* True if the dimensions are known by their names as well. */
static bool lists_usual_dimensions(const zb_node *node, const zb_json *list) {
    const zb_json *first = zb_json_kind_of(list) == ZB_JSON_ARRAY ? zb_json_first(list) : nullptr;
    const std::string array = zb_node_name(node);
    return zb_json_count(list) == 2 && is_y_name(usual_name(json_text(first), array)) &&
           is_x_name(usual_name(json_text(zb_json_next(first)), array));
}

/* The place of all rows and columns. Where indexing variables tell it, those of a view tell the
   view's, and attributes are not needed. */
static bool states_place_by_shape(const zb_node *node, const zb_json *member) {
    const std::string name = zb_json_name(member);
    return name.compare(0, 8, "spatial:") == 0 &&
           (name != "spatial:dimensions" || lists_usual_dimensions(node, member));
}

static bool states_any_place(const zb_node *node) {
    return attribute(node, "spatial:transform") != nullptr ||
           attribute(node, "spatial:bbox") != nullptr;
}

/* The GDAL extension without what GDAL has calls for, and without the side properties of all
   pixels: statistics, histograms, ground control points. Null where nothing is left. */
static std::shared_ptr<GDALAttribute>
extension_of_views(const std::shared_ptr<AttributeOwner> &self, const zb_node *node) {
    const GdalExtension extension = gdal_extension(node);
    GdalMembers members;
    for (const auto member :
         {ZB_GDAL_NODATA, ZB_GDAL_MASK, ZB_GDAL_MASK_OF, ZB_GDAL_OVERRULED, ZB_GDAL_LEVEL_OF})
        members[member] = compact_json(zb_gdal_extension_get(extension.get(), member));
    const XmlTree tree = side_properties_of(node);
    if (tree != nullptr) {
        drop_statistics(tree.get(), {});
        drop_places(tree.get());
        const std::string text = side_properties_text(tree.get());
        members[ZB_GDAL_PAM] = text.empty() ? text : json_quote(text);
    }
    const std::string value = gdal_extension_json(members);
    if (value.empty())
        return nullptr;
    const Json kept = parse_json(json_object({{ZB_GDAL_EXTENSION, value}}));
    return Zarr3Attribute::make(self, zb_json_first(kept.get()), StatedTexts(nullptr));
}

/* True for the attribute of the GDAL extension, and for those of earlier versions. */
static bool is_of_extension(const std::string &name) {
    bool is = name == ZB_GDAL_EXTENSION;
    for (unsigned i = 0; i < ZB_GDAL_MEMBERS && !is; i++) {
        const char *former = zb_gdal_former_name(static_cast<enum zb_gdal_member>(i));
        is = former != nullptr && name == former;
    }
    return is;
}

/* ---- What GDAL has calls for ---- */

/* True if no attribute of a convention that is declared is shown. */
static bool declares_hidden_alone(const zb_node *node, const zb_json *list, bool hides_place) {
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY)
        return false;
    bool shows_place = false;
    const zb_json *all = zb_node_attributes(node);
    for (const zb_json *member = zb_json_first(all); member != nullptr;
         member = zb_json_next(member))
        shows_place = shows_place || (strncmp(zb_json_name(member), "spatial:", 8) == 0 &&
                                      !(hides_place && states_place_by_shape(node, member)));
    for (const zb_json *entry = zb_json_first(list); entry != nullptr;
         entry = zb_json_next(entry)) {
        const zb_json *id = zb_json_get(entry, "uuid");
        if (!is_text(id, zb_convention_uuid(ZB_CONVENTION_PROJ)) &&
            (shows_place || !is_text(id, zb_convention_uuid(ZB_CONVENTION_SPATIAL))))
            return false;
    }
    return true;
}

/* What a group repeats of its rasters. A copy may have other ones, or parts of these. */
static bool is_repeated(const zb_node *group, const zb_json *member) {
    const std::string name = zb_json_name(member);
    if (!zb_group_repeats_place(group))
        return false;
    return is_place_attribute(name) ||
           (name == "zarr_conventions" && declares_hidden_alone(group, member, true));
}

/* GDAL has calls for these, by which its programs copy them. */
static bool has_own_call(const zb_node *node, const zb_json *member, bool hides_place) {
    static constexpr const char *kNames[] =
        {
            "units",         "scale_factor", "add_offset",       "_FillValue",
            "_Unsigned",     "_CRS",         "proj:code",        "proj:wkt2",
            "proj:projjson", "grid_mapping", "_ARRAY_DIMENSIONS"}; /* the last is xarray's */
    const std::string name = zb_json_name(member);
    if (zb_node_array(node) == nullptr)
        return is_repeated(node, member);
    if (name == "zarr_conventions")
        return declares_hidden_alone(node, member, hides_place);
    if (name == "coordinates") /* the grid mapping stands there for xarray */
        return is_text(member, attribute_text(node, "grid_mapping"));
    return (hides_place && states_place_by_shape(node, member)) ||
           std::any_of(std::begin(kNames), std::end(kNames),
                       [&](const char *known) { return name == known; });
}

void AttributeOwner::rename_held() {
    for (Zarr3Attribute *attribute : held_)
        attribute->follow_owner();
}

bool AttributeOwner::store_created() {
    bool done = true;
    for (Zarr3Attribute *attribute : held_)
        done = attribute->store_created() && done;
    return done;
}

bool AttributeOwner::has_created(const std::string &name) const {
    return std::any_of(held_.begin(), held_.end(), [&](const Zarr3Attribute *attribute) {
        return attribute->is_created_only() && attribute->GetName() == name;
    });
}

void AttributeOwner::held_is_deleted(const std::string &name) {
    for (Zarr3Attribute *attribute : held_) {
        if (attribute->GetName() == name)
            attribute->Deleted();
    }
}

void AttributeOwner::all_held_are_deleted() {
    for (Zarr3Attribute *attribute : held_)
        attribute->Deleted();
}

std::vector<std::shared_ptr<GDALAttribute>>
list_attributes(const std::shared_ptr<AttributeOwner> &self, bool all) {
    std::vector<std::shared_ptr<GDALAttribute>> result;
    self->store_created();
    const zb_node *node = self->attributes_of();
    const zb_json *attributes = node == nullptr ? nullptr : zb_node_attributes(node);
    const StatedTexts texts(node);
    const bool hides_place =
        !all && node != nullptr && states_any_place(node) && self->place_is_carried();
    for (const zb_json *member = zb_json_first(attributes); member != nullptr;
         member = zb_json_next(member)) {
        const std::string name = zb_json_name(member);
        if (!all &&
            (name == kHdf5Side || is_of_extension(name) || has_own_call(node, member, hides_place)))
            continue;
        result.push_back(Zarr3Attribute::make(self, member, texts));
    }
    if (const auto extension = all ? nullptr : extension_of_views(self, node))
        result.push_back(extension);
    return result;
}

std::shared_ptr<GDALAttribute> find_attribute(const std::shared_ptr<AttributeOwner> &self,
                                              const std::string &name) {
    self->store_created();
    const zb_json *member = attribute(self->attributes_of(), name.c_str());
    return member == nullptr
               ? nullptr
               : Zarr3Attribute::make(self, member, StatedTexts(self->attributes_of()));
}

std::shared_ptr<GDALAttribute> create_attribute(const std::shared_ptr<AttributeOwner> &self,
                                                const std::string &name,
                                                const std::vector<GUInt64> &shape,
                                                const GDALExtendedDataType &type) {
    std::string reason;
    if (name.empty())
        reason = "it needs a name";
    else if (name == kHdf5Side)
        reason = "the name is kept for what only HDF5 knows of a node; choose another one";
    else if (self->has_created(name) || (name != ZB_GDAL_EXTENSION &&
                                         attribute(self->attributes_of(), name.c_str()) != nullptr))
        reason = "there is one";
    if (!reason.empty()) {
        CPLError(CE_Failure, CPLE_AppDefined, "%s: an attribute '%s' cannot be created: %s",
                 self->owner_name().c_str(), name.c_str(), reason.c_str());
        return nullptr;
    }
    const auto made = Zarr3Attribute::make_new(self, name, shape, type, &reason);
    if (made == nullptr)
        CPLError(CE_Failure, CPLE_NotSupported, "%s: attribute %s: %s", self->owner_name().c_str(),
                 name.c_str(), reason.c_str());
    return made;
}

bool may_change_attribute(const AttributeOwner &owner, const std::string &name) {
    if (name != kHdf5Side)
        return true;
    CPLError(CE_Failure, CPLE_NotSupported,
             "%s: the attribute %s holds what only HDF5 knows, and stays as it is: change that by "
             "HDF5 (h5py)",
             owner.owner_name().c_str(), kHdf5Side);
    return false;
}

bool delete_attribute(AttributeOwner &owner, const std::string &name) {
    if (!may_change_attribute(owner, name) || !owner.store_created())
        return false;
    if (attribute(owner.attributes_of(), name.c_str()) == nullptr) {
        CPLError(CE_Failure, CPLE_AppDefined, "%s has no attribute %s", owner.owner_name().c_str(),
                 name.c_str());
        return false;
    }
    AttributeChanges changes;
    changes.remove(name);
    TextStatements texts(owner.attributes_of());
    texts.state(name, "", false);
    texts.add_to(&changes);
    if (!owner.change(changes))
        return false;
    owner.held_is_deleted(name);
    return true;
}

bool copy_hdf5_side(const AttributeOwner &from, AttributeOwner &copy) {
    if (!copy.store_created())
        return false;
    AttributeChanges changes;
    copy_hdf5_side(from.attributes_of(), copy.attributes_of(), &changes);
    return copy.change(changes);
}

} // namespace zarr3
