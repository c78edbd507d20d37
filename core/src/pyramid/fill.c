/* SPDX-License-Identifier: MIT */
/*
 * A level is filled tile by tile: a tile is a box of whole chunks of the level, in one of its
 * shards, and the windows that it covers in the source. Each is read as one plan, resampled and
 * written; all three steps use the threads of the pool. So a shard is encoded when its last tile is
 * written, and the memory depends on chunks, not on the raster.
 */
#include "pyramid/fill.h"

#include <stdlib.h>
#include <string.h>

#include "conventions/pyramids.h"
#include "util/checked.h"
#include "util/pool.h"

/* Source pixels of a tile, with their marks: what fits is read at once. Bytes. */
#define TILE_BYTES (UINT64_C(64) << 20)

/* Rows of a tile that one task resamples at least have so many pixels in the source. */
#define TASK_PIXELS 262144

/* A box of the level that is resampled at once, and its source. */
typedef struct tile {
    uint64_t start[ZB_MAX_NDIM], count[ZB_MAX_NDIM]; /* in the level */
    uint64_t from[ZB_MAX_NDIM], size[ZB_MAX_NDIM];   /* in the source */
    uint64_t planes;                                 /* combinations of the other dimensions */
} tile;

typedef struct filler {
    const zb__fill *fill;
    enum zb_resample method;
    const zb_array_info *source, *target;
    uint32_t x, y;
    zb__window *rows, *columns; /* of a tile, in the source; then in the tile's part of it */
    void *pixels, *made;
    unsigned char *valid, *mask;
    uint64_t room[4]; /* bytes that pixels, made, valid and mask have */
    zb_writer *writer;
    tile at;
    zb__tile shape; /* of the tile's planes */
} filler;

/* ---- Boxes ---- */

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Pixels [first, end) of the source that pixels [start, start + count) stand for. */
static void source_range(uint64_t start, uint64_t count, uint64_t source, uint64_t target,
                         enum zb_resample method, uint64_t *first, uint64_t *end) {
    *first = zb__window_of(start, source, target, method).first;
    *end = zb__window_of(start + count - 1, source, target, method).end;
}

static uint64_t source_pixels(const filler *f, uint64_t planes, uint64_t width, uint64_t height) {
    const double across = (double)f->source->shape[f->x] / (double)f->target->shape[f->x];
    const double down = (double)f->source->shape[f->y] / (double)f->target->shape[f->y];
    const double pixels =
        (double)planes * ((double)width * across + 2) * ((double)height * down + 2);
    return pixels < 9e18 ? (uint64_t)pixels : UINT64_MAX;
}

/* The extents of tiles along columns and rows: whole chunks, as many as fit, first along columns;
   parts of one chunk where that is too much. */
static void choose_tile(const filler *f, uint64_t planes, uint64_t *width, uint64_t *height) {
    const uint64_t per_pixel = f->fill->values ? f->fill->values->read.size + 2 : 3;
    const uint64_t most = TILE_BYTES / per_pixel;
    const bool is_sharded = f->target->shard_depth > 0;
    const uint64_t *inner = f->target->inner_shape, *shape = f->target->shape;
    const uint64_t *cell = is_sharded ? f->target->chunk_shape : shape;
    uint64_t *const extents[] = {width, height};
    const uint32_t dims[] = {f->x, f->y};
    *width = smaller(inner[f->x], shape[f->x]);
    *height = smaller(inner[f->y], shape[f->y]);
    while (source_pixels(f, planes, *width, *height) > most && (*width > 1 || *height > 1)) {
        uint64_t *longer = *width > *height ? width : height;
        *longer = (*longer + 1) / 2;
    }
    for (int i = 0; i < 2; i++) {
        const uint64_t end = smaller(cell[dims[i]], shape[dims[i]]);
        uint64_t next = *extents[i] * 2;
        while (*extents[i] < end) {
            const uint64_t tried = smaller(next, end);
            if (source_pixels(f, planes, i == 0 ? tried : *width, i == 0 ? *height : tried) > most)
                break;
            *extents[i] = tried;
            next = tried * 2;
        }
    }
}

static enum zb_code reserve(void *pointer, uint64_t *room, uint64_t bytes, zb_error *err) {
    void **at = pointer;
    if (bytes <= *room)
        return ZB_OK;
    free(*at);
    *at = bytes <= SIZE_MAX ? malloc((size_t)bytes) : NULL;
    *room = *at ? bytes : 0;
    return *at ? ZB_OK : zb__no_memory(err);
}

