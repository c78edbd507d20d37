/* SPDX-License-Identifier: MIT */
/* Who says the CRS of a raster: the sources, in their order (docs/gdal.md, "Georeferencing"). */
#ifndef ZARR3_CRS_SOURCES_H
#define ZARR3_CRS_SOURCES_H

#include <string>
#include <vector>

#include "array/nearby_nodes.h"
#include "array/pyramid.h"
#include "ogr_spatialref.h"
#include "raster/axes.h"

namespace zarr3 {

/* The raster that the CRS is looked for. */
struct CrsQuestion {
    const zb_node *array;
    const Axes &axes;
    const Pyramid &pyramid;
    NearbyNodes &around;
};

struct CrsSource {
    const char *name;  /* in messages for CPL_DEBUG */
    bool is_of_others; /* it says something of maps, not of an array of fewer than two dimensions */
    /* False where it says nothing that GDAL can import; then *why may tell what was there. */
    bool (*find)(const CrsQuestion &question, OGRSpatialReference *srs, std::string *why);
};

/* The first one that knows the CRS says it. */
const std::vector<CrsSource> &crs_sources();

/* Reads a definition in any textual form, without access to files and servers. */
bool import_crs(const std::string &text, OGRSpatialReference *srs);

} // namespace zarr3

#endif
