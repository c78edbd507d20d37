/* SPDX-License-Identifier: MIT */
/*
 * Attributes whose texts JSON cannot tell from numbers: "NaN", "Infinity", "-Infinity".
 *
 * By themselves these are numbers, as Zarr writes them. That one is a text stands beside it, in the
 * attribute `_hdf5`, where the HDF5 connector keeps the types of attributes (docs/hdf5.md, its
 * model/side.h and attributes/exact.h): so both plugins show the same, whichever has written it.
 * An entry counts while the attribute is a text of its shape.
 */
#ifndef ZARR3_STATED_TEXTS_H
#define ZARR3_STATED_TEXTS_H

#include <string>
#include <unordered_map>
#include <vector>

#include "array/attribute_changes.h"
#include "base/handles.h"
#include "zarrbridge/conventions.h"

namespace zarr3 {

constexpr char kAttributeTypes[] = "_hdf5";

class StatedTexts {
  public:
    explicit StatedTexts(const zb_node *node);

    /* True if an attribute that parses as these numbers is text. */
    bool has(const zb_json *member, const zb_value &numbers) const;

  private:
    Json types_;
    std::unordered_map<std::string, const zb_json *> entries_; /* they live in types_ */
};

/* Adds what has to be stored with the attribute's new value, JSON text ("": it goes): that it is
   text, or is none any more. `before`: the attribute's name until now, whose entry it takes over.
   False, and nothing is added, where `_hdf5` is another program's, so that a text cannot be told
   from a number. */
bool state_text(const zb_node *node, const std::string &name, const std::string &value,
                bool is_text, const std::string &before, AttributeChanges *changes);

/* Where HDF5 has further hard links to the node, and what those in it lead to (docs/hdf5.md,
   "Links"): paths in the store. `_hdf5` has them relative to the node, so that they change when it
   moves alone. */
std::vector<std::string> linked_places(const zb_node *node);

} // namespace zarr3

#endif
