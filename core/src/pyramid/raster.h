/* SPDX-License-Identifier: MIT */
/* The array of which levels are made: how it is a raster, and where it lies on the map. */
#ifndef ZB_PYRAMID_RASTER_H
#define ZB_PYRAMID_RASTER_H

#include "conventions/pyramids.h"
#include "zarrbridge/gdal_extension.h"
#include "zarrbridge/pyramid.h"

typedef struct zb__raster {
    zb_node *array;          /* as the store has it now */
    zb_hierarchy *hierarchy; /* not owned */
    zb__opened opened;
    zb_nodes nodes; /* by `opened` */
    zb_pyramid pyramid;
    zb_level_places places;
    uint32_t x, y; /* dimensions */
    uint64_t width, height;
    zb_gdal_extension *gdal;      /* of the array; NULL: none */
    const zb_node *mask;          /* its mask, or NULL */
    const zb_node *mapping;       /* its grid mapping, or NULL */
    const zb_node *coordinate[2]; /* of columns and rows, or NULL */
    bool has_transform;
    double transform[6]; /* of pixels' corners, in the order of `spatial:transform` */
    bool is_left_behind; /* its spatial: attributes are not true of it */
} zb__raster;

/* ZB_EINVAL for what is no raster; document and read errors. */
enum zb_code zb__raster_open(const zb_node *array, zb__raster *out, zb_error *err);
/* Finds its axes, and what is beside it: all that follows `places`. The caller's axes and transform
   (NULL: none) count more than what the store says. Store errors. */
enum zb_code zb__raster_place(zb__raster *raster, const zb_axes *axes, const double *transform,
                              zb_error *err);
void zb__raster_clear(zb__raster *raster);

/* Values of a coordinate as numbers; ZB_EUNSUPPORTED for those that are none. malloc'ed. */
enum zb_code zb__coordinate_values(const zb_node *coordinate, double **out, zb_error *err);

#endif
