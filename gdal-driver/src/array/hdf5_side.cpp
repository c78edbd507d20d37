/* SPDX-License-Identifier: MIT */
/* The attribute `_hdf5`: see hdf5_side.h. */
#include "array/hdf5_side.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "array/attributes.h"
#include "base/json_text.h"
#include "cpl_string.h"

namespace zarr3 {

Json parse_hdf5_side(const std::string &text) {
    Json side = parse_json(text);
    uint64_t version = 0;
    if (!zb_json_uint64(zb_json_get(side.get(), "version"), &version) || version != 1)
        side.reset();
    return side;
}

Json hdf5_side_of(const zb_node *node) {
    return parse_hdf5_side(attribute_text(node, kHdf5Side));
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
    const Json all = hdf5_side_of(node);
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

/* ---- Copies ---- */

/* A type is an object within others; the JSON parser bounds how deep they lie. */
static bool has_reference(const zb_json *type) {
    const char *name = zb_json_string(zb_json_get(type, "class"));
    if (name != nullptr && strcmp(name, "reference") == 0)
        return true;
    const zb_json *part = zb_json_first(type);
    while (part != nullptr && !has_reference(part))
        part = zb_json_next(part);
    return part != nullptr;
}

static bool holds_for_copies(const zb_json *member, bool same_shape) {
    static constexpr const char *kNames[] = {"type", "datatype", "creation", "comment"};
    const char *name = zb_json_name(member);
    return (same_shape && strcmp(name, "maxshape") == 0) ||
           (std::any_of(std::begin(kNames), std::end(kNames),
                        [&](const char *known) { return strcmp(name, known) == 0; }) &&
            !has_reference(member));
}

/* An entry without the path of the named type with which its attribute was made; "" of one whose
   elements are references, or in an array that GDAL does not copy. */
static std::string entry_of_copies(const zb_json *entry) {
    if (zb_json_get(entry, "array") != nullptr || has_reference(zb_json_get(entry, "type")))
        return "";
    return with_member(entry, "named", "named", "");
}

static std::string entries_of_copies(const zb_node *node, const zb_json *entries,
                                     const std::function<bool(const zb_json *member)> &has) {
    const auto attributes = members_of(zb_node_attributes(node));
    std::vector<std::pair<std::string, std::string>> kept;
    for (const zb_json *entry = zb_json_first(entries); entry != nullptr;
         entry = zb_json_next(entry)) {
        const auto found = attributes.find(zb_json_name(entry));
        const std::string text = entry_of_copies(entry);
        if (found != attributes.end() && !text.empty() && has(found->second))
            kept.emplace_back(zb_json_name(entry), text);
    }
    return kept.empty() ? "" : json_object(kept);
}

std::string hdf5_side_of_copies(const zb_node *node, bool same_shape,
                                const std::function<bool(const zb_json *member)> &has) {
    const Json side = hdf5_side_of(node);
    std::vector<std::pair<std::string, std::string>> kept = {{"version", "1"}};
    for (const zb_json *member = zb_json_first(side.get()); member != nullptr;
         member = zb_json_next(member)) {
        if (holds_for_copies(member, same_shape))
            kept.emplace_back(zb_json_name(member), compact_json(member));
    }
    const std::string entries = entries_of_copies(node, zb_json_get(side.get(), kHdf5Entries), has);
    if (!entries.empty())
        kept.emplace_back(kHdf5Entries, entries);
    return kept.size() == 1 ? "" : json_object(kept);
}

/* The members of both objects, those of `first` before others of their names, as JSON text. */
static std::string joined(const zb_json *first, const zb_json *second) {
    std::vector<std::pair<std::string, std::string>> members;
    const auto known = members_of(first);
    for (const zb_json *one = zb_json_first(first); one != nullptr; one = zb_json_next(one))
        members.emplace_back(zb_json_name(one), compact_json(one));
    for (const zb_json *one = zb_json_first(second); one != nullptr; one = zb_json_next(one)) {
        if (known.count(zb_json_name(one)) == 0)
            members.emplace_back(zb_json_name(one), compact_json(one));
    }
    return members.empty() ? "" : json_object(members);
}

/* Entries of the source say more than those that this driver makes. */
static std::string with_side(const std::string &now, const std::string &added) {
    const Json own = parse_hdf5_side(now), other = parse_json(added);
    if (own == nullptr)
        return now.empty() ? added : now;
    const std::string entries =
        joined(zb_json_get(other.get(), kHdf5Entries), zb_json_get(own.get(), kHdf5Entries));
    const Json all = parse_json(joined(own.get(), other.get()));
    return with_member(all.get(), kHdf5Entries, kHdf5Entries, entries);
}

/* Without what hdf5_side_of_copies() gives, but with the entries of attributes that are its own. */
static std::string own_side(const zb_json *now,
                            const std::function<bool(const std::string &name)> &is_own) {
    std::vector<std::pair<std::string, std::string>> members, entries;
    for (const zb_json *one = zb_json_first(now); one != nullptr; one = zb_json_next(one)) {
        if (!holds_for_copies(one, false) && strcmp(zb_json_name(one), kHdf5Entries) != 0)
            members.emplace_back(zb_json_name(one), compact_json(one));
    }
    const zb_json *entry = zb_json_first(zb_json_get(now, kHdf5Entries));
    for (; entry != nullptr; entry = zb_json_next(entry)) {
        if (is_own(zb_json_name(entry)))
            entries.emplace_back(zb_json_name(entry), compact_json(entry));
    }
    if (!entries.empty())
        members.emplace_back(kHdf5Entries, json_object(entries));
    return members.size() < 2 ? "" : json_object(members); /* the version alone says nothing */
}

void follow_hdf5_side(const std::string &side,
                      const std::function<bool(const std::string &name)> &is_own,
                      AttributeChanges *changes) {
    changes->derive(kHdf5Side, [side, is_own](const zb_json *now) {
        const char *text = zb_json_string(now);
        const Json known = parse_hdf5_side(text == nullptr ? "" : text);
        if (now != nullptr && known == nullptr)
            return compact_json(now);
        const std::string own = own_side(known.get(), is_own);
        const std::string all = side.empty() ? own : with_side(own, side);
        return all.empty() ? all : json_quote(all);
    });
}

static bool has_same_shape(const zb_node *one, const zb_node *other) {
    const zb_array_info *a = zb_node_array(one), *b = zb_node_array(other);
    return a != nullptr && b != nullptr && a->ndim == b->ndim &&
           std::equal(a->shape, a->shape + a->ndim, b->shape);
}

void copy_hdf5_side(const zb_node *from, const zb_node *copy, AttributeChanges *changes) {
    if (attribute(from, kHdf5Side) == nullptr)
        return;
    const auto attributes = members_of(zb_node_attributes(copy));
    const auto has = [&](const zb_json *member) {
        const auto found = attributes.find(zb_json_name(member));
        return found != attributes.end() && is_same_value(found->second, member);
    };
    const std::string side = hdf5_side_of_copies(from, has_same_shape(from, copy), has);
    if (!side.empty())
        changes->derive(kHdf5Side, [side](const zb_json *now) {
            const char *text = zb_json_string(now);
            return now != nullptr && text == nullptr
                       ? compact_json(now)
                       : json_quote(with_side(text == nullptr ? "" : text, side));
        });
}

std::string with_member(const zb_json *object, const std::string &before, const std::string &name,
                        const std::string &value) {
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

} // namespace zarr3