/* Buffers for the tile. */
static enum zb_code make_room(filler *f, bool has_marks, bool has_mask, zb_error *err) {
    uint64_t source, target, bytes;
    const zb__values_plan *values = f->fill->values;
    const uint64_t read = values ? values->read.size : 1,
                   written = values ? values->written.size : 1;
    if (!zb__product_u64(f->at.size, f->source->ndim, 1, &source) ||
        !zb__product_u64(f->at.count, f->target->ndim, 1, &target) ||
        !zb__mul_u64(source, read, &bytes))
        return zb__no_memory(err);
    enum zb_code code = reserve(&f->pixels, &f->room[0], bytes, err);
    if (!code)
        code = zb__mul_u64(target, written, &bytes) ? reserve(&f->made, &f->room[1], bytes, err)
                                                    : zb__no_memory(err);
    if (!code && has_marks)
        code = reserve(&f->valid, &f->room[2], source, err);
    if (!code && has_mask)
        code = reserve(&f->mask, &f->room[3], f->at.size[f->x] * f->at.size[f->y], err);
    return code;
}

/* Strides of planes that follow each other, each of rows without gaps. */
static void plane_strides(const filler *f, const uint64_t *count, uint64_t size, int64_t *strides) {
    int64_t stride = (int64_t)(size * count[f->x] * count[f->y]);
    for (uint32_t d = f->source->ndim; d-- > 0;) {
        if (d == f->x || d == f->y)
            continue;
        strides[d] = stride;
        stride *= (int64_t)count[d];
    }
    strides[f->x] = (int64_t)size;
    strides[f->y] = (int64_t)(size * count[f->x]);
}

/* ---- A tile ---- */

static enum zb_code read_box(const filler *f, zb_dtype dtype, zb_error *err) {
    int64_t strides[ZB_MAX_NDIM];
    plane_strides(f, f->at.size, dtype.size, strides);
    const zb_read read = {.node = f->fill->source,
                          .start = f->at.from,
                          .count = f->at.size,
                          .view = {.data = f->pixels, .dtype = dtype, .strides = strides}};
    return zb_array_read(&read, 1, err);
}

static enum zb_code read_mask(const filler *f, zb_error *err) {
    const uint64_t start[] = {f->at.from[f->y], f->at.from[f->x]};
    const uint64_t count[] = {f->at.size[f->y], f->at.size[f->x]};
    const zb_read read = {.node = f->fill->mask,
                          .start = start,
                          .count = count,
                          .view = {.data = f->mask, .dtype = {.kind = ZB_KIND_UINT, .size = 1}}};
    return zb_array_read(&read, 1, err);
}

static enum zb_code write_box(const filler *f, zb_dtype dtype, zb_error *err) {
    int64_t strides[ZB_MAX_NDIM];
    plane_strides(f, f->at.count, dtype.size, strides);
    const zb_write write = {.start = f->at.start,
                            .count = f->at.count,
                            .data = f->made,
                            .dtype = dtype,
                            .strides = strides};
    return zb_writer_write(f->writer, &write, err);
}

/* Work of all threads on the planes of a tile: parts of them in order. */
typedef struct parts {
    const filler *f;
    uint64_t rows; /* of a part */
    uint64_t per_plane;
    bool marks; /* elements are marked, and have no other mask */
} parts;

static enum zb_code prepare_part(void *context, size_t i, zb__scratch *scratch, zb_error *err) {
    const parts *p = context;
    const filler *f = p->f;
    (void)scratch, (void)err;
    const uint64_t width = f->at.size[f->x], height = f->at.size[f->y];
    const uint64_t from = i % p->per_plane * p->rows;
    const uint64_t rows = smaller(p->rows, height - from);
    const uint64_t first = (i / p->per_plane * height + from) * width;
    zb__prepare(f->fill->values, (char *)f->pixels + first * f->fill->values->read.size,
                p->marks ? f->valid + first : NULL, (size_t)(rows * width));
    return ZB_OK;
}

