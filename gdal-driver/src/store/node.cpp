/* SPDX-License-Identifier: MIT */
#include "store/node.h"

#include "zarrbridge/change.h"

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

bool is_child_name(const std::string &name) {
    return !name.empty() && name.find('/') == std::string::npos;
}

} // namespace zarr3
