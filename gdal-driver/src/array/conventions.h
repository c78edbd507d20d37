/* SPDX-License-Identifier: MIT */
/* The Zarr conventions that hold for a node, by the list `zarr_conventions`. */
#ifndef ZARR3_CONVENTIONS_H
#define ZARR3_CONVENTIONS_H

#include <string>
#include <vector>

#include "array/attribute_changes.h"
#include "array/nearby_nodes.h"

namespace zarr3 {

/* True if the node, or a group above it, declares the convention. `around` may be those of any node
   of the same store. False for NULL. */
bool follows(const zb_node *node, enum zb_convention convention, NearbyNodes &around);

/* True for the names of attributes by which the conventions of a place say it. */
bool is_place_attribute(const std::string &name);

/* Declares these conventions of a place, or does not declare them any more. The entries of others
   stay. */
void declare_place(const zb_node *node, bool proj, bool spatial, AttributeChanges *changes);

} // namespace zarr3

#endif
