/* SPDX-License-Identifier: MIT */
/* A level in the making: its nodes, without pixels. */
#ifndef ZB_PYRAMID_LEVEL_H
#define ZB_PYRAMID_LEVEL_H

#include "pyramid/raster.h"

typedef struct zb__level {
    uint64_t factor, width, height;
    bool is_made; /* by zb_pyramid_build or gdaladdo, now or before; else by another program */
    bool is_new;  /* nothing is in its place yet */
    char *target; /* the node whose place it takes: a group, or an array */
    char *aside;  /* the node where it is made; NULL when that is not ours to delete any more */
    char *array;  /* the array's path once it is in its place */
    zb_node *node, *mask; /* what is being written; mask: NULL for none */
} zb__level;

/* Makes the level's nodes at `aside`. Change errors. */
enum zb_code zb__level_create(const zb__raster *raster, zb__level *level, zb_error *err);

/* The transform of the raster's place with the columns and rows of a level. */
void zb__level_transform(const zb__raster *raster, const zb__level *level, double out[6]);

#endif
