/* SPDX-License-Identifier: MIT */
/*
 * Attributes that name arrays, groups and dimensions, and so have to follow when these get other
 * names: CF's and UGRID's (`coordinates`, `bounds`, `grid_mapping`, `compress` ...),
 * `spatial:dimensions` and the mask of a raster.
 */
#ifndef ZARR3_REFERENCES_H
#define ZARR3_REFERENCES_H

#include <set>
#include <string>
#include <vector>

#include "array/attribute_changes.h"

namespace zarr3 {

struct NamedBy {
    std::string path; /* of the node whose attributes change */
    AttributeChanges changes;
};

/* The nodes that name the node at `from`, with what their attributes are when it is at `to`, in the
   same group. An array is named by its bare name in its group and below, where no namesake is
   nearer; an array and a group by paths, from anywhere. ZB_EINVAL where an attribute cannot have
   the new name. */
enum zb_code find_references(zb_hierarchy *hierarchy, const std::string &from,
                             const std::string &to, std::vector<NamedBy> *found, zb_error *err);

/* Likewise the arrays that name a dimension of the group, which they need not have, in attributes
   of CF (`compress`, `sample_dimension` ...). `renamed`: the paths of those that have it. */
enum zb_code find_dimension_references(zb_hierarchy *hierarchy, const std::string &group,
                                       const std::set<std::string> &renamed,
                                       const std::string &from, const std::string &to,
                                       std::vector<NamedBy> *found, zb_error *err);

/* Adds what changes on an array, or on a group above it, with the name of a dimension of the
   array. True if anything does. */
bool follow_dimension(const zb_node *node, const std::string &from, const std::string &to,
                      AttributeChanges *changes);

} // namespace zarr3

#endif
