/* SPDX-License-Identifier: MIT */
/*
 * Where bands lie along the dimensions that are neither rows nor columns: the metadata items and
 * descriptions that tell it. Coordinate arrays are read for the answers, and each call reads them
 * anew.
 */
#ifndef ZARR3_BAND_PLACE_H
#define ZARR3_BAND_PLACE_H

#include <string>

#include "array/nearby_nodes.h"
#include "cpl_string.h"
#include "raster/layout.h"

namespace zarr3 {

/* DIM_<name>_INDEX, _VALUE, _UNIT and (for CF times) _TIME of one band; NETCDF_DIM_<name> as GDAL's
   netCDF driver has it, and DATE_TIME, by which terra knows times. */
CPLStringList band_position(const zb_node *array, const Layout &layout, int band,
                            NearbyNodes &around);

/* The band's description: its channel label in OME-NGFF, its place along the extra dimensions, or
   the array's long_name. */
std::string band_description(const zb_node *array, const Layout &layout, int band,
                             NearbyNodes &around);

/* NETCDF_DIM_EXTRA, NETCDF_DIM_<name>_DEF, NETCDF_DIM_<name>_VALUES and <name>#<attribute> of the
   whole raster, as GDAL's netCDF driver has them. */
CPLStringList dimension_items(const zb_node *array, const Layout &layout, NearbyNodes &around);

/* True if dimension_items() may have an item of this name. */
bool is_dimension_item(const char *name);

} // namespace zarr3

#endif
