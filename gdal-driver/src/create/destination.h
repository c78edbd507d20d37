/* SPDX-License-Identifier: MIT */
/* The place that a new raster is written to. */
#ifndef ZARR3_DESTINATION_H
#define ZARR3_DESTINATION_H

#include <string>
#include <vector>

#include "gdal.h"
#include "store/node.h"
#include "zarrbridge/sys/staging.h"
#include "zarrbridge/write.h"

namespace zarr3 {

/* A whole store (node is "") or a group in one; or an array in a group that is there. As long as
   the destination lives, it owns what has been made there, and takes it away again unless keep() is
   called. */
class Destination {
  public:
    Destination() = default;
    ~Destination();
    Destination(const Destination &) = delete;
    Destination &operator=(const Destination &) = delete;

    /* Looks whether a raster may be written under the name. What is there must be a Zarr version 3
       node, an empty directory or nothing. False, with *reason set, otherwise. */
    bool find(const char *name, std::string *reason);

    /* The same for one more array in the group of that name, which must be there; the array must
       not. */
    bool find_group(const char *name, const std::string &array, std::string *reason);

    /* The same for a new group in the group of that name, with the raster's name. */
    bool find_new_group(const char *name, const std::string &group, std::string *reason);

    /* True if make() will take away a store, or a part of one. */
    bool replaces() const {
        return replaces_;
    }
    /* True if a copy, too, takes it away first: beside disks nothing changes places. */
    bool is_emptied_by_copies() const;

    /* True if make() has made a group where it stays: what was there has gone. */
    bool made_in_place() const {
        return !appends() && staging_.path == nullptr && place_ == node_ && !is_archive_;
    }
    bool appends() const {
        return !array_.empty();
    }
    /* True if the hierarchy has other nodes, from which the new one must take nothing. */
    bool has_company() const {
        return appends() || !node_.empty();
    }

    /* Makes the group; whatever was there before goes. With `aside` it is made beside its place and
       what was there stays, until replace(); in S3 and in memory it is made in its place. An
       archive stays until the store is committed. */
    enum zb_code make(bool staging, enum zb_sync sync, zb_error *err);

    /* The array of an appending destination has been created: from now on it is owned. */
    void created_array() {
        made_ = true;
    }

    /* Puts the new group in the place of the old one, a whole store on disk in one step; `durable`:
       safe from a loss of power before this returns. */
    enum zb_code replace(bool durable, zb_error *err);

    void keep() {
        made_ = false;
    }

    /* True if the file, or the name of a node, belongs to the store that is written to. */
    bool has(const std::string &file) const;

    /* The place where the new group is now. */
    const Hierarchy &hierarchy() const {
        return hierarchy_;
    }
    const std::string &node() const {
        return place_;
    }

    /* Archives are not changed once they have their name. */
    unsigned update_flag() const {
        return is_archive_ ? 0 : GDAL_OF_UPDATE;
    }

    /* The name that an array gets unless the user gives one. */
    std::string array_name() const;

  private:
    bool locate(const char *name, std::string *reason);
    bool find_room(const char *name, const std::string &node, std::string *reason);
    void take_back();
    void remember_missing();
    void remove_missing();
    enum zb_code old_has_gone(zb_error *err);
    enum zb_code clear_place(zb_error *err);
    enum zb_code make_group(zb_error *err);
    enum zb_code replace_node(bool durable, zb_error *err);

    std::string root_, node_;
    std::string place_; /* where the new group is made */
    std::string array_; /* to be appended, or "" */
    Hierarchy hierarchy_;
    bool is_archive_ = false; /* the whole store becomes a zip archive */
    bool replaces_ = false;
    bool joins_ = false;               /* a new group beside others: nothing gives way to it */
    std::vector<std::string> helpers_; /* paths beside an appended array that had no node before */
    std::vector<std::string> missing_; /* groups above that were not there, the deepest first */
    zb_staging staging_ = {nullptr, nullptr, -1}; /* the directory beside */
    bool made_ = false;
};

} // namespace zarr3

#endif
