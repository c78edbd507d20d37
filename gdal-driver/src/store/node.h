/* SPDX-License-Identifier: MIT */
/* The core's reference-counted objects as C++ owners, and the store that a dataset lives in. */
#ifndef ZARR3_NODE_H
#define ZARR3_NODE_H

#include <memory>
#include <string>

#include "zarrbridge/zarrbridge.h"

namespace zarr3 {

using HierarchyPtr = std::shared_ptr<zb_hierarchy>;
using NodePtr = std::shared_ptr<zb_node>;

/* The hierarchy that a connection string leads into. Shared by a dataset and its overviews. */
struct Hierarchy {
    HierarchyPtr store;
    std::string root;  /* the directory as GDAL knows it, without a slash at its end */
    std::string given; /* a path that was opened: root, a directory in it, or a zarr.json */
    std::string entry; /* the node that `given` leads to; "" for the root */
    NodePtr opened;    /* the group that a name has led to, as it was then; or null */
};

/* Opens a node; null on failure, with *err (may be NULL) telling why. */
NodePtr open_node(zb_hierarchy *hierarchy, const std::string &path, zb_error *err);

/* A node that is not there, or not any more, is as good as deleted. */
enum zb_code delete_node(zb_hierarchy *hierarchy, const std::string &path, zb_error *err);

/* The same for the nodes around one that is open: of a distant store, what it has told lately
   counts (zb_node_open_cached). */
NodePtr open_nearby(zb_hierarchy *hierarchy, const std::string &path, zb_error *err);

/* The children of a group, sorted by name. */
class Children {
  public:
    Children() = default;
    ~Children() {
        zb_children_free(&list_);
    }
    Children(const Children &) = delete;
    Children &operator=(const Children &) = delete;

    /* Once. */
    enum zb_code list(const zb_node *group, zb_error *err) {
        return zb_group_children(group, &list_, err);
    }

    const zb_children *list() const {
        return &list_;
    }

    const zb_child *begin() const {
        return list_.child;
    }
    const zb_child *end() const {
        return list_.child + list_.count;
    }

  private:
    zb_children list_ = {};
};

/* Takes over one reference. */
NodePtr adopt_node(zb_node *node);

std::string join_path(const std::string &parent, const std::string &name);
std::string parent_path(const std::string &path);
std::string last_part(const std::string &path);

/* True if the path is the node or lies below it. */
bool is_at_or_below(const std::string &path, const std::string &node);

/* The path by which programs see a node: zb_name_shown of each part. */
std::string shown_path(const std::string &path);

/* The name in the store of a new node (zb_name_stored). */
std::string stored_name(const std::string &name);

/* A node by its path, or by that which programs see. */
NodePtr open_shown(zb_hierarchy *hierarchy, const std::string &path, zb_error *err);

/* True for the name of one child: it has letters, and no slash. */
bool is_child_name(const std::string &name);

} // namespace zarr3

#endif
