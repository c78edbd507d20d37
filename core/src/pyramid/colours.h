/* SPDX-License-Identifier: MIT */
/* What the bands of a raster are: how many, whether they share chunks, and which are no colours. */
#ifndef ZB_PYRAMID_COLOURS_H
#define ZB_PYRAMID_COLOURS_H

#include "pyramid/raster.h"
#include "pyramid/resample.h"

uint64_t zb__band_count(const zb__raster *raster);

/* True if an inner chunk holds several bands; all: if each has all of them. */
bool zb__bands_share_chunks(const zb__raster *raster, bool all);

/* *has_alpha: the last band tells which pixels of the others are valid. ZB_EUNSUPPORTED for pixels
   that the library does not resample as GDAL does: indices of colours, an alpha band apart. */
enum zb_code zb__check_colours(const zb__raster *raster, const zb__values_plan *values,
                               bool *has_alpha, zb_error *err);

#endif
