/* SPDX-License-Identifier: MIT */
/*
 * What a level has of the array that it is made of: the form of its chunks, and its coordinates.
 *
 * A raster needs a regular grid, and coordinates are computed and rounded by so many programs that
 * none is regular to the last bit. The tolerance compares each value with its place on the straight
 * line from the first to the last one, not with its neighbour: a drift that would move the map
 * shows, a rounding that would not does not.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conventions/pyramids.h"

/* ---- Coordinates ---- */

/* A cell may lie off its place by 1 % of a cell, or by the rounding of its type. */
bool zb_coordinate_is_regular(const double *values, uint64_t count, zb_dtype dtype, double *first,
                              double *step) {
    if (count < 2)
        return false;
    *first = values[0];
    *step = (values[count - 1] - values[0]) / (double)(count - 1);
    const double largest = fmax(fabs(values[0]), fabs(values[count - 1]));
    const bool is_single = dtype.kind == ZB_KIND_FLOAT && dtype.size == 4;
    const double rounding = largest * (is_single ? FLT_EPSILON : DBL_EPSILON);
    const double tolerance = fmax(0.01 * fabs(*step), rounding);
    if (!(fabs(*step) > 2 * rounding) || !isfinite(*step))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        if (!(fabs(values[i] - (*first + *step * (double)i)) <= tolerance))
            return false;
    }
    return true;
}

void zb__level_coordinate(const double *values, uint64_t count, zb_dtype dtype, double *out,
                          uint64_t out_count) {
    double first, step;
    const bool is_regular = zb_coordinate_is_regular(values, count, dtype, &first, &step);
    const double ratio = (double)count / (double)out_count;
    for (uint64_t i = 0; i < out_count; i++) {
        const double middle = ((double)i + 0.5) * ratio;
        const uint64_t nearest = (uint64_t)middle < count ? (uint64_t)middle : count - 1;
        out[i] = is_regular ? first + (middle - 0.5) * step : values[nearest];
    }
}

/* ---- Chunks ---- */

static const char *name_of(const zb_json *codec) {
    const char *name = zb_json_string(codec);
    if (!name)
        name = zb_json_string(zb_json_get(codec, "name"));
    return name ? name : "";
}

/* In a shard that is given by its extents nothing but `bytes` may make bytes. */
char *zb__level_codecs(const zb_node *model) {
    const zb_json *list = zb_json_get(zb_node_document(model), "codecs");
    if (zb_node_array(model)->shard_depth == 0)
        return zb_json_print(list);
    const zb_json *shard = zb_json_first(list);
    if (!shard || zb_json_next(shard))
        return NULL;
    bool is_plain = false;
    zb_json_writer *w = zb_json_writer_new();
    zb_json_begin_array(w);
    list = zb_json_get(zb_json_get(shard, "configuration"), "codecs");
    for (const zb_json *codec = zb_json_first(list); codec; codec = zb_json_next(codec)) {
        if (strcmp(name_of(codec), "bytes") == 0)
            is_plain = true;
        else
            zb_json_write_value(w, codec);
    }
    zb_json_end_array(w);
    char *text = zb_json_writer_end(w, NULL);
    if (is_plain)
        return text;
    free(text);
    return NULL;
}

bool zb__level_extents(const zb_array_info *model, const uint64_t *shape, uint64_t *inner,
                       uint64_t *shard) {
    bool is_sharded = model->shard_depth == 1;
    for (uint32_t d = 0; d < model->ndim; d++) {
        inner[d] = model->inner_shape[d] < shape[d] ? model->inner_shape[d] : shape[d];
        is_sharded = is_sharded && model->chunk_shape[d] % inner[d] == 0;
    }
    for (uint32_t d = 0; d < model->ndim && is_sharded; d++) {
        const uint64_t needed = (shape[d] - 1) / inner[d] * inner[d] + inner[d];
        shard[d] = model->chunk_shape[d] < needed ? model->chunk_shape[d] : needed;
    }
    return is_sharded;
}
