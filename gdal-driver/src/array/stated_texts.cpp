/* SPDX-License-Identifier: MIT */
#include "array/stated_texts.h"

#include <cstring>

#include "array/attributes.h"
#include "array/hdf5_side.h"
#include "base/json_text.h"

namespace zarr3 {

/* A text of variable length in UTF-8, as h5py and the connector make it. */
static constexpr char kTextType[] =
    R"({"class":"string","size":"variable","padding":0,"charset":1})";

StatedTexts::StatedTexts(const zb_node *node)
    : types_(hdf5_side_of(node)),
      entries_(members_of(zb_hdf5_extension_get(types_.get(), ZB_HDF5_ATTRIBUTES))) {
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

TextStatements::TextStatements(const zb_node *node)
    : side_(hdf5_side_of(node)),
      is_foreign_(side_ == nullptr && attribute(node, kHdf5Side) != nullptr) {
}

/* The entry of an attribute before and after; true if they differ. */
static bool restate(const zb_json *entries, const std::string &name, const std::string &value,
                    const std::string &before, bool is_text, std::string *entry) {
    const zb_json *old = zb_json_get(entries, before.c_str());
    *entry = entry_for(value, is_text, old);
    const bool stays = before == name || (old == nullptr && !zb_json_get(entries, name.c_str()));
    return !stays || *entry != compact_json(old);
}

bool TextStatements::state(const std::string &name, const std::string &value, bool is_text,
                           const std::string &before) {
    std::string entry;
    if (!restate(zb_hdf5_extension_get(side_.get(), ZB_HDF5_ATTRIBUTES), name, value, before,
                 is_text, &entry))
        return true;
    if (!is_foreign_)
        statements_.push_back({name, value, before, is_text});
    return !is_foreign_;
}

/* An object with a value of one member, in the place of those of both names; "" takes it out. "" of
   an object without members. */
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

void TextStatements::add_to(AttributeChanges *changes) const {
    if (statements_.empty())
        return;
    changes->derive(kHdf5Side, [statements = statements_](const zb_json *now) {
        const Hdf5Extension side = parse_hdf5_side(now);
        if (side == nullptr && now != nullptr)
            return compact_json(now);
        Json entries =
            parse_json(compact_json(zb_hdf5_extension_get(side.get(), ZB_HDF5_ATTRIBUTES)));
        bool changed = false;
        for (const Statement &one : statements) {
            std::string entry;
            if (!restate(entries.get(), one.name, one.value, one.before, one.is_text, &entry))
                continue;
            changed = true;
            entries = parse_json(with_member(entries.get(), one.before, one.name, entry));
        }
        return changed ? with_hdf5_entries(side.get(), entries.get()) : compact_json(now);
    });
}

} // namespace zarr3
