/* SPDX-License-Identifier: MIT */
#include "multidim/references.h"

#include <algorithm>
#include <set>

#include "array/attributes.h"
#include "array/dimension_names.h"
#include "base/json_text.h"

namespace zarr3 {

/* Attributes that are names of arrays with white space between. In `grid_mapping` the name of one
   whose coordinates follow it, and in `cell_methods` every name, has a colon behind it; in the two
   others such words are no names. */
static constexpr const char *kLists[] = {"coordinates",         "bounds",        "climatology",
                                         "ancillary_variables", "grid_mapping",  "cell_methods",
                                         "cell_measures",       "formula_terms", "geometry",
                                         "node_coordinates",    "node_count",    "part_node_count",
                                         "interior_ring"};

/* The words of a list as they are, with another one in the place of the names; "" where the list
   has none of these. */
static std::string with_name(const std::string &list, const std::string &from,
                             const std::string &to) {
    const char *const blanks = " \t\n\r";
    std::string result;
    bool has = false;
    for (size_t at = 0; at < list.size();) {
        const size_t word = std::min(list.find_first_not_of(blanks, at), list.size());
        const size_t end = std::min(list.find_first_of(blanks, word), list.size());
        const bool is_name = list.compare(word, end - word, from) == 0;
        result += list.substr(at, word - at) + (is_name ? to : list.substr(word, end - word));
        has = has || is_name;
        at = end;
    }
    return has ? result : "";
}

static bool has_colons(const std::string &attribute) {
    return attribute == "grid_mapping" || attribute == "cell_methods";
}

/* ---- Dimensions ---- */

static bool follow_cell_methods(const zb_node *node, const std::string &from, const std::string &to,
                                AttributeChanges *changes) {
    const std::string now = with_name(attribute_text(node, "cell_methods"), from + ":", to + ":");
    if (!now.empty())
        changes->set("cell_methods", json_quote(now));
    return !now.empty();
}

bool follow_dimension(const zb_node *node, const std::string &from, const std::string &to,
                      AttributeChanges *changes) {
    const zb_json *list = attribute(node, "spatial:dimensions");
    std::vector<std::string> names;
    bool has = false;
    const zb_json *item = zb_json_kind_of(list) == ZB_JSON_ARRAY ? zb_json_first(list) : nullptr;
    for (; item != nullptr; item = zb_json_next(item)) {
        const char *name = zb_json_string(item);
        const bool is_it = name != nullptr && from == name;
        names.push_back(is_it ? json_quote(to) : compact_json(item));
        has = has || is_it;
    }
    if (has)
        changes->set("spatial:dimensions", json_list(names));
    return (zb_node_array(node) != nullptr && follow_cell_methods(node, from, to, changes)) || has;
}

/* ---- Arrays ---- */

namespace {

/* The paths below a group. */
struct Below {
    std::vector<std::string> nodes; /* those that cannot be read, too */
    std::set<std::string> arrays;
};

} // namespace

static int note_node(void *context, const zb_entry *entry) {
    Below *below = static_cast<Below *>(context);
    below->nodes.push_back(entry->path);
    if (entry->array != nullptr)
        below->arrays.insert(entry->path);
    return 0;
}

/* True if a name in the attributes of a node leads to that array: none of that name is nearer. */
static bool leads_to(const Below &below, const std::string &node, const std::string &array) {
    std::string group = below.arrays.count(node) != 0 ? parent_path(node) : node;
    while (group != parent_path(array)) {
        if (below.arrays.count(join_path(group, last_part(array))) != 0)
            return false;
        group = parent_path(group);
    }
    return true;
}

/* The new text of an attribute that names the array; "" where it does not. */
static std::string follow_list(const zb_node *node, const std::string &attribute,
                               const std::string &from, const std::string &to) {
    const std::string list = attribute_text(node, attribute.c_str());
    /* A dimension's name is that of the dimension, which has kept it. */
    if (list.empty() || (attribute == "cell_methods" && has_dimension(node, from)))
        return "";
    const std::string now = attribute == "cell_methods" ? "" : with_name(list, from, to);
    const std::string named =
        has_colons(attribute) ? with_name(now.empty() ? list : now, from + ":", to + ":") : "";
    return named.empty() ? now : named;
}

static enum zb_code follow_array(const zb_node *node, const std::string &from,
                                 const std::string &to, NamedBy *by, bool *has, zb_error *err) {
    for (const char *attribute : kLists) {
        const std::string now = follow_list(node, attribute, from, to);
        if (now.empty())
            continue;
        if (to.find_first_of(" \t\n\r") != std::string::npos)
            return zb_fail(err, ZB_EINVAL,
                           "the attribute %s of /%s names the array, and lists names between "
                           "blanks: choose a name without them",
                           attribute, zb_node_path(node));
        by->changes.set(attribute, json_quote(now));
        *has = true;
    }
    if (attribute_text(node, kMask) == from) {
        by->changes.set(kMask, json_quote(to));
        *has = true;
    }
    return ZB_OK;
}

/* A group without a document, above nodes that have one, is no node: of these only the array itself
   is found then. */
static enum zb_code note_nodes(zb_store *store, const std::string &group, const std::string &array,
                               Below *below, zb_error *err) {
    const enum zb_code code = zb_node_each(store, group.c_str(), note_node, below, err);
    return code == ZB_ENOTFOUND ? zb_node_each(store, array.c_str(), note_node, below, err) : code;
}

static void warn_of_unread(const std::string &path, const std::string &array,
                           const zb_error &reason) {
    CPLError(CE_Warning, CPLE_AppDefined,
             "/%s cannot be read, and keeps what its attributes say: if they name /%s, change them "
             "by hand: %s",
             path.c_str(), array.c_str(), reason.message);
}

enum zb_code find_references(zb_store *store, const std::string &from, const std::string &to,
                             std::vector<NamedBy> *found, zb_error *err) {
    Below below;
    enum zb_code code = note_nodes(store, parent_path(from), from, &below, err);
    if (code == ZB_OK && below.arrays.count(from) == 0)
        return ZB_OK; /* a group: attributes name none */
    for (size_t i = 0; code == ZB_OK && i < below.nodes.size(); i++) {
        const std::string &path = below.nodes[i];
        NamedBy by = {path == from ? to : path, {}};
        bool has = false;
        if (!leads_to(below, path, from))
            continue;
        zb_error reason = {};
        const NodePtr node = open_node(store, path, &reason);
        if (node != nullptr)
            code = follow_array(node.get(), last_part(from), last_part(to), &by, &has, err);
        else
            warn_of_unread(path, from, reason);
        if (has)
            found->push_back(by);
    }
    return code;
}

} // namespace zarr3
