/* SPDX-License-Identifier: MIT */
/*
 * Places where this process has just created a raster, and has written nothing to it yet. What
 * opens such a place by its name wants the pixels of a store that was there before (a VRT that is
 * warped onto its own source) and would get the fill value for all of them.
 */
#ifndef ZARR3_UNWRITTEN_PLACES_H
#define ZARR3_UNWRITTEN_PLACES_H

#include <string>

namespace zarr3 {

/* A place is one as long as this object lives. */
class UnwrittenPlace {
  public:
    UnwrittenPlace(const std::string &root, const std::string &group);
    ~UnwrittenPlace();
    UnwrittenPlace(const UnwrittenPlace &) = delete;
    UnwrittenPlace &operator=(const UnwrittenPlace &) = delete;

  private:
    std::string key_;
};

/* True if the node is such a place, or in one. Of any thread. */
bool is_unwritten(const std::string &root, const std::string &node);

} // namespace zarr3

#endif
