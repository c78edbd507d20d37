/* SPDX-License-Identifier: MIT */
/*
 * Places where this process has just taken a store away for a new raster, of which nothing is written
 * yet. What opens such a place by its name wants the old pixels (a VRT that is warped onto its own
 * source) and would get the fill value for all of them.
 */
#ifndef ZARR3_EMPTIED_PLACES_H
#define ZARR3_EMPTIED_PLACES_H

#include <string>

namespace zarr3 {

/* A place is one as long as this object lives. */
class EmptiedPlace {
  public:
    EmptiedPlace(const std::string &root, const std::string &group);
    ~EmptiedPlace();
    EmptiedPlace(const EmptiedPlace &) = delete;
    EmptiedPlace &operator=(const EmptiedPlace &) = delete;

  private:
    std::string key_;
};

/* True if the node is such a place, or in one. Of any thread. */
bool is_emptied(const std::string &root, const std::string &node);

} // namespace zarr3

#endif
