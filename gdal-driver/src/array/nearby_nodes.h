/* SPDX-License-Identifier: MIT */
/*
 * The nodes around an array: the groups above it, and the arrays beside it that describe it (CRS
 * variables, coordinates). Everything is opened on first use and kept, absences included; nothing
 * is listed.
 */
#ifndef ZARR3_NEARBY_NODES_H
#define ZARR3_NEARBY_NODES_H

#include <map>
#include <vector>

#include "store/node.h"

namespace zarr3 {

class NearbyNodes {
  public:
    NearbyNodes(StorePtr store, std::string path)
        : store_(std::move(store)), path_(std::move(path)) {
    }

    /* Those of a node. */
    explicit NearbyNodes(const zb_node *node);

    const std::string &path() const {
        return path_;
    }

    /* The group `steps` above the array (1 is its parent); null when there is none. */
    const zb_node *group_above(unsigned steps);

    /* The array called name in the parent group or, failing that, in the groups above it, as CF
       and xarray look for shared coordinates. Null when there is none. */
    NodePtr find_array(const std::string &name);

    /* The node at an absolute path; null when it cannot be opened. */
    NodePtr at(const std::string &path);

  private:
    StorePtr store_;
    std::string path_;
    std::map<std::string, NodePtr> opened_;
};

} // namespace zarr3

#endif
