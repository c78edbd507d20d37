/* SPDX-License-Identifier: MIT */
/*
 * An attribute that has the value already is left alone: closing a dataset without changes touches
 * nothing. All others change in one change of the document, for some mean something together only:
 * a list of levels whose convention a killed process could not declare any more would be no list.
 */
#include "array/attribute_changes.h"

#include <algorithm>

#include "array/attributes.h"
#include "zarrbridge/change.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/write.h"

namespace zarr3 {

/* Is the integer the double? */
static bool is_equal(int64_t integer, double real) {
    int64_t exact;
    return zb_element_from_double(real, {ZB_KIND_INT, sizeof exact, false, nullptr}, &exact) &&
           exact == integer;
}

/* Integers that were there, and the same numbers as floats: GDAL has no other ones. */
static bool is_same_number(const zb_json *present, const zb_json *wanted) {
    zb_value integers = {}, reals = {};
    bool same = zb_value_parse(present, &integers) && zb_value_parse(wanted, &reals) &&
                integers.dtype.kind == ZB_KIND_INT && reals.dtype.kind == ZB_KIND_FLOAT &&
                integers.kind == ZB_VALUE_NUMBERS && reals.kind == ZB_VALUE_NUMBERS &&
                integers.ndim == reals.ndim &&
                std::equal(integers.shape, integers.shape + integers.ndim, reals.shape);
    for (size_t i = 0; same && i < reals.count; i++)
        same = is_equal(static_cast<const int64_t *>(integers.data)[i],
                        static_cast<const double *>(reals.data)[i]);
    zb_value_clear(&integers);
    zb_value_clear(&reals);
    return same;
}

static bool is_same(const zb_json *present, const std::string &value) {
    if (value.empty() || present == nullptr)
        return value.empty() && present == nullptr;
    const auto wanted = parse_json(value);
    return compact_json(wanted.get()) == compact_json(present) ||
           is_same_number(present, wanted.get());
}

enum zb_code AttributeChanges::apply(NodePtr *node, zb_error *err) const {
    const NodePtr before = *node; /* the owner of what `present` points to */
    const auto present = members_of(zb_node_attributes(before.get()));
    const auto value_of = [&present](const std::string &name) {
        const auto found = present.find(name);
        return found == present.end() ? nullptr : found->second;
    };
    std::vector<zb_attribute_edit> edits;
    for (const auto &[name, value] : changes_) {
        if (!is_same(value_of(name), value))
            edits.push_back(
                {name.c_str(), value.empty() ? nullptr : value.c_str(), false, nullptr});
    }
    const bool are_last_there = std::all_of(last_.begin(), last_.end(), [&](const auto &one) {
        return is_same(value_of(one.first), one.second);
    });
    if (edits.empty() && are_last_there)
        return ZB_OK;
    for (const auto &[name, value] : last_) {
        if (value_of(name) != nullptr)
            edits.push_back({name.c_str(), nullptr, false, nullptr});
        edits.push_back({name.c_str(), value.c_str(), false, nullptr});
    }
    zb_node *changed = nullptr;
    const enum zb_code code =
        zb_node_set_attributes(node->get(), edits.data(), edits.size(), &changed, err);
    if (code == ZB_OK)
        *node = adopt_node(changed);
    return code;
}

} // namespace zarr3
