/* SPDX-License-Identifier: MIT */
/* Where the levels of a raster lie that BuildOverviews() (gdaladdo) makes: the rules are the core's
   (zarrbridge/multiscales.h, "Places of levels"). */
#ifndef ZARR3_LEVEL_PLACES_H
#define ZARR3_LEVEL_PLACES_H

#include <memory>
#include <string>
#include <vector>

#include "array/pyramid.h"

namespace zarr3 {

/* In the second form, the group of the raster; those of levels are the numbers from 1. */
constexpr char kFirstLevel[] = "0";

/* Of the levels of one raster. */
class LevelPlaces {
  public:
    /* The pyramid is that of the array, or empty. */
    LevelPlaces(const Pyramid &pyramid, const std::string &array);

    /* True where all levels are groups. */
    bool of_groups() const {
        return places_->of_groups;
    }

    /* The group that has the list. */
    const std::string &above() const {
        return above_;
    }

    /* What the list calls the raster, or a level; by its path. */
    std::string asset(const std::string &array) const;

    /* True if the array at `level` was made to be a level of the raster. */
    bool is_made(zb_hierarchy *hierarchy, const std::string &level) const;

  private:
    std::shared_ptr<zb_level_places> places_;
    std::string above_;
};

/* True if the pyramid's list has the array's group alone, for levels to come, and what the list
   says of the group is true of this array alone. */
bool awaits_levels(zb_hierarchy *hierarchy, const Pyramid &pyramid, const std::string &array);

/* zb_level_raster; "" for none. */
std::string level_raster(const zb_node *group);

/* zb_level_raster_of; "" for none. */
std::string raster_of_level(const Children &siblings, const zb_node *group);

} // namespace zarr3

#endif
