/* SPDX-License-Identifier: MIT */
#include "array/stated_texts.h"

#include <cstring>

#include "array/attributes.h"
#include "base/json_text.h"
#include "cpl_string.h"

namespace zarr3 {

static constexpr char kEntries[] = "attributes";
/* A text of variable length in UTF-8, as h5py and the connector make it. */
static constexpr char kTextType[] =
    R"({"class":"string","size":"variable","padding":0,"charset":1})";

/* Null unless it is of the one version that there is. */
static Json types_of(const zb_node *node) {
    Json types = parse_json(attribute_text(node, kAttributeTypes));
    uint64_t version = 0;
    if (!zb_json_uint64(zb_json_get(types.get(), "version"), &version) || version != 1)
        types.reset();
    return types;
}

StatedTexts::StatedTexts(const zb_node *node)
    : types_(types_of(node)), entries_(members_of(zb_json_get(types_.get(), kEntries))) {
}

static bool is_all_texts(const zb_json *value) {
    if (zb_json_kind_of(value) != ZB_JSON_ARRAY)
        return zb_json_string(value) != nullptr;
    const zb_json *item = zb_json_first(value);
    while (item != nullptr && is_all_texts(item))
        item = zb_json_next(item);
    return item == nullptr;
}

static bool states_text(const zb_json *entry, const zb_value &value) {
    const char *kind = zb_json_string(zb_json_get(zb_json_get(entry, "type"), "class"));
    const zb_json *shape = zb_json_get(entry, "shape");
    bool fits = kind != nullptr && strcmp(kind, "string") == 0 &&
                zb_json_kind_of(shape) == ZB_JSON_ARRAY && zb_json_count(shape) == value.ndim;
    const zb_json *extent = fits ? zb_json_first(shape) : nullptr;
    for (uint32_t d = 0; fits && d < value.ndim; d++, extent = zb_json_next(extent)) {
        uint64_t length = 0;
        fits = zb_json_uint64(extent, &length) && length == value.shape[d];
    }
    return fits;
}

static std::string place_from(std::string path, const char *relative) {
    const CPLStringList parts(CSLTokenizeString2(relative, "/", 0));
    for (const char *part : parts) {
        if (strcmp(part, "..") == 0)
            path = parent_path(path);
        else if (strcmp(part, ".") != 0)
            path = join_path(path, part);
    }
    return path;
}

std::vector<std::string> linked_places(const zb_node *node) {
    const Json all = types_of(node);
    std::vector<std::string> places;
    const auto add = [&](const zb_json *place) {
        if (zb_json_string(place) != nullptr)
            places.push_back(place_from(zb_node_path(node), zb_json_string(place)));
    };
    const zb_json *one = zb_json_first(zb_json_get(all.get(), "names"));
    for (; one != nullptr; one = zb_json_next(one))
        add(one);
    one = zb_json_first(zb_json_get(all.get(), "links"));
    for (; one != nullptr; one = zb_json_next(one))
        add(zb_json_get(one, "hard"));
    return places;
}

bool StatedTexts::has(const zb_json *member, const zb_value &numbers) const {
    const auto found = entries_.find(zb_json_name(member));
    return found != entries_.end() && states_text(found->second, numbers) && is_all_texts(member);
}

/* ---- Changes ---- */

static std::string entry_of(const zb_value &value) {
    std::vector<std::string> shape;
    for (uint32_t d = 0; d < value.ndim; d++)
        shape.push_back(std::to_string(value.shape[d]));
    return json_object({{"type", kTextType}, {"shape", json_list(shape)}});
}

/* The entry that goes with a value, as JSON text, in place of `old` (NULL: none). An entry that
   the value leaves as it was may say more than this driver knows. */
static std::string entry_for(const std::string &text, bool is_text, const zb_json *old) {
    const Json value = parse_json(text);
    zb_value numbers = {};
    if (value == nullptr || !is_all_texts(value.get()) || !zb_value_parse(value.get(), &numbers))
        return compact_json(text.empty() ? nullptr : old);
    const bool may_be_numbers = numbers.kind == ZB_VALUE_NUMBERS && numbers.count > 0;
    std::string entry = compact_json(old);
    if (may_be_numbers && is_text != states_text(old, numbers))
        entry = is_text ? entry_of(numbers) : "";
    zb_value_clear(&numbers);
    return entry;
}

/* An object with a value of one member, in the place of those of both names; "" takes it out. */
static std::string with_member(const zb_json *object, const std::string &before,
                               const std::string &name, const std::string &value) {
    std::vector<std::pair<std::string, std::string>> members;
    for (const zb_json *member = zb_json_first(object); member != nullptr;
         member = zb_json_next(member)) {
        if (zb_json_name(member) != name && zb_json_name(member) != before)
            members.emplace_back(zb_json_name(member), compact_json(member));
    }
    if (!value.empty())
        members.emplace_back(name, value);
    return members.empty() ? "" : json_object(members);
}

bool state_text(const zb_node *node, const std::string &name, const std::string &value,
                bool is_text, const std::string &before, AttributeChanges *changes) {
    const Json types = types_of(node);
    const zb_json *entries = zb_json_get(types.get(), kEntries);
    const zb_json *old = zb_json_get(entries, before.c_str());
    const std::string entry = entry_for(value, is_text, old);
    const bool stays = before == name || (old == nullptr && !zb_json_get(entries, name.c_str()));
    if (stays && entry == compact_json(old))
        return true;
    if (types == nullptr && attribute(node, kAttributeTypes) != nullptr)
        return false;
    const std::string now = with_member(entries, before, name, entry);
    if (types == nullptr)
        changes->set(kAttributeTypes, json_quote(json_object({{"version", "1"}, {kEntries, now}})));
    else if (now.empty() && zb_json_count(types.get()) == 2) /* only the version is left */
        changes->remove(kAttributeTypes);
    else
        changes->set(kAttributeTypes,
                     json_quote(with_member(types.get(), kEntries, kEntries, now)));
    return true;
}

} // namespace zarr3
