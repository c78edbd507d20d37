/* SPDX-License-Identifier: MIT */
/*
 * What the groups, arrays and dimensions of one multidimensional dataset share: the store, and the
 * objects that a program holds. A node has one object at a time, so that all holders of an array
 * see what one of them writes, and a dimension is the same for all arrays that have it.
 *
 * Zarr has no dimensions, only names of an array's dimensions. A dimension belongs to the group of
 * its coordinate array (zb_coordinate_find); without one, to the nearest group upwards that is
 * known to have a dimension of that name and length, else to the array's own group. Where names
 * repeat with other lengths, and without a name, it belongs to the array alone.
 */
#ifndef ZARR3_TREE_H
#define ZARR3_TREE_H

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "array/attribute_changes.h"
#include "array/nearby_nodes.h"
#include "base/compat.h"
#include "multidim/references.h"
#include "store/complete.h"
#include "store/node.h"
#include "zarrbridge/write.h"

namespace zarr3 {

class Zarr3Dimension;
class Zarr3Group;
class Zarr3MDArray;

/* The part of a hierarchy that is shown, and the way it is opened. */
struct TreeOptions {
    std::string base;    /* the path of the group that is GDAL's root group */
    bool single = false; /* one array is shown alone, at the path `array` */
    std::string array;
    bool update = false;
    zb_write_options write = {};
    bool shows_shards = false;                 /* as blocks of arrays */
    Consolidate consolidate = Consolidate::No; /* when the dataset is closed */
    CPLStringList array_options; /* creation options of new arrays, unless they have others */
};

class Tree : public std::enable_shared_from_this<Tree> {
  public:
    Tree(Hierarchy hierarchy, TreeOptions options);
    /* Ends what programs have changed by objects that they held longer than the dataset. */
    ~Tree();
    Tree(const Tree &) = delete;
    Tree &operator=(const Tree &) = delete;

    zb_hierarchy *store() const {
        return hierarchy_.store.get();
    }
    const HierarchyPtr &shared_store() const {
        return hierarchy_.store;
    }
    const std::string &filename() const {
        return hierarchy_.root;
    }
    const Hierarchy &hierarchy() const {
        return hierarchy_;
    }
    const TreeOptions &options() const {
        return options_;
    }

    /* Reports an error unless the dataset is open for updating. */
    bool may_write(const std::string &name) const;

    /* GDAL's full name of the node at a path; nodes above the root group stand in it. */
    std::string full_name(const std::string &path) const;
    /* The last part of it. */
    std::string short_name(const std::string &path) const;

    std::shared_ptr<Zarr3Group> root();

    /* Null, with an error reported, where there is no group. `known`: the node, if the caller has
       it. */
    std::shared_ptr<Zarr3Group> group(const std::string &path, NodePtr known = nullptr);

    /* Null, with *reason set, where there is no array that GDAL can show. */
    std::shared_ptr<Zarr3MDArray> array(const std::string &path, NodePtr known,
                                        std::string *reason);

    /* The dimension of an array. */
    std::shared_ptr<Zarr3Dimension> dimension(const zb_node *array, uint32_t dim,
                                              NearbyNodes &around);
    /* A new one; null, with an error reported, where the group has one of that name. */
    std::shared_ptr<Zarr3Dimension> create_dimension(const std::string &group,
                                                     const std::string &name,
                                                     const std::string &type,
                                                     const std::string &direction, uint64_t size);
    /* True if the group has one of that name, known or not. */
    bool has_dimension(const std::string &group, const std::string &name);
    /* Those of a group, as far as they are known. */
    std::vector<std::shared_ptr<Zarr3Dimension>> dimensions(const std::string &group);
    void rename_dimension(const Zarr3Dimension &dimension, const std::string &name);
    /* True if the program has made it here: it may have no array yet. */
    bool has_created(const Zarr3Dimension &dimension) const {
        return created_.count(&dimension) > 0;
    }

    /* All arrays that a program holds. */
    std::vector<std::shared_ptr<Zarr3MDArray>> open_arrays() const;

    /* An array that has just been created. */
    void keep(const std::string &path, const std::shared_ptr<Zarr3MDArray> &array);

    /* All arrays of the dataset that have a dimension, opened. False, with an error reported, where
       there may be one that cannot be opened. */
    bool arrays_with(const Zarr3Dimension &dimension,
                     std::vector<std::shared_ptr<Zarr3MDArray>> *arrays);

    /* Changes attributes of the node at a path, for all who hold it. False, with an error
       reported, when that fails. */
    bool change(const std::string &path, const AttributeChanges &changes);
    bool change(const std::vector<NamedBy> &references);

    /* The node is elsewhere, or nowhere, with all below it. */
    void moved(const std::string &from, const std::string &to);
    void deleted(const std::string &path);
    /* As deleted(), for all below the group that is not in the store any more. */
    void forget_missing(const std::string &group);
    /* Nodes below the group were made or removed, and its attributes changed, by another view. */
    void changed_below(const std::string &group);

    /* All that waits in arrays. Errors are reported. It fails as well, once, when an array that the
       program let go before could not store all. */
    CPLErr flush();
    void note_loss() {
        has_loss_ = true;
    }
    void abandon();

    /* An array was created, or an array or a group could not be: GDAL's copies go on without. */
    void note_creation(bool done) {
        (done ? has_created_ : has_refused_) = true;
    }
    bool has_created() const {
        return has_created_;
    }
    bool has_refused() const {
        return has_refused_;
    }

  private:
    using DimensionKey = std::pair<std::string, std::string>; /* group, name */

    std::shared_ptr<Zarr3Dimension> known_dimension(const std::string &group,
                                                    const std::string &name) const;
    std::string home_of(std::string group, const std::string &name, uint64_t size) const;
    std::shared_ptr<Zarr3Dimension> own_dimension(const std::string &array, const std::string &name,
                                                  uint64_t size);

    Hierarchy hierarchy_;
    TreeOptions options_;
    std::map<std::string, std::weak_ptr<Zarr3Group>> groups_;
    std::map<std::string, std::weak_ptr<Zarr3MDArray>> arrays_;
    std::map<DimensionKey, std::shared_ptr<Zarr3Dimension>> dimensions_;
    bool has_loss_ = false;
    bool has_created_ = false;
    bool has_refused_ = false;
    bool is_abandoned_ = false;
    std::set<const Zarr3Dimension *> created_; /* they may have no array yet */
};

} // namespace zarr3

#endif
