/* SPDX-License-Identifier: MIT */
#include "array/conventions.h"

#include <algorithm>
#include <cstring>

#include "array/attributes.h"
#include "base/json_text.h"

namespace zarr3 {

bool is_place_attribute(const std::string &name) {
    return name.compare(0, 5, "proj:") == 0 || name.compare(0, 8, "spatial:") == 0;
}

bool follows(const zb_node *node, enum zb_convention convention, NearbyNodes &around) {
    const zb_nodes nodes = around.for_core();
    return zb_convention_holds(node, convention, &nodes);
}

/* The entries of the node's own list that declare no convention of a place, as JSON. */
static std::vector<std::string> other_declarations(const zb_node *node) {
    std::vector<std::string> entries;
    const zb_json *list = attribute(node, "zarr_conventions");
    const bool is_list = zb_json_kind_of(list) == ZB_JSON_ARRAY;
    for (const zb_json *entry = is_list ? zb_json_first(list) : nullptr; entry != nullptr;
         entry = zb_json_next(entry)) {
        const char *uuid = zb_json_string(zb_json_get(entry, "uuid"));
        if (uuid == nullptr || (strcmp(uuid, zb_convention_uuid(ZB_CONVENTION_PROJ)) != 0 &&
                                strcmp(uuid, zb_convention_uuid(ZB_CONVENTION_SPATIAL)) != 0))
            entries.push_back(json_text(entry));
    }
    return entries;
}

void declare_place(const zb_node *node, bool proj, bool spatial, AttributeChanges *changes) {
    std::vector<std::string> entries = other_declarations(node);
    if (proj)
        entries.push_back(zb_convention_entry(ZB_CONVENTION_PROJ));
    if (spatial)
        entries.push_back(zb_convention_entry(ZB_CONVENTION_SPATIAL));
    if (entries.empty())
        changes->remove("zarr_conventions");
    else
        changes->set("zarr_conventions", json_list(entries));
}

} // namespace zarr3
