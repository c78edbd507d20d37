/* SPDX-License-Identifier: MIT */
/*
 * The Zarr conventions framework: a convention is known by its UUID, else by the address of its
 * schema or specification; its name means nothing. A hierarchy may declare its conventions once, at
 * the root or at a group between, so that a node asks the groups above it too. What is declared is
 * only that attributes of these names have the convention's meaning; which nodes inherit the
 * attributes themselves is for each convention to say (crs.cpp, geotransform.cpp, axes.cpp).
 */
#include "array/conventions.h"

#include <algorithm>
#include <cstring>

#include "array/attributes.h"
#include "base/json_text.h"

namespace zarr3 {

const Convention kProj = {"f17cb550-5864-4468-aeb7-f3180cfb622f", "proj"};
const Convention kSpatial = {"689b58e2-cf7b-45e0-9fff-9cfc0883d6b4", "spatial"};
const Convention kMultiscales = {"d35379db-88df-4056-af3a-620245f8e347", "multiscales"};

/* "https://.../zarr-conventions/proj/..." names the repository "/proj/" and its early homes
   "/geo-proj/". */
static bool address_names(const zb_json *entry, const char *member, const char *repository) {
    const char *address = zb_json_string(zb_json_get(entry, member));
    if (address == nullptr || strstr(address, "zarr-") == nullptr)
        return false;
    const std::string plain = std::string("/") + repository + "/";
    const std::string early = std::string("/geo-") + repository + "/";
    return strstr(address, plain.c_str()) != nullptr || strstr(address, early.c_str()) != nullptr;
}

bool is_place_attribute(const std::string &name) {
    return name.compare(0, 5, "proj:") == 0 || name.compare(0, 8, "spatial:") == 0;
}

const char *const kRepeatsPlace = "zarrbridge:repeats_place";

bool repeats_place(const zb_node *group) {
    const zb_json *said = attribute(group, kRepeatsPlace);
    return said != nullptr && zb_node_array(group) == nullptr && zb_json_bool(said);
}

/* True if what the node says by the convention is meant for no other one. */
static bool only_repeats(const zb_node *node, const Convention &convention) {
    return (&convention == &kProj || &convention == &kSpatial) && repeats_place(node);
}

static bool declares(const zb_node *node, const Convention &convention) {
    if (only_repeats(node, convention))
        return false;
    const zb_json *list = attribute(node, "zarr_conventions");
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY)
        return false;
    for (const zb_json *entry = zb_json_first(list); entry != nullptr;
         entry = zb_json_next(entry)) {
        const char *id = zb_json_string(zb_json_get(entry, "uuid"));
        if (id != nullptr) {
            if (strcmp(id, convention.uuid) == 0)
                return true;
            continue;
        }
        if (address_names(entry, "schema_url", convention.repository) ||
            address_names(entry, "spec_url", convention.repository))
            return true;
    }
    return false;
}

bool follows(const zb_node *node, const Convention &convention, NearbyNodes &around) {
    if (node == nullptr || only_repeats(node, convention))
        return false;
    if (declares(node, convention))
        return true;
    for (std::string path = zb_node_path(node); !path.empty();) {
        path = parent_path(path);
        if (declares(around.at(path).get(), convention))
            return true;
    }
    return false;
}

std::string declaration(const Convention &convention, const char *home, const char *name,
                        const char *description) {
    const std::string at = home;
    return json_object({{"uuid", json_quote(convention.uuid)},
                        {"schema_url", json_quote("https://raw.githubusercontent.com/" + at +
                                                  "/refs/tags/v1/schema.json")},
                        {"spec_url", json_quote("https://github.com/" + at + "/blob/v1/README.md")},
                        {"name", json_quote(name)},
                        {"description", json_quote(description)}});
}

std::vector<std::string> other_declarations(const zb_node *node,
                                            const std::vector<const Convention *> &conventions) {
    std::vector<std::string> entries;
    const zb_json *list = attribute(node, "zarr_conventions");
    const bool is_list = zb_json_kind_of(list) == ZB_JSON_ARRAY;
    for (const zb_json *entry = is_list ? zb_json_first(list) : nullptr; entry != nullptr;
         entry = zb_json_next(entry)) {
        const char *uuid = zb_json_string(zb_json_get(entry, "uuid"));
        if (uuid == nullptr ||
            std::none_of(conventions.begin(), conventions.end(),
                         [uuid](const Convention *one) { return strcmp(uuid, one->uuid) == 0; }))
            entries.push_back(json_text(entry));
    }
    return entries;
}

void declare_place(const zb_node *node, bool proj, bool spatial, AttributeChanges *changes) {
    std::vector<std::string> entries = other_declarations(node, {&kProj, &kSpatial});
    if (proj)
        entries.push_back(declaration(kProj, "zarr-experimental/geo-proj", "proj:",
                                      "Coordinate reference system information for geospatial "
                                      "data"));
    if (spatial)
        entries.push_back(declaration(kSpatial, "zarr-conventions/spatial",
                                      "spatial:", "Spatial coordinate information"));
    if (entries.empty())
        changes->remove("zarr_conventions");
    else
        changes->set("zarr_conventions", json_list(entries));
}

bool is_eopf_product(NearbyNodes &around) {
    const NodePtr root = around.at("");
    const zb_json *item = attribute(root.get(), "stac_discovery");
    return zb_json_kind_of(zb_json_get(item, "properties")) == ZB_JSON_OBJECT;
}

} // namespace zarr3
