/* SPDX-License-Identifier: MIT */
/* The properties of levels that are made by BuildOverviews() (gdaladdo), and what may be done to an
   array that has some. */
#ifndef ZARR3_LEVELS_H
#define ZARR3_LEVELS_H

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/attribute_changes.h"
#include "dataset/level_places.h"
#include "geo/geotransform.h"
#include "raster/pyramid_layout.h"

namespace zarr3 {

/* Factors of two, until a level fits into 512 x 512. */
std::vector<int> usual_factors(int width, int height);

/* A level to be made: what is coarser by a factor has as many columns, and rows, as cover all of
   the raster; those of other programs may leave the last ones out. */
struct LevelSize {
    int factor, width, height;
};
LevelSize level_size(int width, int height, int factor);

/* True if the array has attributes of which the driver alone knows what holds for levels. */
bool has_side_attributes(const zb_node *raster);

/* Gives a level those attributes of its raster that hold for another size, too, and takes away what
   the raster has lost. */
void copy_attributes(const zb_node *raster, const zb_node *level, AttributeChanges *changes);

/* The transform of the same place with other numbers of columns and rows. */
std::optional<GeoTransform> level_transform(const std::optional<GeoTransform> &raster,
                                            const Layout &from, const Layout &to);

/* What the list of a pyramid says of a level, or of the raster itself. */
LayoutEntry layout_entry(const LevelPlaces &places, const zb_node *raster,
                         const Layout &raster_layout, const zb_node *level,
                         const std::string &level_path, const Layout &level_layout,
                         const std::optional<GeoTransform> &transform);

/* The levels on the list of the array's pyramid that were made of it. */
std::vector<std::string> made_levels(const NodePtr &array, const Pyramid &pyramid);

/* zb_companions_may_move; nor may a node move away from hard links of HDF5. False after an error
   has been reported, as below. It calls the node `name`. */
bool may_be_renamed(const NodePtr &node, const std::string &to, const std::string &name);

/* Levels have the dimensions of their array, and are made of its rows and columns. */
bool may_rename_dimensions(const NodePtr &array);
bool may_be_resized(const NodePtr &array);

/* zb_companions_delete. */
enum zb_code remove_companions(const NodePtr &node, zb_error *err);

} // namespace zarr3

#endif
