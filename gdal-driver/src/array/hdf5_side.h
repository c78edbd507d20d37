/* SPDX-License-Identifier: MIT */
/*
 * The attribute `_hdf5`: what only HDF5 knows of a node, kept by the HDF5 connector (docs/hdf5.md,
 * its model/side.h). GDAL's users see nothing of it. It stays with its node; of a copy that GDAL
 * makes, only some of it is true.
 */
#ifndef ZARR3_HDF5_SIDE_H
#define ZARR3_HDF5_SIDE_H

#include <functional>
#include <string>
#include <vector>

#include "array/attribute_changes.h"
#include "base/handles.h"

namespace zarr3 {

constexpr char kHdf5Side[] = "_hdf5";

/* Its member with an entry for each attribute of a type that JSON does not tell. */
constexpr char kHdf5Entries[] = "attributes";

/* Of the attribute's text; null unless it is of the one version that there is. */
Json parse_hdf5_side(const std::string &text);
Json hdf5_side_of(const zb_node *node);

/* Where HDF5 has further hard links to the node, and what those in it lead to (docs/hdf5.md,
   "Links"): paths in the store. `_hdf5` has them relative to the node, so that they change when it
   moves alone. */
std::vector<std::string> linked_places(const zb_node *node);

/* What is true of another node with the same elements, as the attribute's text: types, creation
   lists, comments. Not links, orders, scales and references, which are the node's own. `has`: true
   if the other node has this attribute with this value. "" without any. */
std::string hdf5_side_of_copies(const zb_node *node, bool same_shape,
                                const std::function<bool(const zb_json *member)> &has);

/* The same for a copy that has its attributes. What its own `_hdf5` says already stays. */
void copy_hdf5_side(const zb_node *from, const zb_node *copy, AttributeChanges *changes);

/* For a node that follows another one: `side` (hdf5_side_of_copies) takes the place of what the
   node's own `_hdf5` says of the same kind, and all else of that stays: scales, links, orders, and
   the entries of attributes of which is_own(name) is true. */
void follow_hdf5_side(const std::string &side,
                      const std::function<bool(const std::string &name)> &is_own,
                      AttributeChanges *changes);

/* An object with a value of one member, in the place of those of both names; "" takes it out. "" of
   an object without members. */
std::string with_member(const zb_json *object, const std::string &before, const std::string &name,
                        const std::string &value);

} // namespace zarr3

#endif
