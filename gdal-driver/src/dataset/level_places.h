/* SPDX-License-Identifier: MIT */
/*
 * Where the levels of a raster lie that BuildOverviews() (gdaladdo) makes. Each is a group, which
 * is of one raster alone, with coordinates and CRS beside the level's array. There are two forms:
 *
 *     beside the raster            groups alone (OVERVIEW_LAYOUT=GROUPS)
 *     x.zarr/out                   x.zarr/0/out       the raster
 *     x.zarr/ovr_2x/out            x.zarr/1/out       half of its columns and rows
 *     x.zarr/ovr_4x/out            x.zarr/2/out
 *
 * The list of levels is on the group that has the groups of levels (here the root). It names arrays
 * in the first form (out, ovr_2x/out), where the group of a second raster has that name behind it:
 * ovr_2x_slope. GDAL's own driver names its levels so, too. In the second form it names groups (0,
 * 1), as the convention's own examples do, and is there from the first.
 *
 * In the first form a made level is known by its name, in the second by an attribute of its group,
 * for other programs number their levels, too.
 */
#ifndef ZARR3_LEVEL_PLACES_H
#define ZARR3_LEVEL_PLACES_H

#include <string>
#include <vector>

#include "raster/pyramid.h"

namespace zarr3 {

/* In the second form, the group of the raster; those of levels are the numbers from 1. */
constexpr char kFirstLevel[] = "0";

/* Of the levels of one raster. */
class LevelPlaces {
  public:
    /* The pyramid is that of the array, or empty. */
    LevelPlaces(const Pyramid &pyramid, std::string array);

    /* True in the second form. */
    bool of_groups() const {
        return of_groups_;
    }

    /* The group that has the list. */
    const std::string &above() const {
        return above_;
    }

    /* What the list calls the raster, or a level; by its path. */
    std::string asset(const std::string &array) const;

    /* True if levels may be added: the raster is the first one of its pyramid, or has none. */
    bool leads() const {
        return leads_;
    }

    /* True if the array at `level` was made to be a level of the raster. */
    bool is_made(zb_hierarchy *hierarchy, const std::string &level) const;

    /* The path of the group for a new level, none of `taken`. ZB_ECONFLICT where all names are
       taken; store errors, where it cannot be told. */
    enum zb_code free_group(zb_hierarchy *hierarchy, int factor,
                            const std::vector<std::string> &taken, std::string *group,
                            zb_error *err) const;

    /* The attributes of a level's group, by the path that it gets; as JSON. */
    std::string group_attributes(const std::string &group) const;

    /* Of a child of above(): true if it has the name or the attribute of a level that is in the
       making, or was when a program was killed, and nothing in it. */
    bool is_begun(const zb_child &group) const;

  private:
    bool is_of_raster(const zb_node *group) const;
    std::vector<std::string> names_for(int factor) const;

    std::string array_, above_;
    bool of_groups_, has_list_, leads_;
};

/* Takes the attribute of a level off its group, which others have nodes in: an array that gets the
   level's name later is data. */
enum zb_code forget_level(zb_hierarchy *hierarchy, const std::string &group, zb_error *err);

/* The node that holds all of a level, or of a raster, and nothing else: its group, or the array
   where the group has other rasters. */
std::string home_of_level(zb_hierarchy *hierarchy, const std::string &level);

/* The pyramid of an array, by find_pyramid(), for changes of its levels. Where no list has the
   array, but a group beside its own says that it is a level of it, the pyramid is empty and of
   groups: programs that rewrite the attributes of a group take the list away. Looks at all groups
   there. */
Pyramid pyramid_for_changes(zb_hierarchy *hierarchy, const Pyramid &pyramid,
                            const std::string &array);

/* True if the pyramid's list has the array's group alone, for levels to come, and what the list
   says of the group is true of this array alone. */
bool awaits_levels(zb_hierarchy *hierarchy, const Pyramid &pyramid, const std::string &array);

/* Of a group that has the name or the attribute of a made level, or of one in the making, and
   inside an array called like the raster that this leads to: the path of that raster, relative to
   the group that the siblings are in. "" for all else. */
std::string raster_of_level(const Children &siblings, const zb_node *group, const Children &inside);

/* The same for any child, which is listed only where it may be a level. */
std::string raster_of_child(const Children &siblings, const zb_child &child);

/* The mask of an array, by its path; "" for none. */
std::string mask_of(const NodePtr &array);

} // namespace zarr3

#endif
