/* SPDX-License-Identifier: MIT */
/* The dimensions of an array that are the raster's columns and rows. */
#ifndef ZARR3_AXES_H
#define ZARR3_AXES_H

#include <string>

#include "array/nearby_nodes.h"
#include "array/pyramid.h"

namespace zarr3 {

struct Axes {
    int x = -1; /* dimension numbers; x is -1 for scalars, y for those and for 1-D arrays */
    int y = -1;
};

/* Chooses the axes by, in order: the options DIM_X and DIM_Y (a name or a number), the spatial:
   convention (the array, its parent group, the group of its pyramid), the axes of an OME-NGFF
   image, dimension names, the CF attributes of coordinate arrays, band-last shapes; else the last
   two. False, with *reason set, when an option names no dimension. */
bool choose_axes(const zb_node *array, NearbyNodes &around, const Pyramid &pyramid,
                 const char *dim_x, const char *dim_y, Axes *axes, std::string *reason);

/* The dimensions of an array that a node's `spatial:dimensions` names: those of rows and columns.
   Both -1 when the node has no such list, or the array no such dimensions. */
Axes listed_axes(const zb_array_info *info, const zb_node *node);

/* Names by which columns and rows are known without a word. */
bool is_x_name(const std::string &name);
bool is_y_name(const std::string &name);

/* 'X' or 'Y' for a coordinate array that lies along columns or rows by its CF attributes, failing
   these, with `by_name`, by its name; else 0. */
char horizontal_axis(const zb_node *coordinate, bool by_name);

} // namespace zarr3

#endif
