/* SPDX-License-Identifier: MIT */
/* CF's grid mapping: the variable that carries the CRS of arrays, and may carry their place. */
#ifndef ZARR3_FIND_GRID_MAPPING_H
#define ZARR3_FIND_GRID_MAPPING_H

#include "array/nearby_nodes.h"

namespace zarr3 {

/* The variable that holds an array's CF grid mapping: the one that its attribute `grid_mapping`
   names, else, unless ZB_GDAL_HAS_CRS is false, one called spatial_ref or crs that carries a
   definition. Null when there is none. */
NodePtr find_grid_mapping(const zb_node *array, NearbyNodes &around);

/* The one that arrays get which name none. */
NodePtr find_usual_grid_mapping(NearbyNodes &around);

/* A scalar that carries the definition of a CRS, as CF has it. */
bool is_grid_mapping(const zb_node *node);

/* True if there is an array of such a name, with a definition or without. */
bool has_usual_grid_mapping(NearbyNodes &around);

} // namespace zarr3

#endif
