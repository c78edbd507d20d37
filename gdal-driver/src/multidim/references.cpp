/* SPDX-License-Identifier: MIT */
#include "multidim/references.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "array/attributes.h"
#include "array/dimension_names.h"
#include "base/guard.h"
#include "base/json_text.h"

namespace zarr3 {

static const char *const kBlanks = " \t\n\r";

/* Attributes that are names of arrays with white space between, of CF 1.11 and of UGRID: CF's
   conventions for meshes. In the first ones a name may have a colon behind it; in the others words
   with a colon are no names. */
static constexpr const char *kWithColons[] = {"grid_mapping", "coordinate_interpolation",
                                              "cell_methods"};
static constexpr const char *kLists[] = {"coordinates",
                                         "bounds",
                                         "climatology",
                                         "ancillary_variables",
                                         "grid_mapping",
                                         "cell_methods",
                                         "cell_measures",
                                         "formula_terms",
                                         "geometry",
                                         "node_coordinates",
                                         "node_count",
                                         "part_node_count",
                                         "interior_ring",
                                         "coordinate_interpolation",
                                         "interpolation_parameters",
                                         "tie_point_mapping",
                                         "mesh",
                                         "location_index_set",
                                         "edge_coordinates",
                                         "face_coordinates",
                                         "volume_coordinates",
                                         "edge_node_connectivity",
                                         "edge_face_connectivity",
                                         "face_node_connectivity",
                                         "face_edge_connectivity",
                                         "face_face_connectivity",
                                         "boundary_node_connectivity",
                                         "volume_node_connectivity"};

/* Those that are the name of a dimension, which the array need not have. */
static constexpr const char *kDimensions[] = {"instance_dimension", "sample_dimension",
                                              "edge_dimension", "face_dimension",
                                              "volume_dimension"};

namespace {

/* A word of a list, and where it stands. */
struct Word {
    std::string name; /* without the colon */
    bool has_colon;
    unsigned index;       /* behind the last word with a colon, from 1; 0 for such a word */
    std::string previous; /* the word before */
};

} // namespace

/* The words of a list as they are, with what rename(word) gives in place of names; "" where it
   changes none. */
template <class Rename>
static std::string with_names(const std::string &list, const Rename &rename) {
    std::string result, previous;
    bool changed = false;
    unsigned index = 0;
    for (size_t at = 0; at < list.size();) {
        const size_t word = std::min(list.find_first_not_of(kBlanks, at), list.size());
        const size_t end = std::min(list.find_first_of(kBlanks, word), list.size());
        std::string name = list.substr(word, end - word);
        const bool has_colon = !name.empty() && name.back() == ':';
        if (has_colon)
            name.pop_back();
        index = has_colon ? 0 : index + 1;
        const std::string now = rename(Word{name, has_colon, index, previous});
        changed = changed || now != name;
        result += list.substr(at, word - at) + now + (has_colon ? ":" : "");
        previous = name;
        at = end;
    }
    return changed ? result : "";
}

template <size_t N> static bool is_one_of(const char *const (&names)[N], const std::string &name) {
    return std::any_of(std::begin(names), std::end(names),
                       [&](const char *one) { return name == one; });
}

static enum zb_code check_name(const std::string &to, const char *attribute, const char *what,
                               const zb_node *node, zb_error *err) {
    if (to.find_first_of(kBlanks) == std::string::npos)
        return ZB_OK;
    return zb_fail(err, ZB_EINVAL,
                   "the attribute %s of /%s names the %s, and lists names between blanks: choose a "
                   "name without them",
                   attribute, zb_node_path(node), what);
}

/* ---- Dimensions ---- */

static bool follow_cell_methods(const zb_node *node, const std::string &from, const std::string &to,
                                AttributeChanges *changes) {
    const std::string now = with_names(attribute_text(node, "cell_methods"), [&](const Word &word) {
        return word.has_colon && word.name == from ? to : word.name;
    });
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

/* An attribute that names dimensions which its array need not have. "" where it names another. */
static std::string follow_dimension_list(const zb_node *node, const char *attribute,
                                         const std::string &from, const std::string &to) {
    const bool maps = strcmp(attribute, "tie_point_mapping") == 0; /* "x: indices points areas" */
    return with_names(attribute_text(node, attribute), [&](const Word &word) {
        const bool is_dimension = maps ? word.has_colon || word.index > 1 : !word.has_colon;
        return is_dimension && word.name == from ? to : word.name;
    });
}

static enum zb_code follow_named_dimension(const zb_node *node, const std::string &from,
                                           const std::string &to, NamedBy *by, bool *has,
                                           zb_error *err) {
    enum zb_code code = ZB_OK;
    for (const char *attribute : kDimensions) {
        if (attribute_text(node, attribute) == from) {
            by->changes.set(attribute, json_quote(to));
            *has = true;
        }
    }
    for (const char *attribute : {"compress", "tie_point_mapping"}) {
        const std::string now = follow_dimension_list(node, attribute, from, to);
        if (code != ZB_OK || now.empty())
            continue;
        code = check_name(to, attribute, "dimension", node, err);
        by->changes.set(attribute, json_quote(now));
        *has = true;
    }
    return code;
}

namespace {

/* The groups whose arrays have a dimension of a name: that one, or a namesake. */
struct Owners {
    std::string name;
    const std::set<std::string> *renamed; /* the arrays that have the one */
    std::vector<std::string> arrays;
    std::set<std::string> own, others;
};

} // namespace

static void note_owner(Owners *owners, const zb_entry *entry) {
    if (entry->array == nullptr)
        return;
    owners->arrays.push_back(entry->path);
    const bool is_renamed = owners->renamed->count(entry->path) != 0;
    for (uint32_t d = 0; d < entry->array->ndim; d++) {
        if (dimension_name(entry->array, d) == owners->name)
            (is_renamed ? owners->own : owners->others).insert(parent_path(entry->path));
    }
}

/* True if the name, in attributes of an array, is that of the dimension of a group. */
static bool is_meant(const Owners &owners, const std::string &array, const std::string &group) {
    std::string at = parent_path(array);
    while (at != group && owners.own.count(at) == 0 && owners.others.count(at) == 0)
        at = parent_path(at);
    if (owners.others.count(at) == 0)
        return true;
    if (owners.own.count(at) != 0)
        CPLError(CE_Warning, CPLE_AppDefined,
                 "/%s names a dimension '%s', of which there are several in /%s: it keeps the name "
                 "in its attributes; change them by hand where they mean the one that is renamed",
                 array.c_str(), owners.name.c_str(), at.c_str());
    return false;
}

enum zb_code find_dimension_references(zb_hierarchy *hierarchy, const std::string &group,
                                       const std::set<std::string> &renamed,
                                       const std::string &from, const std::string &to,
                                       std::vector<NamedBy> *found, zb_error *err) {
    Owners owners = {from, &renamed, {}, {}, {}};
    enum zb_code code = each_node(
        hierarchy, group.c_str(), [&](const zb_entry *entry) { note_owner(&owners, entry); }, err);
    for (size_t i = 0; code == ZB_OK && i < owners.arrays.size(); i++) {
        const std::string &path = owners.arrays[i];
        NamedBy by = {path, {}};
        bool has = false;
        const NodePtr node = open_node(hierarchy, path, err);
        code = node == nullptr ? err->code
                               : follow_named_dimension(node.get(), from, to, &by, &has, err);
        if (has && code == ZB_OK && is_meant(owners, path, group))
            found->push_back(by);
    }
    return code;
}

/* ---- Arrays ---- */

namespace {

/* The paths below a group. */
struct Below {
    std::vector<std::string> nodes; /* those that cannot be read, too */
    std::set<std::string> arrays;
};

} // namespace

/* The node at a path, and all below it. */
static enum zb_code note_below(zb_hierarchy *hierarchy, const std::string &path, Below *below,
                               zb_error *err) {
    return each_node(
        hierarchy, path.c_str(),
        [&](const zb_entry *entry) {
            below->nodes.push_back(entry->path);
            if (entry->array != nullptr)
                below->arrays.insert(entry->path);
        },
        err);
}

/* True if a name in the attributes of a node leads to that array, in its group or above it: none of
   that name is nearer. */
static bool leads_to(const Below &below, const std::string &node, const std::string &array) {
    std::string group = below.arrays.count(node) != 0 ? parent_path(node) : node;
    if (!is_at_or_below(group, parent_path(array)))
        return false;
    while (group != parent_path(array)) {
        if (below.arrays.count(join_path(group, last_part(array))) != 0)
            return false;
        group = parent_path(group);
    }
    return true;
}

namespace {

/* A node that gets another name in its group. */
struct Renaming {
    std::string from, to; /* paths */
    bool is_array;
};

} // namespace

/* Longer ones lead to no node, and would take long. */
static constexpr size_t kLongestPath = 4096;

/* A path to a node ("/g/a", "../a"), in attributes of a node of `group`, as it is then. */
static std::string renamed_path(const std::string &path, std::string group,
                                const Renaming &renaming) {
    std::string result;
    if (path.size() > kLongestPath)
        return path;
    if (path[0] == '/')
        group.clear();
    for (size_t at = 0; at <= path.size();) {
        const size_t end = std::min(path.find('/', at), path.size());
        std::string part = path.substr(at, end - at);
        if (part == "..")
            group = parent_path(group);
        else if (!part.empty() && part != ".")
            group = join_path(group, part);
        const bool is_it = !part.empty() && part[0] != '.' && group == renaming.from;
        result += (at == 0 ? "" : "/") + (is_it ? last_part(renaming.to) : part);
        at = end + 1;
    }
    return result;
}

static bool may_be_array(const std::string &attribute, const Word &word, bool may_be_type) {
    if (attribute == "tie_point_mapping") /* the others are dimensions */
        return word.index == 1 && !word.has_colon;
    if (attribute == "cell_methods" && !word.has_colon)
        return may_be_type && (word.previous == "where" || word.previous == "over");
    return !word.has_colon || is_one_of(kWithColons, attribute);
}

/* The new text of an attribute that names the node; "" where it does not. `by_name`: the bare name,
   where it leads to the node. */
static std::string follow_list(const zb_node *node, const std::string &attribute,
                               const std::string &group, const Renaming &renaming, bool by_name) {
    const std::string from = last_part(renaming.from), to = last_part(renaming.to);
    const bool is_methods = attribute == "cell_methods";
    /* A dimension's name is that of the dimension, which has kept it. */
    const bool is_dimension = is_methods && has_dimension(node, from);
    /* Types in "mean where type over type" are words, or arrays that `coordinates` names. */
    const bool may_be_type =
        is_methods && !follow_list(node, "coordinates", group, renaming, by_name).empty();
    return with_names(attribute_text(node, attribute.c_str()), [&](const Word &word) {
        if (!may_be_array(attribute, word, may_be_type))
            return word.name;
        if (word.name.find('/') != std::string::npos)
            return renamed_path(word.name, group, renaming);
        return by_name && word.name == from && !(is_dimension && word.has_colon) ? to : word.name;
    });
}

static enum zb_code follow_node(const zb_node *node, const Renaming &renaming, bool by_name,
                                NamedBy *by, bool *has, zb_error *err) {
    const std::string path = zb_node_path(node);
    const std::string group = zb_node_array(node) != nullptr ? parent_path(path) : path;
    enum zb_code code = ZB_OK;
    for (const char *attribute : kLists) {
        const std::string now = follow_list(node, attribute, group, renaming, by_name);
        if (code != ZB_OK || now.empty())
            continue;
        code = check_name(last_part(renaming.to), attribute, renaming.is_array ? "array" : "group",
                          node, err);
        by->changes.set(attribute, json_quote(now));
        *has = true;
    }
    for (const auto member : {ZB_GDAL_MASK, ZB_GDAL_MASK_OF}) {
        if (!by_name || gdal_text(node, member) != last_part(renaming.from))
            continue;
        by->changes.set(member, json_quote(last_part(renaming.to)));
        *has = true;
    }
    return code;
}

static void warn_of_unread(const std::string &path, const std::string &renamed,
                           const zb_error &reason) {
    CPLError(CE_Warning, CPLE_AppDefined,
             "/%s cannot be read, and what is there keeps its attributes: if they name /%s, change "
             "them by hand: %s",
             path.c_str(), renamed.c_str(), reason.message);
}

/* The children of a group. What is below one of them is noted as a whole, or not at all: a namesake
   that is not known of would make names lead elsewhere. */
static enum zb_code note_children(zb_hierarchy *hierarchy, const std::string &group,
                                  const std::string &from, Below *below, zb_error *err) {
    std::vector<std::string> names;
    const NodePtr node = open_node(hierarchy, group, err);
    if (node == nullptr)
        return err->code;
    const enum zb_code code =
        each_name(node.get(), [&](const char *name) { names.push_back(name); }, err);
    if (code != ZB_OK)
        return code;
    below->nodes.push_back(group);
    for (const std::string &name : names) {
        const std::string child = join_path(group, name);
        Below found;
        zb_error reason = {};
        if (child != from && is_at_or_below(from, child)) /* its children are noted by themselves */
            continue;
        if (note_below(hierarchy, child, &found, &reason) != ZB_OK) {
            warn_of_unread(child, from, reason);
            continue;
        }
        below->nodes.insert(below->nodes.end(), found.nodes.begin(), found.nodes.end());
        below->arrays.insert(found.arrays.begin(), found.arrays.end());
    }
    return ZB_OK;
}

/* What can be read of a hierarchy of which something cannot be listed: below the groups above the
   node. Bare names of the node stand in its own group most of all, which has to be listed. */
static enum zb_code note_readable(zb_hierarchy *hierarchy, const std::string &from, Below *below,
                                  zb_error *err) {
    for (std::string group = parent_path(from); !group.empty();) {
        group = parent_path(group);
        zb_error reason = {};
        const enum zb_code code = note_children(hierarchy, group, from, below, &reason);
        if (code != ZB_OK && code != ZB_ENOTFOUND)
            warn_of_unread(group, from, reason);
    }
    return note_children(hierarchy, parent_path(from), from, below, err);
}

/* All of the hierarchy: paths lead everywhere. A group without a document, above nodes that have
   one, is no node, and hides them: of these only the node itself is found then. */
static enum zb_code note_nodes(zb_hierarchy *hierarchy, const std::string &from, Below *below,
                               zb_error *err) {
    enum zb_code code = note_below(hierarchy, "", below, err);
    if (code != ZB_OK && code != ZB_ENOTFOUND) {
        *below = Below();
        code = note_readable(hierarchy, from, below, err);
    }
    if (code != ZB_OK && code != ZB_ENOTFOUND)
        return code;
    const auto end = below->nodes.end();
    return std::find(below->nodes.begin(), end, from) != end
               ? ZB_OK
               : note_below(hierarchy, from, below, err);
}

enum zb_code find_references(zb_hierarchy *hierarchy, const std::string &from,
                             const std::string &to, std::vector<NamedBy> *found, zb_error *err) {
    Below below;
    enum zb_code code = note_nodes(hierarchy, from, &below, err);
    const Renaming renaming = {from, to, below.arrays.count(from) != 0};
    for (size_t i = 0; code == ZB_OK && i < below.nodes.size(); i++) {
        const std::string &path = below.nodes[i];
        const bool moves = is_at_or_below(path, from);
        NamedBy by = {moves ? to + path.substr(from.size()) : path, {}};
        bool has = false;
        zb_error reason = {};
        const NodePtr node = open_node(hierarchy, path, &reason);
        if (node != nullptr)
            code = follow_node(node.get(), renaming,
                               renaming.is_array && leads_to(below, path, from), &by, &has, err);
        else
            warn_of_unread(path, from, reason);
        if (has)
            found->push_back(by);
    }
    return code;
}

} // namespace zarr3
