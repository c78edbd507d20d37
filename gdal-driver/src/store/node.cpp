/* SPDX-License-Identifier: MIT */
#include "store/node.h"

#include <algorithm>
#include <new>

#include "base/handles.h"
#include "zarrbridge/change.h"
#include "zarrbridge/conventions.h"

namespace zarr3 {

NodePtr adopt_node(zb_node *node) {
    return NodePtr(node, zb_node_release);
}

NodePtr open_node(zb_hierarchy *hierarchy, const std::string &path, zb_error *err) {
    zb_node *node = nullptr;
    if (zb_node_open(hierarchy, path.c_str(), &node, err) != ZB_OK)
        return nullptr;
    return adopt_node(node);
}

enum zb_code delete_node(zb_hierarchy *hierarchy, const std::string &path, zb_error *err) {
    const enum zb_code code = zb_node_delete(hierarchy, path.c_str(), err);
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

NodePtr open_nearby(zb_hierarchy *hierarchy, const std::string &path, zb_error *err) {
    zb_node *node = nullptr;
    if (zb_node_open_cached(hierarchy, path.c_str(), &node, err) != ZB_OK)
        return nullptr;
    return adopt_node(node);
}

std::string join_path(const std::string &parent, const std::string &name) {
    return parent.empty() ? name : parent + "/" + name;
}

std::string parent_path(const std::string &path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string last_part(const std::string &path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

bool is_at_or_below(const std::string &path, const std::string &node) {
    return node.empty() || path == node ||
           (path.compare(0, node.size(), node) == 0 && path[node.size()] == '/');
}

/* The core's text; NULL is a lack of memory. */
static std::string take_name(char *text) {
    const CoreText owner(text);
    if (owner == nullptr)
        throw std::bad_alloc();
    return owner.get();
}

template <class Convert>
static std::string convert_parts(const std::string &path, const Convert &convert) {
    std::string converted;
    for (size_t start = 0; start <= path.size();) {
        const size_t end = std::min(path.find('/', start), path.size());
        converted += (start > 0 ? "/" : "") + convert(path.substr(start, end - start));
        start = end + 1;
    }
    return converted;
}

std::string shown_path(const std::string &path) {
    return convert_parts(path, [](const std::string &name) {
        return zb_name_is_plain(name.c_str()) ? name : take_name(zb_name_shown(name.c_str()));
    });
}

std::string stored_name(const std::string &name) {
    return take_name(zb_name_stored(name.c_str()));
}

/* Parents may be named as they are in the store: only what cannot be such a name is converted. */
static std::string stored_path(const std::string &path) {
    const std::string parent = convert_parts(parent_path(path), [](const std::string &name) {
        return zb_name_needs_form(name.c_str()) ? stored_name(name) : name;
    });
    return join_path(parent, stored_name(last_part(path)));
}

/* Other programs make nodes under reserved names: what is there counts first. */
NodePtr open_shown(zb_hierarchy *hierarchy, const std::string &path, zb_error *err) {
    NodePtr node = open_node(hierarchy, path, err);
    if (node != nullptr || err->code != ZB_ENOTFOUND)
        return node;
    const std::string stored = stored_path(path);
    return stored == path ? nullptr : open_node(hierarchy, stored, err);
}

bool is_child_name(const std::string &name) {
    return !name.empty() && name.find('/') == std::string::npos;
}

} // namespace zarr3