static enum zb_code resample_part(void *context, size_t i, zb__scratch *scratch, zb_error *err) {
    const parts *p = context;
    const filler *f = p->f;
    const zb__values_plan *values = f->fill->values;
    const uint64_t number = i / p->per_plane, from = i % p->per_plane * p->rows;
    const uint64_t to = smaller(from + p->rows, f->shape.height);
    const uint64_t source = f->at.size[f->x] * f->at.size[f->y];
    const uint64_t target = f->shape.width * f->shape.height;
    const zb__plane plane = {
        .source = (char *)f->pixels + number * source * (values ? values->read.size : 1),
        .valid = f->fill->mask || f->fill->has_alpha ? f->mask
                 : p->marks                          ? f->valid + number * source
                                                     : NULL,
        .target = (char *)f->made + number * target * (values ? values->written.size : 1)};
    if (values)
        return zb__resample(values, &f->shape, &plane, from, to, scratch, err);
    zb__resample_mask(&f->shape, &plane, from, to);
    return ZB_OK;
}

/* Rows of `height` in parts that are worth a task, for each plane. */
static parts parts_of(const filler *f, uint64_t height, bool marks) {
    const uint64_t source_rows = f->at.size[f->y], width = f->at.size[f->x];
    uint64_t rows = TASK_PIXELS / (width * ((source_rows + height - 1) / height)) + 1;
    rows = smaller(rows, height);
    return (parts){.f = f, .rows = rows, .per_plane = (height + rows - 1) / rows, .marks = marks};
}

static enum zb_code prepare(const filler *f, bool marks, zb_error *err) {
    const zb__values_plan *values = f->fill->values;
    const bool is_wide = values->method == ZB_RESAMPLE_AVERAGE &&
                         values->read.kind != ZB_KIND_FLOAT && values->work == ZB__WORK_F64;
    if (!marks && !is_wide)
        return ZB_OK;
    parts p = parts_of(f, f->at.size[f->y], marks);
    return zb__pool_run(prepare_part, &p, (size_t)(p.per_plane * f->at.planes), 0, err);
}

/* The alpha band is a plane of the tile: valid is what is not transparent. */
static void take_alpha(const filler *f) {
    const uint64_t count = f->at.size[f->x] * f->at.size[f->y];
    const size_t size = f->fill->values->read.size;
    const unsigned char *plane =
        (const unsigned char *)f->pixels + (f->at.planes - 1) * count * size;
    for (uint64_t i = 0; i < count; i++)
        f->mask[i] = plane[i * size] != 0 || (size > 1 && plane[i * size + 1] != 0);
}

static void place_windows(filler *f) {
    const uint32_t dims[] = {f->x, f->y};
    zb__window *const windows[] = {f->columns, f->rows};
    for (int i = 0; i < 2; i++) {
        const uint32_t d = dims[i];
        uint64_t end;
        source_range(f->at.start[d], f->at.count[d], f->source->shape[d], f->target->shape[d],
                     f->method, &f->at.from[d], &end);
        f->at.size[d] = end - f->at.from[d];
        for (uint64_t j = 0; j < f->at.count[d]; j++) {
            windows[i][j] = zb__window_of(f->at.start[d] + j, f->source->shape[d],
                                          f->target->shape[d], f->method);
            windows[i][j].first -= f->at.from[d];
            windows[i][j].end -= f->at.from[d];
        }
    }
    f->shape = (zb__tile){.rows = f->rows,
                          .columns = f->columns,
                          .height = f->at.count[f->y],
                          .width = f->at.count[f->x],
                          .source_width = f->at.size[f->x],
                          .is_half = f->source->shape[f->x] == 2 * f->target->shape[f->x],
                          .first_column = f->at.start[f->x],
                          .level_width = f->target->shape[f->x]};
}

static enum zb_code do_tile(filler *f, zb_error *err) {
    const zb__fill *fill = f->fill;
    const zb_dtype byte = {.kind = ZB_KIND_UINT, .size = 1};
    const bool has_mask = (fill->mask || fill->has_alpha) && f->method != ZB_RESAMPLE_NEAREST;
    const bool marks = fill->values && fill->values->has_nodata && !has_mask;
    place_windows(f);
    enum zb_code code = make_room(f, marks, has_mask, err);
    if (!code)
        code = read_box(f, fill->values ? fill->values->read : byte, err);
    if (!code && has_mask && fill->mask)
        code = read_mask(f, err);
    else if (!code && has_mask)
        take_alpha(f);
    if (!code && fill->values)
        code = prepare(f, marks, err);
    if (!code) {
        parts p = parts_of(f, f->shape.height, marks);
        code = zb__pool_run(resample_part, &p, (size_t)(p.per_plane * f->at.planes), 0, err);
    }
    if (!code)
        code = write_box(f, fill->values ? fill->values->written : byte, err);
    if (!code && fill->progress.tell)
        code = fill->progress.tell(fill->progress.context,
                                   f->at.planes * f->shape.width * f->shape.height, err);
    return code;
}

