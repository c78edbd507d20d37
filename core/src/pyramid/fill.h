/* SPDX-License-Identifier: MIT */
/* The pixels of a level. */
#ifndef ZB_PYRAMID_FILL_H
#define ZB_PYRAMID_FILL_H

#include "pyramid/level.h"
#include "pyramid/resample.h"

/* Told of pixels of levels that have been made. An error of it ends the work. */
typedef struct zb__fill_progress {
    enum zb_code (*tell)(void *context, uint64_t pixels, zb_error *err);
    void *context;
} zb__fill_progress;

/* How a level is filled. */
typedef struct zb__fill {
    const zb_node *source; /* the raster, or a finer level */
    const zb_node *mask;   /* of the source, or NULL: pixels of all bands that are not valid */
    const zb_node *target;
    uint32_t x, y;  /* dimensions, of source and target alike */
    bool has_alpha; /* the last band is the mask; all bands are in each chunk */
    const zb__values_plan *values;
    const zb_write_options *write;
    zb__fill_progress progress;
} zb__fill;

/* Read errors, write errors, ZB_ENOMEM, and what progress gives. */
enum zb_code zb__fill_level(const zb__fill *fill, zb_error *err);

/* Likewise the mask of a level, from one of a finer level or of the raster: valid is what has any
   valid pixel, or (nearest) where the pixel taken is valid. Only source, target and write count. */
enum zb_code zb__fill_mask(const zb__fill *fill, enum zb_resample method, zb_error *err);

#endif
