/* SPDX-License-Identifier: MIT */
/*
 * The nodes around an array: the groups above it, and the arrays beside it that describe it (CRS
 * variables, coordinates). Everything is opened on first use and kept, absences included; nothing
 * is listed.
 */
#ifndef ZARR3_NEARBY_NODES_H
#define ZARR3_NEARBY_NODES_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/node.h"
#include "zarrbridge/multiscales.h"

namespace zarr3 {

class NearbyNodes {
  public:
    NearbyNodes(HierarchyPtr store, std::string path)
        : store_(std::move(store)), path_(std::move(path)) {
    }

    /* Those of a node. */
    explicit NearbyNodes(const zb_node *node);

    /* Takes a group that was opened already. */
    void remember(const NodePtr &group);

    const std::string &path() const {
        return path_;
    }

    /* The group `steps` above the array (1 is its parent); null when there is none. */
    const zb_node *group_above(unsigned steps);

    /* The array called name in the parent group or, failing that, in the groups above it, as CF
       looks for variables that an attribute names. Null when there is none. */
    NodePtr find_array(const std::string &name);

    /* The coordinate of an array's dimension (zb_coordinate_find). Null when there is none. */
    NodePtr find_coordinate(const zb_array_info *info, uint32_t dim);

    /* The node at an absolute path; null when it cannot be opened. */
    NodePtr at(const std::string &path);

    /* The same for the core; valid as long as this. Without memory nothing is there. */
    zb_nodes for_core() {
        return {at_for_core, this};
    }

  private:
    static const zb_node *at_for_core(void *self, const char *path) noexcept;

    NodePtr array_in(unsigned level, const std::string &name);

    HierarchyPtr store_;
    std::string path_;
    std::map<std::string, NodePtr> opened_;
};

} // namespace zarr3

#endif
