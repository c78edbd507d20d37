/* SPDX-License-Identifier: MIT */
/*
 * Attributes whose texts JSON cannot tell from numbers: "NaN", "Infinity", "-Infinity".
 *
 * By themselves these are numbers, as Zarr writes them. That one is a text stands beside it, in the
 * attribute `_hdf5` (hdf5_side.h), where the HDF5 connector keeps the types of attributes
 * (docs/hdf5.md, its attributes/exact.h): so both plugins show the same, whichever has written it.
 * An entry counts while the attribute is a text of its shape.
 */
#ifndef ZARR3_STATED_TEXTS_H
#define ZARR3_STATED_TEXTS_H

#include <string>
#include <unordered_map>
#include <vector>

#include "array/attribute_changes.h"
#include "array/hdf5_side.h"
#include "base/handles.h"
#include "zarrbridge/conventions.h"

namespace zarr3 {

class StatedTexts {
  public:
    explicit StatedTexts(const zb_node *node);

    /* True if an attribute that parses as these numbers is text. */
    bool has(const zb_json *member, const zb_value &numbers) const;

  private:
    Hdf5Extension types_;
    std::unordered_map<std::string, const zb_json *> entries_; /* they live in types_ */
};

/* What has to be stored with new values of attributes: that they are text, or are none any more. */
class TextStatements {
  public:
    explicit TextStatements(const zb_node *node);

    /* value: JSON text ("": it goes). `before`: the attribute's name until now, whose entry it
       takes over. False, and nothing is stated, where `_hdf5` is another program's, so that a text
       cannot be told from a number. */
    bool state(const std::string &name, const std::string &value, bool is_text,
               const std::string &before);
    bool state(const std::string &name, const std::string &value, bool is_text) {
        return state(name, value, is_text, name);
    }

    /* Of what is stored then. */
    void add_to(AttributeChanges *changes) const;

  private:
    struct Statement {
        std::string name, value, before;
        bool is_text;
    };
    Hdf5Extension side_;
    bool is_foreign_;
    std::vector<Statement> statements_;
};

} // namespace zarr3

#endif
