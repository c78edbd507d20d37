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
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "array/attributes.h"
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
    return zb_json_same(present, wanted) || is_same_number(present, wanted);
}

/* Of a text that is no JSON the core tells. */
static bool is_same(const zb_json *present, const std::string &value) {
    const Json wanted = value.empty() ? nullptr : parse_json(value);
    return (value.empty() || wanted != nullptr) && is_same_value(present, wanted.get());
}

namespace {

/* Edits of the core's. */
struct NodeEdits {
    ~NodeEdits() {
        zb_node_edits_clear(&edits);
    }
    zb_node_edits edits = {};
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

enum zb_code AttributeChanges::add_members(const zb_node *now, std::vector<Edit> *edits,
                                           zb_error *err) const {
    const GdalExtension extension = gdal_extension(now);
    std::vector<std::string> values;
    std::vector<zb_gdal_change> changes;
    values.reserve(members_.size());
    for (const auto &[member, steps] : members_) {
        const zb_json *present = zb_gdal_extension_get(extension.get(), member);
        values.push_back(remade(steps, present));
        if (!is_same(present, values.back()))
            changes.push_back({member, values.back().empty() ? nullptr : values.back().c_str()});
    }
    NodeEdits made;
    const enum zb_code code = zb_gdal_edit(now, changes.data(), changes.size(), &made.edits, err);
    for (size_t i = 0; code == ZB_OK && i < made.edits.count; i++) {
        const zb_attribute_edit &edit = made.edits.edit[i];
        edits->push_back({edit.name, edit.value == nullptr ? "" : edit.value, edit.checked,
                          edit.former == nullptr ? "" : edit.former});
    }
    return code;
}

/* The edits for a node as the store has it, as far as it is known. */
enum zb_code AttributeChanges::edits_for(const zb_node *now, std::vector<Edit> *out,
                                         zb_error *err) const {
    const auto present = members_of(zb_node_attributes(now));
    const auto value_of = [&present](const std::string &name) {
        const auto found = present.find(name);
        return found == present.end() ? nullptr : found->second;
    };
    std::vector<Edit> &edits = *out;
    const enum zb_code code = add_members(now, out, err);
    for (const auto &[name, value] : changes_) {
        if (!is_same(value_of(name), value))
            edits.push_back({name.c_str(), value, false, ""});
    }
    for (const auto &[name, steps] : remakes_) {
        const std::string value = remade(steps, value_of(name));
        if (!is_same(value_of(name), value))
            edits.push_back({name.c_str(), value, true, compact_json(value_of(name))});
    }
    const bool are_last_there = std::all_of(last_.begin(), last_.end(), [&](const auto &one) {
        return is_same(value_of(one.first), one.second);
    });
    if (code != ZB_OK || (edits.empty() && are_last_there))
        return code;
    for (const auto &[name, value] : last_) {
        if (value_of(name) != nullptr)
            edits.push_back({name.c_str(), "", false, ""});
        edits.push_back({name.c_str(), value, false, ""});
    }
    return ZB_OK;
}

/* A zb_node_edit_fn: what fails here is a lack of memory, and passes no C function. */
enum zb_code AttributeChanges::make_edits(void *context, const zb_node *now, zb_node_edits *out,
                                          zb_error *err) {
    const auto copy = [](const std::string &text) {
        char *made = text.empty() ? nullptr : strdup(text.c_str());
        if (made == nullptr && !text.empty())
            throw std::bad_alloc();
        return made;
    };
    try {
        std::vector<Edit> edits;
        const enum zb_code code =
            static_cast<const AttributeChanges *>(context)->edits_for(now, &edits, err);
        if (code != ZB_OK || edits.empty())
            return code;
        out->edit = static_cast<zb_attribute_edit *>(calloc(edits.size(), sizeof *out->edit));
        if (out->edit == nullptr)
            throw std::bad_alloc();
        for (const Edit &one : edits) {
            zb_attribute_edit &edit = out->edit[out->count++];
            edit.name = one.name;
            edit.checked = one.checked;
            edit.value = copy(one.value);
            edit.former = copy(one.former);
        }
        return ZB_OK;
    } catch (const std::exception &) {
        return zb_fail(err, ZB_ENOMEM, "no memory for the attributes of /%s", zb_node_path(now));
    }
}

/* Without anything to make of the store's values, the node itself tells what to change, which saves
   a request. */
enum zb_code AttributeChanges::apply_to_known(const zb_node *node, zb_node **changed,
                                              zb_error *err) const {
    std::vector<zb_attribute_edit> edits;
    std::vector<Edit> wanted;
    const enum zb_code code = edits_for(node, &wanted, err);
    if (code != ZB_OK)
        return code;
    for (const Edit &one : wanted)
        edits.push_back(
            {one.name, one.value.empty() ? nullptr : one.value.c_str(), false, nullptr});
    return edits.empty() ? ZB_OK
                         : zb_node_set_attributes(node, edits.data(), edits.size(), changed, err);
}

enum zb_code AttributeChanges::apply(NodePtr *node, zb_error *err) const {
    zb_node *changed = nullptr;
    enum zb_code code = remakes_.empty() && members_.empty()
                            ? apply_to_known(node->get(), &changed, err)
                            : ZB_ECONFLICT;
    if (code == ZB_ECONFLICT || code == ZB_ENOTFOUND)
        code = zb_node_edit(node->get(), make_edits, const_cast<AttributeChanges *>(this), &changed,
                            err);
    if (changed != nullptr)
        *node = adopt_node(changed);
    return code;
}

} // namespace zarr3
