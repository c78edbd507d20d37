/* SPDX-License-Identifier: MIT */
/*
 * Resampling of planes of pixels to coarser ones. A pixel of the level stands for a window of the
 * source, whose edges need not be at pixels: with 101 columns made of 51, each stands for 1.98. The
 * arithmetic is that of GDAL's overviews, to the last bit: types that are summed up, the order of
 * sums, and what is rounded.
 */
#ifndef ZB_PYRAMID_RESAMPLE_H
#define ZB_PYRAMID_RESAMPLE_H

#include "util/scratch.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/pyramid.h"

/* A window along one dimension: source pixels [first, end), and the shares of the first and the
   last one. Those between count whole. */
typedef struct zb__window {
    uint64_t first, end;
    double first_share, last_share;
} zb__window;

/* The window of pixel i, of `count` made of `source` pixels. By ZB_RESAMPLE_NEAREST it is one
   pixel. */
zb__window zb__window_of(uint64_t i, uint64_t source, uint64_t count, enum zb_resample method);

/* The type in which pixels are resampled. */
enum zb__work {
    ZB__WORK_BYTES, /* elements as they are: nearest, mode */
    ZB__WORK_U8,
    ZB__WORK_U16,
    ZB__WORK_F32,
    ZB__WORK_F64
};

/* Bytes of the largest element whose value counts: a complex number. */
#define ZB__VALUE_SIZE 16

/* How the values of an array are resampled. */
typedef struct zb__values_plan {
    enum zb_resample method;
    enum zb__work work;
    zb_dtype stored;  /* of the array */
    zb_dtype read;    /* elements are read as */
    zb_dtype written; /* and written as */
    bool has_nodata;
    unsigned char nodata[ZB__VALUE_SIZE]; /* an element of `stored` */
    double nodata_number;                 /* the same; averages alone */
    double replacement; /* of an average of valid pixels that happens to be nodata */
} zb__values_plan;

/* ZB_EUNSUPPORTED for elements that the method does not take. */
enum zb_code zb__plan_values(const zb_node *array, enum zb_resample method, zb__values_plan *out,
                             zb_error *err);

/* One plane: source rows and columns from (row, column) on, without gaps between pixels. */
typedef struct zb__plane {
    const void *source;
    const unsigned char *valid; /* a byte for each pixel, 0: not valid; NULL: all are */
    void *target;               /* its rows and columns, likewise */
} zb__plane;

typedef struct zb__tile {
    const zb__window *rows, *columns; /* of the target's pixels, in source pixels of the tile */
    uint64_t height, width;           /* of the target */
    uint64_t source_width;
    bool is_half;          /* columns of the level are pairs of columns of the source */
    uint64_t first_column; /* of the target, in the level */
    uint64_t level_width;
} zb__tile;

/* Resamples rows [from, to) of the target. ZB_ENOMEM. */
enum zb_code zb__resample(const zb__values_plan *plan, const zb__tile *tile, const zb__plane *plane,
                          uint64_t from, uint64_t to, zb__scratch *scratch, zb_error *err);

/* Makes elements that were read ones of the work type, in place, and marks valid ones (NULL: not
   wanted): those that are not nodata. */
void zb__prepare(const zb__values_plan *plan, void *pixels, unsigned char *valid, size_t count);

/* True if any pixel of each window is valid: the levels of masks. */
void zb__resample_mask(const zb__tile *tile, const zb__plane *plane, uint64_t from, uint64_t to);

#endif
