/* SPDX-License-Identifier: MIT */
/* Changes of a node's attributes that are collected first and made together. */
#ifndef ZARR3_ATTRIBUTE_CHANGES_H
#define ZARR3_ATTRIBUTE_CHANGES_H

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/node.h"

namespace zarr3 {

class AttributeChanges {
  public:
    /* value: JSON text. */
    void set(const std::string &name, const std::string &value) {
        changes_[name] = value;
    }
    void remove(const std::string &name) {
        changes_[name].clear();
    }

    /* Those that are set so follow all others, in this order: where they are taken away and set
       again, the document is what it was. */
    void set_last(const std::string &name, const std::string &value) {
        last_.emplace_back(name, value);
    }

    /* Makes the changes that change anything. *node becomes the changed node; after a failure it
       has those that were made before. */
    enum zb_code apply(NodePtr *node, zb_error *err) const;

  private:
    std::map<std::string, std::string> changes_; /* "": to be removed */
    std::vector<std::pair<std::string, std::string>> last_;
};

} // namespace zarr3

#endif
