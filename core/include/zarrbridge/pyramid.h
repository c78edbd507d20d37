/* SPDX-License-Identifier: MIT */
/*
 * Making the levels of a pyramid, as gdaladdo makes them through the GDAL driver: the same names
 * and shapes, the same list on the group (multiscales.h), and the same pixels. GDAL shows them as
 * overviews; HDF5 programs see groups with an array of the raster's name.
 *
 *     static const uint64_t factors[] = {2, 4, 8};
 *     zb_pyramid_options options = {.factors = factors, .factor_count = 3,
 *                                   .method = ZB_RESAMPLE_AVERAGE};
 *     if (zb_pyramid_build(node, &options, &err))
 *         die(err.message);
 *
 * docs/conventions.md, "Pyramids", tells what is made of nodata, masks and attributes.
 */
#ifndef ZARRBRIDGE_PYRAMID_H
#define ZARRBRIDGE_PYRAMID_H

#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

#ifdef __cplusplus
extern "C" {
#endif

enum zb_resample {
    ZB_RESAMPLE_NEAREST, /* the pixel nearest to the window's corner; elements of any fixed size */
    ZB_RESAMPLE_AVERAGE, /* of the valid pixels, those on the edge of a window by their shares;
                            integers, floats and bool */
    ZB_RESAMPLE_MODE     /* the most frequent valid pixel, the first of several; numbers */
};

/* The method of that name, as gdaladdo spells it, in any case of letters. ZB_EUNSUPPORTED for those
   that gdaladdo has and this library has not (bilinear, cubic, lanczos ...), with a message that
   says so; ZB_EINVAL for others. */
ZB_API enum zb_code zb_resample_from_name(const char *name, enum zb_resample *out, zb_error *err);
/* "nearest" ...; static. */
ZB_API const char *zb_resample_name(enum zb_resample method);

struct zb_axes; /* multiscales.h */

/* A level whose nodes are there, beside its place, without pixels; borrowed. */
typedef struct zb_pyramid_level {
    uint64_t factor;
    zb_node *array, *mask; /* mask: NULL for none */
    bool is_made; /* in the raster's form; else in that of the other program that has made it */
} zb_pyramid_level;

/* Writes the pixels of levels, finest first, and those of their masks, and may change attributes.
   Its error ends the work. Called once, by the calling thread, without a lock. */
typedef enum zb_code (*zb_pyramid_fill_fn)(void *context, const zb_pyramid_level *levels,
                                           size_t count, zb_error *err);

typedef struct zb_pyramid_options {
    const uint64_t *factors; /* each at least 2: columns and rows of the raster for one of the level
                                (a rest makes one more), in any order */
    size_t factor_count;     /* 0: 2, 4, 8 ... until columns and rows are at most `smallest` */
    uint64_t smallest;       /* 0: 256, as in gdaladdo */
    enum zb_resample method;
    zb_write_options write;  /* of the levels' pixels */
    zb_progress_fn progress; /* NULL for none. Called by the calling thread, without a lock; where
                                 it gives anything but 0 the work ends with ZB_ECANCELLED */
    void *context;           /* of both functions */

    /* For programs that resample themselves, as GDAL does. */
    zb_pyramid_fill_fn fill; /* NULL: the library resamples by `method`. Else `method`, `write` and
                                `progress` mean nothing, and elements are of any type */
    const uint64_t *sizes;   /* [2 * factor_count], columns and rows of the level of each factor, as
                                other programs round them; NULL: rounded up */
    const char *method_name; /* of `fill`, for the list; "": what the list says so far */
    const struct zb_axes *axes; /* columns and rows; NULL: those of zb_axes_find */
    const double *transform; /* of the raster, six numbers as in `spatial:transform`; NULL: what the
                                store says */
} zb_pyramid_options;

/* Makes levels of an array of two dimensions or more; options may be NULL (nearest, factors as of
   0). A level of that size is made anew, in its own chunks where another program has made it; other
   levels stay. Columns and rows are found by zb_axes_find; each combination of indices along the
   other dimensions is a band.

   Levels are made beside their places, in chunks and shards of the raster's form, and move there
   when all are whole; the list of the group is changed last. After an error, or a cancelled call,
   the levels of before are there, but while the first of several moves may already have taken
   place; what has not been put on the list is removed. A process that is killed leaves at the worst
   groups with names that end in ".zarr3-new", which zb_pyramid_remove deletes, or for a moment none
   of an old level.

   Reads, resampling and encoding run on the library's threads. About 64 MiB of pixels are in memory
   at once, or those that one pixel is made of, in all bands of a chunk (of more than 64 million, or
   16 million of a band, none is made: ZB_EUNSUPPORTED), besides the budget of writers (zb_writer).
   A function set by zb_thread_may_stop is asked between parts of the work, too, and ends it
   likewise.

   ZB_EINVAL for a group, fewer than two dimensions, an empty array and factors below 2;
   ZB_EUNSUPPORTED for a store or node that cannot be changed, for elements that the method does not
   take, and where GDAL knows more than this library, so that the message names gdaladdo (averages
   of complex numbers, of indices of a colour table, with an alpha band in other chunks);
   ZB_ECONFLICT where the group has no place for the list, the array is a coarser level itself, or
   the names of levels are taken; read, write and change errors. Any thread. */
ZB_API enum zb_code zb_pyramid_build(const zb_node *array, const zb_pyramid_options *options,
                                     zb_error *err);

/* Removes the levels that were made of an array, and what killed processes have left of some, as
   `gdaladdo -clean` does. ZB_EUNSUPPORTED, with nothing changed, where a level was made by another
   program as data of its own. *removed (may be NULL): how many levels were on the list. Change
   errors. */
ZB_API enum zb_code zb_pyramid_remove(const zb_node *array, size_t *removed, zb_error *err);

#ifdef __cplusplus
}
#endif
#endif
