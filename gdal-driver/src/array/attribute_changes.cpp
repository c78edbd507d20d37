/* SPDX-License-Identifier: MIT */
/*
 * The core changes one attribute at a time and rewrites the document for each, so that what is the
 * same already is left alone: closing a dataset that nobody changed touches nothing.
 */
#include "array/attribute_changes.h"

#include <cstdlib>

#include "array/attributes.h"
#include "zarrbridge/write.h"

namespace zarr3 {

/* Compact text, so that two spellings of one value compare equal. */
static std::string compact(const zb_json *value) {
    char *printed = value == nullptr ? nullptr : zb_json_print(value);
    const std::string text = printed == nullptr ? "" : printed;
    free(printed);
    return text;
}

static bool is_same(const zb_json *present, const std::string &value) {
    zb_json *parsed = nullptr;
    if (value.empty() || present == nullptr)
        return value.empty() && present == nullptr;
    const bool same = zb_json_parse(value.c_str(), value.size(), &parsed, nullptr) == ZB_OK &&
                      compact(parsed) == compact(present);
    zb_json_free(parsed);
    return same;
}

enum zb_code AttributeChanges::apply(NodePtr *node, zb_error *err) const {
    for (const auto &change : changes_) {
        if (is_same(attribute(node->get(), change.first.c_str()), change.second))
            continue;
        zb_node *changed = nullptr;
        const enum zb_code code = zb_node_set_attribute(
            node->get(), change.first.c_str(),
            change.second.empty() ? nullptr : change.second.c_str(), &changed, err);
        if (code != ZB_OK)
            return code;
        *node = adopt_node(changed);
    }
    return ZB_OK;
}

} // namespace zarr3
