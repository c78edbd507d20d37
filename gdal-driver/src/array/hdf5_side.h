/* SPDX-License-Identifier: MIT */
/*
 * The HDF5 extension of a node (zarrbridge/hdf5_extension.h), for GDAL. GDAL's users see nothing of
 * it. It stays with its node; of a copy that GDAL makes, only some of it is true.
 */
#ifndef ZARR3_HDF5_SIDE_H
#define ZARR3_HDF5_SIDE_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "array/attribute_changes.h"
#include "base/handles.h"
#include "zarrbridge/hdf5_extension.h"

namespace zarr3 {

constexpr char kHdf5Side[] = ZB_HDF5_EXTENSION;

struct Hdf5ExtensionFree {
    void operator()(zb_hdf5_extension *extension) const {
        zb_hdf5_extension_free(extension);
    }
};
using Hdf5Extension = std::unique_ptr<zb_hdf5_extension, Hdf5ExtensionFree>;

/* Of a node (null: none); and of the attribute's value, as JSON or as JSON text. Null unless it is
   ours. */
Hdf5Extension hdf5_side_of(const zb_node *node);
Hdf5Extension parse_hdf5_side(const zb_json *value);
Hdf5Extension parse_hdf5_side(const std::string &value);

/* The attribute's value with other entries of attributes (a JSON object; null: none), as JSON text;
   "" without any member. */
std::string with_hdf5_entries(const zb_hdf5_extension *side, const zb_json *entries);

/* Where HDF5 has further hard links to the node, and what those in it lead to (docs/hdf5.md,
   "Links"), as far as they would be lost when it moves: paths in the store. */
enum zb_code lost_links(const zb_node *node, std::vector<std::string> *places, zb_error *err);

/* What is true of another node with the same elements, as the attribute's value (JSON text): types,
   creation lists, comments. Not links, orders, scales and references, which are the node's own.
   `has`: true if the other node has this attribute with this value. "" without any. */
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

} // namespace zarr3

#endif
