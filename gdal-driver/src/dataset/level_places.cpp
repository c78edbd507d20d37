/* SPDX-License-Identifier: MIT */
#include "dataset/level_places.h"

#include <new>
#include <utility>

#include "array/attributes.h"
#include "base/handles.h"

namespace zarr3 {

/* What the core gives; NULL is a lack of memory. */
static std::string text_of(char *text) {
    const CoreText owner(text);
    if (owner == nullptr)
        throw std::bad_alloc();
    return owner.get();
}

/* The same where NULL means none. */
static std::string text_or_none(char *text) {
    const CoreText owner(text);
    return owner == nullptr ? std::string() : owner.get();
}

LevelPlaces::LevelPlaces(const Pyramid &pyramid, const std::string &array) {
    const PyramidView view(pyramid);
    places_ = std::shared_ptr<zb_level_places>(new zb_level_places(), [](zb_level_places *own) {
        zb_level_places_clear(own);
        delete own;
    });
    if (zb_level_places_find(&view, array.c_str(), places_.get(), nullptr) != ZB_OK)
        throw std::bad_alloc();
    above_ = places_->above;
}

std::string LevelPlaces::asset(const std::string &array) const {
    return text_of(zb_level_asset(places_.get(), array.c_str()));
}

bool LevelPlaces::is_made(zb_hierarchy *hierarchy, const std::string &level) const {
    return zb_level_is_made(places_.get(), hierarchy, level.c_str());
}

/* ---- Nodes ---- */

/* The node that holds all of a raster, and nothing else: its group, or the array where the group
   has other rasters. */
static std::string home_of_level(zb_hierarchy *hierarchy, const std::string &level) {
    return text_of(zb_level_home(hierarchy, level.c_str()));
}

bool awaits_levels(zb_hierarchy *hierarchy, const Pyramid &pyramid, const std::string &array) {
    return pyramid.levels.size() == 1 && LevelPlaces(pyramid, array).of_groups() &&
           home_of_level(hierarchy, array) != array;
}

std::string level_raster(const zb_node *group) {
    return text_or_none(zb_level_raster(group));
}

std::string raster_of_level(const Children &siblings, const zb_node *group) {
    return text_or_none(zb_level_raster_of(siblings.list(), group));
}

} // namespace zarr3
