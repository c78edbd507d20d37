/* SPDX-License-Identifier: MIT */
/* The place that a new raster is written to. */
#ifndef ZARR3_TARGET_H
#define ZARR3_TARGET_H

#include <string>

#include "node.h"
#include "zarrbridge/write.h"

namespace zarr3 {

/* A whole store (node is "") or a group in one. As long as the target lives, it owns what has been
   made there, and takes it away again unless keep() is called. */
class Target {
  public:
    Target() = default;
    ~Target();
    Target(const Target &) = delete;
    Target &operator=(const Target &) = delete;

    /* Looks whether a raster may be written under the name. What is there must be a Zarr version 3
       node or an empty directory. False, with *reason set, otherwise. */
    bool find(const char *name, std::string *reason);

    /* Makes the group; whatever was there before goes. With `aside` a whole store is made in a
       directory beside its place and what was there stays, until replace(). */
    enum zb_code make(bool aside, enum zb_sync sync, zb_error *err);

    /* Puts the new store in the place of the old one, in one step; `durable`: safe from a loss of
       power before this returns. */
    enum zb_code replace(bool durable, zb_error *err);

    void keep() {
        made_ = false;
    }

    /* Where the new group is now. */
    const Hierarchy &hierarchy() const {
        return hierarchy_;
    }
    const std::string &node() const {
        return node_;
    }

    /* The name that an array gets unless the user gives one. */
    std::string array_name() const;

  private:
    enum zb_code clear(zb_error *err);
    enum zb_code open_aside(zb_error *err);

    std::string root_, node_;
    Hierarchy hierarchy_;
    int aside_lock_ = -1; /* descriptor of the directory beside, which tells that we live */
    bool made_ = false;
};

} // namespace zarr3

#endif
