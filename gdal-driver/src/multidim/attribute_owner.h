/* SPDX-License-Identifier: MIT */
/* The node of a group or an array as the place of attributes: which of them GDAL shows as such, and
   how they are changed. */
#ifndef ZARR3_ATTRIBUTE_OWNER_H
#define ZARR3_ATTRIBUTE_OWNER_H

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "array/attribute_changes.h"
#include "base/compat.h"

namespace zarr3 {

class Zarr3Attribute;

class AttributeOwner {
  public:
    virtual ~AttributeOwner() = default;

    /* As it is now; null for a group that has no document of its own. */
    virtual const zb_node *attributes_of() const = 0;
    /* Reports what fails. */
    virtual bool change(const AttributeChanges &changes) = 0;
    /* Of an object that goes: the next flush of its dataset fails. */
    virtual void note_loss() = 0;
    virtual std::string owner_name() const = 0;
    /* True if dimensions tell the place on the map that attributes state, too. */
    virtual bool place_is_carried() const {
        return false;
    }
    /* The full name that its attributes' own begin with. */
    virtual std::string attribute_parent() const {
        return owner_name();
    }

    /* An attribute that a program holds; each tells of its beginning and of its end. */
    void note_held(Zarr3Attribute *attribute) {
        held_.insert(attribute);
    }
    void note_gone(Zarr3Attribute *attribute) {
        held_.erase(attribute);
    }

    /* Those that a program has created and not written go to the store with the values that they
       have then, 0 or no text. False, with an error reported, when one cannot be stored. */
    bool store_created();
    bool has_created(const std::string &name) const;
    /* Programs that hold it cannot bring it back. */
    void held_is_deleted(const std::string &name);

  protected:
    /* Their full names follow that of the owner, which has another one now. */
    void rename_held();
    /* The node is gone, and its attributes with it. */
    void all_held_are_deleted();

  private:
    std::set<Zarr3Attribute *> held_;
};

/* The attributes that are not what GDAL has other calls for (unit, scale, CRS ...), without what
   holds for all rows and columns alone (place, statistics) and what only HDF5 knows: programs
   copy the list to arrays of other shapes and from views. With `all`, every one, as it is. `self`
   keeps the owner for as long as an attribute lives. */
std::vector<std::shared_ptr<GDALAttribute>>
list_attributes(const std::shared_ptr<AttributeOwner> &self, bool all);

/* Any attribute, or null. */
std::shared_ptr<GDALAttribute> find_attribute(const std::shared_ptr<AttributeOwner> &self,
                                              const std::string &name);

/* A new one, which is in the store from its first writing on, at the latest when attributes are
   asked for, the dataset is flushed, or the program lets go of it. Null, with an error reported,
   when there is one, or when an attribute cannot have such values. */
std::shared_ptr<GDALAttribute> create_attribute(const std::shared_ptr<AttributeOwner> &self,
                                                const std::string &name,
                                                const std::vector<GUInt64> &shape,
                                                const GDALExtendedDataType &type);

bool delete_attribute(AttributeOwner &owner, const std::string &name);

/* What HDF5 knows of a copy's source and is true of the copy, too, which has its attributes. */
bool copy_hdf5_side(const AttributeOwner &from, AttributeOwner &copy);

/* False, with an error reported, for `_hdf5`: a program of GDAL's does not know what it says. */
bool may_change_attribute(const AttributeOwner &owner, const std::string &name);

} // namespace zarr3

#endif