/* ---- All tiles ---- */

/* The extents of cells that are done one after the other along all dimensions: shards, or (without)
   the whole of columns and rows; along the others, inner chunks. */
static enum zb_code do_cell(filler *f, const uint64_t *cell, const uint64_t *size,
                            uint64_t tile_width, uint64_t tile_height, zb_error *err) {
    for (uint64_t y = 0; y < size[f->y]; y += tile_height) {
        for (uint64_t x = 0; x < size[f->x]; x += tile_width) {
            memcpy(f->at.start, cell, sizeof f->at.start);
            memcpy(f->at.count, size, sizeof f->at.count);
            f->at.start[f->y] += y;
            f->at.start[f->x] += x;
            f->at.count[f->y] = smaller(tile_height, size[f->y] - y);
            f->at.count[f->x] = smaller(tile_width, size[f->x] - x);
            memcpy(f->at.from, f->at.start, sizeof f->at.from);
            memcpy(f->at.size, f->at.count, sizeof f->at.size);
            enum zb_code code = do_tile(f, err);
            if (code)
                return code;
        }
    }
    return ZB_OK;
}

static bool next_cell(const filler *f, const uint64_t *extent, uint64_t *cell) {
    for (uint32_t d = f->target->ndim; d-- > 0;) {
        cell[d] += extent[d];
        if (cell[d] < f->target->shape[d])
            return true;
        cell[d] = 0;
    }
    return false;
}

static enum zb_code do_all(filler *f, zb_error *err) {
    const zb_array_info *info = f->target;
    uint64_t extent[ZB_MAX_NDIM], cell[ZB_MAX_NDIM] = {0}, size[ZB_MAX_NDIM];
    uint64_t width, height;
    f->at.planes = 1;
    for (uint32_t d = 0; d < info->ndim; d++) {
        const bool is_plane = d == f->x || d == f->y;
        extent[d] = !is_plane               ? info->inner_shape[d]
                    : info->shard_depth > 0 ? info->chunk_shape[d]
                                            : info->shape[d];
        extent[d] = smaller(extent[d], info->shape[d]);
        if (!is_plane)
            f->at.planes *= extent[d];
    }
    choose_tile(f, f->at.planes, &width, &height);
    f->columns = calloc(width, sizeof *f->columns);
    f->rows = calloc(height, sizeof *f->rows);
    enum zb_code code = f->columns && f->rows ? ZB_OK : zb__no_memory(err);
    do {
        f->at.planes = 1;
        for (uint32_t d = 0; d < info->ndim; d++) {
            size[d] = smaller(extent[d], info->shape[d] - cell[d]);
            if (d != f->x && d != f->y)
                f->at.planes *= size[d];
        }
        if (!code)
            code = do_cell(f, cell, size, width, height, err);
    } while (!code && next_cell(f, extent, cell));
    return code;
}

static enum zb_code run(filler *f, zb_error *err) {
    enum zb_code code = zb_writer_open(f->fill->target, f->fill->write, &f->writer, err);
    if (code)
        return code;
    code = do_all(f, err);
    if (code)
        zb_writer_abandon(f->writer);
    else
        code = zb_writer_close(f->writer, err);
    free(f->pixels);
    free(f->made);
    free(f->valid);
    free(f->mask);
    free(f->rows);
    free(f->columns);
    return code;
}

enum zb_code zb__fill_level(const zb__fill *fill, zb_error *err) {
    filler f = {.fill = fill,
                .method = fill->values->method,
                .source = zb_node_array(fill->source),
                .target = zb_node_array(fill->target),
                .x = fill->x,
                .y = fill->y};
    return run(&f, err);
}

enum zb_code zb__fill_mask(const zb__fill *fill, enum zb_resample method, zb_error *err) {
    zb__fill own = {
        .source = fill->source, .target = fill->target, .x = 1, .y = 0, .write = fill->write};
    filler f = {.fill = &own,
                .method = method,
                .source = zb_node_array(fill->source),
                .target = zb_node_array(fill->target),
                .x = 1,
                .y = 0};
    return run(&f, err);
}
