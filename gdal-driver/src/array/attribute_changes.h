/* SPDX-License-Identifier: MIT */
/* Changes of a node's attributes that are collected first and made together. */
#ifndef ZARR3_ATTRIBUTE_CHANGES_H
#define ZARR3_ATTRIBUTE_CHANGES_H

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/node.h"
#include "zarrbridge/node_edit.h"

namespace zarr3 {

/* True if two values of an attribute are the same: integers, and the same numbers as floats, are.
   NULL stands for none. */
bool is_same_value(const zb_json *present, const zb_json *wanted);

class AttributeChanges {
  public:
    /* value: JSON text. */
    void set(const std::string &name, const std::string &value) {
        changes_[name] = value;
    }
    void remove(const std::string &name) {
        changes_[name].clear();
    }

    /* Members of the GDAL extension, likewise, and of what the store has: another program may
       change another one. */
    void set(enum zb_gdal_member member, const std::string &value) {
        derive(member, [value](const zb_json *) { return value; });
    }
    void remove(enum zb_gdal_member member) {
        set(member, "");
    }

    /* Those that are set so follow all others, in this order: where they are taken away and set
       again, the document is what it was. */
    void set_last(const std::string &name, const std::string &value) {
        last_.emplace_back(name, value);
    }

    /* A value that is made of the one which the store has when the change is made (NULL: none), so
       that what other programs have put into it stays. fn gives JSON text, "" to remove it, and may
       be called more than once. A later one of the same name is given what the one before makes. */
    using Remake = std::function<std::string(const zb_json *now)>;
    void derive(const std::string &name, Remake fn) {
        remakes_[name].push_back(std::move(fn));
    }
    void derive(enum zb_gdal_member member, Remake fn) {
        members_[member].push_back(std::move(fn));
    }

    /* Makes the changes that change anything. *node becomes the changed node; after a failure it
       is what it was. */
    enum zb_code apply(NodePtr *node, zb_error *err) const;

  private:
    struct Edit {
        const char *name;
        std::string value; /* "": it is removed */
        bool checked;
        std::string former; /* "": there is none */
    };
    enum zb_code edits_for(const zb_node *now, std::vector<Edit> *edits, zb_error *err) const;
    enum zb_code add_members(const zb_node *now, std::vector<Edit> *edits, zb_error *err) const;
    enum zb_code apply_to_known(const zb_node *node, zb_node **changed, zb_error *err) const;
    static enum zb_code make_edits(void *context, const zb_node *now, zb_node_edits *out,
                                   zb_error *err);
    std::string remade(const std::vector<Remake> &steps, const zb_json *now) const;

    std::map<std::string, std::string> changes_; /* "": to be removed */
    std::map<std::string, std::vector<Remake>> remakes_;
    std::map<enum zb_gdal_member, std::vector<Remake>> members_;
    std::vector<std::pair<std::string, std::string>> last_;
};

} // namespace zarr3

#endif
