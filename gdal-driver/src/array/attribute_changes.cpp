/* SPDX-License-Identifier: MIT */
/*
 * An attribute that has the value already is left alone: closing a dataset without changes touches
 * nothing. All others change in one change of the document, for some mean something together only:
 * a list of levels whose convention a killed process could not declare any more would be no list.
 *
 * What is made of the value in the store is stored only while that is the same; else it is made
 * again of the new one.
 */
#include "array/attribute_changes.h"

#include <algorithm>

#include "array/attributes.h"
#include "zarrbridge/change.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/write.h"

namespace zarr3 {

/* True if the integer is equal to the double. */
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

bool is_same_value(const zb_json *present, const zb_json *wanted) {
    if (present == nullptr || wanted == nullptr)
        return present == wanted;
    return compact_json(wanted) == compact_json(present) || is_same_number(present, wanted);
}

/* Of a text that is no JSON the core tells. */
static bool is_same(const zb_json *present, const std::string &value) {
    const Json wanted = value.empty() ? nullptr : parse_json(value);
    return (value.empty() || wanted != nullptr) && is_same_value(present, wanted.get());
}

static const char *text_of(const std::string &text) {
    return text.empty() ? nullptr : text.c_str();
}

namespace {

struct Remade {
    std::string value, former;
};

} // namespace

std::string AttributeChanges::remade(const std::vector<Remake> &steps, const zb_json *now) const {
    std::string value;
    Json owner;
    for (const Remake &step : steps) {
        value = step(now);
        owner = value.empty() ? nullptr : parse_json(value);
        now = owner.get();
    }
    return value;
}

/* `now`: the node as the store has it, as far as it is known. */
enum zb_code AttributeChanges::apply_beside(NodePtr *node, const NodePtr &now,
                                            zb_error *err) const {
    const auto present = members_of(zb_node_attributes(now.get()));
    const auto value_of = [&present](const std::string &name) {
        const auto found = present.find(name);
        return found == present.end() ? nullptr : found->second;
    };
    std::vector<zb_attribute_edit> edits;
    for (const auto &[name, value] : changes_) {
        if (!is_same(value_of(name), value))
            edits.push_back({name.c_str(), text_of(value), false, nullptr});
    }
    std::map<std::string, Remade> made; /* the owner of texts in edits */
    for (const auto &[name, steps] : remakes_) {
        const Remade &one =
            made[name] = {remade(steps, value_of(name)), compact_json(value_of(name))};
        if (!is_same(value_of(name), one.value))
            edits.push_back({name.c_str(), text_of(one.value), true, text_of(one.former)});
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

/* An attribute that another program has removed meanwhile is not found, and needs no removal. */
enum zb_code AttributeChanges::apply(NodePtr *node, zb_error *err) const {
    enum { ATTEMPTS = 10 };
    enum zb_code code = remakes_.empty() ? apply_beside(node, *node, err) : ZB_ECONFLICT;
    for (int i = 0; i < ATTEMPTS && (code == ZB_ECONFLICT || code == ZB_ENOTFOUND); i++) {
        zb_node *now = nullptr;
        code = zb_node_refresh(node->get(), &now, err);
        if (code != ZB_OK)
            return code;
        code = apply_beside(node, adopt_node(now), err);
    }
    return code;
}

} // namespace zarr3
