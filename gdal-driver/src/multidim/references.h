/* SPDX-License-Identifier: MIT */
/*
 * Attributes that name arrays and dimensions, and so have to follow when these get other names:
 * CF's (`coordinates`, `bounds`, `grid_mapping`, `cell_methods` ...), `spatial:dimensions` and the
 * mask of a raster.
 */
#ifndef ZARR3_REFERENCES_H
#define ZARR3_REFERENCES_H

#include <string>
#include <vector>

#include "array/attribute_changes.h"

namespace zarr3 {

struct NamedBy {
    std::string path; /* of the node whose attributes change */
    AttributeChanges changes;
};

/* The nodes that name the array at `from` (none, if it is a group), with what their attributes are
   when it is at `to`: those in its group and below that do not have a nearer namesake. ZB_EINVAL
   where an attribute cannot have the new name. */
enum zb_code find_references(zb_store *store, const std::string &from, const std::string &to,
                             std::vector<NamedBy> *found, zb_error *err);

/* Adds what changes on an array, or on a group above it, with the name of a dimension of the
   array. True if anything does. */
bool follow_dimension(const zb_node *node, const std::string &from, const std::string &to,
                      AttributeChanges *changes);

} // namespace zarr3

#endif
