/* SPDX-License-Identifier: MIT */
/*
 * The core changes one attribute at a time and rewrites the document for each. So an attribute that
 * has the value already is left alone: closing a dataset without changes touches nothing.
 */
#include "array/attribute_changes.h"

#include "array/attributes.h"
#include "zarrbridge/write.h"

namespace zarr3 {

static bool is_same(const zb_json *present, const std::string &value) {
    return value.empty() ? present == nullptr
                         : present != nullptr &&
                               compact_json(parse_json(value).get()) == compact_json(present);
}

enum zb_code AttributeChanges::apply(NodePtr *node, zb_error *err) const {
    const NodePtr before = *node; /* the owner of what `present` points to */
    const auto present = members_of(zb_node_attributes(before.get()));
    for (const auto &[name, value] : changes_) {
        const auto found = present.find(name);
        if (is_same(found == present.end() ? nullptr : found->second, value))
            continue;
        zb_node *changed = nullptr;
        const enum zb_code code = zb_node_set_attribute(
            node->get(), name.c_str(), value.empty() ? nullptr : value.c_str(), &changed, err);
        if (code != ZB_OK)
            return code;
        *node = adopt_node(changed);
    }
    return ZB_OK;
}

} // namespace zarr3
