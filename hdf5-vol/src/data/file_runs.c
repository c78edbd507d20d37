/* SPDX-License-Identifier: MIT */
/*
 * Irregular selections, from the file's side: HDF5 lists them as runs of the row-major extent.
 *
 * Writing takes them box by box. Reading has a price for each box and each point, so short runs
 * that lie close together are read with the elements between them, as one longer run, and picked
 * out of a work buffer afterwards. Runs that stay short are read as single points, the rest as
 * boxes.
 */
#include "data/interrupt.h"
#include "data/selection.h"

#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

#include <stdlib.h>
#include <string.h>

#define RUNS_PER_PIECE 16384
#define JOIN_BELOW 64 /* elements: joins runs that are shorter on average ... */
#define JOIN_GAP 64   /* ... over gaps up to this; both bound the work buffer */
#define SHORT_RUN 4   /* elements: runs that are shorter on average are read as points */

/* Runs of elements; `total` is the sum of the lengths. */
typedef struct vol_runs {
    size_t count, total;
    hsize_t offset[RUNS_PER_PIECE];
    size_t length[RUNS_PER_PIECE];
} vol_runs;

/* Joins neighbours of `runs` into longer runs that cover them. */
static void join_runs(const vol_runs *runs, vol_runs *cover) {
    cover->count = 0;
    cover->total = 0;
    for (size_t i = 0; i < runs->count; i++) {
        size_t last = cover->count - 1;
        hsize_t end = cover->count > 0 ? cover->offset[last] + cover->length[last] : 0;
        if (cover->count > 0 && runs->offset[i] >= end && runs->offset[i] - end <= JOIN_GAP) {
            size_t grown = (size_t)(runs->offset[i] - end) + runs->length[i];
            cover->length[last] += grown;
            cover->total += grown;
        } else {
            cover->offset[cover->count] = runs->offset[i];
            cover->length[cover->count++] = runs->length[i];
            cover->total += runs->length[i];
        }
    }
}

/* Copies the runs, packed, out of the elements of their cover. */
static void pick_runs(const vol_runs *runs, const vol_runs *cover, const char *covered, char *out,
                      size_t size) {
    size_t i = 0;
    for (size_t c = 0; c < cover->count; c++) {
        hsize_t end = cover->offset[c] + cover->length[c];
        for (hsize_t at = cover->offset[c]; at < end && i < runs->count; i++) {
            size_t bytes = runs->length[i] * size;
            memcpy(out, covered + (runs->offset[i] - cover->offset[c]) * size, bytes);
            out += bytes;
            at = runs->offset[i] + runs->length[i];
        }
        covered += cover->length[c] * size;
    }
}

/* ---- Points ---- */

static void position_of(const vol_selection *space, uint64_t offset, uint64_t position[]) {
    for (uint32_t d = space->ndim; d-- > 0;) {
        position[d] = offset % space->dims[d];
        offset /= space->dims[d];
    }
}

static enum zb_code read_points(const vol_walk *walk, const vol_runs *runs, void *out,
                                zb_dtype dtype, zb_error *err) {
    const uint32_t ndim = walk->file->ndim;
    uint64_t *coords = malloc(runs->total * ndim * sizeof *coords), *next = coords;
    if (!coords)
        return zb_fail(err, ZB_ENOMEM, "no memory for %zu points", runs->total);
    for (size_t i = 0; i < runs->count; i++)
        for (size_t k = 0; k < runs->length[i]; k++, next += ndim)
            position_of(walk->file, runs->offset[i] + k, next);
    const zb_points points = {.node = walk->array,
                              .coords = coords,
                              .count = runs->total,
                              .view = {.data = out, .dtype = dtype, .values = walk->values}};
    const enum zb_code code = zb_array_read_points(&points, err);
    free(coords);
    return code;
}

/* ---- Boxes ---- */

/* Start and count of box i lie at position[2*i*ndim] and position[(2*i+1)*ndim]. */
typedef struct box_list {
    size_t count, capacity;
    uint64_t *position;
} box_list;

static uint64_t *add_box(box_list *boxes, uint32_t ndim) {
    if (boxes->count == boxes->capacity) {
        size_t capacity = boxes->capacity ? 2 * boxes->capacity : 64;
        uint64_t *grown = realloc(boxes->position, 2 * capacity * ndim * sizeof *grown);
        if (!grown)
            return NULL;
        boxes->position = grown;
        boxes->capacity = capacity;
    }
    return &boxes->position[2 * boxes->count++ * ndim];
}

/* Cuts a run into boxes: the rest of the current row, whole rows, whole planes, and back. */
static bool add_run(box_list *boxes, const vol_selection *space, uint64_t offset, uint64_t length) {
    while (length > 0) {
        uint64_t *start = add_box(boxes, space->ndim);
        if (!start)
            return false;
        uint64_t *count = start + space->ndim, inside = 1;
        uint32_t d = space->ndim - 1;
        position_of(space, offset, start);
        while (d > 0 && start[d] == 0 && length >= inside * space->dims[d]) {
            count[d] = space->dims[d];
            inside *= space->dims[d--];
        }
        uint64_t left = space->dims[d] - start[d];
        count[d] = length / inside < left ? length / inside : left;
        for (uint32_t i = 0; i < d; i++)
            count[i] = 1;
        offset += count[d] * inside;
        length -= count[d] * inside;
    }
    return true;
}

static size_t box_bytes(const uint64_t *count, uint32_t ndim, zb_dtype dtype) {
    size_t bytes = dtype.size;
    for (uint32_t d = 0; d < ndim; d++)
        bytes *= count[d];
    return bytes;
}

/* The caller frees boxes->position, also after an error. */
static enum zb_code make_boxes(const vol_walk *walk, const vol_runs *runs, box_list *boxes,
                               zb_error *err) {
    bool made = true;
    *boxes = (box_list){.count = 0};
    for (size_t i = 0; i < runs->count && made; i++)
        made = add_run(boxes, walk->file, runs->offset[i], runs->length[i]);
    return made ? ZB_OK
                : zb_fail(err, ZB_ENOMEM, "no memory for a selection of %zu runs", runs->count);
}

/* Fills reads[] for all boxes, one after another in memory. */
static void fill_reads(const vol_walk *walk, const box_list *boxes, zb_read *reads, char *out,
                       zb_dtype dtype) {
    const uint32_t ndim = walk->file->ndim;
    for (size_t i = 0; i < boxes->count; i++) {
        const uint64_t *start = &boxes->position[2 * i * ndim], *count = start + ndim;
        reads[i] = (zb_read){.node = walk->array,
                             .start = start,
                             .count = count,
                             .view = {.data = out, .dtype = dtype, .values = walk->values}};
        out += box_bytes(count, ndim, dtype);
    }
}

static enum zb_code read_boxes(const vol_walk *walk, const vol_runs *runs, char *out,
                               zb_dtype dtype, zb_error *err) {
    box_list boxes;
    zb_read *reads = NULL;
    enum zb_code code = make_boxes(walk, runs, &boxes, err);
    if (!code && !(reads = calloc(boxes.count, sizeof *reads)))
        code = zb_fail(err, ZB_ENOMEM, "no memory for a selection of %zu runs", runs->count);
    if (!code) {
        fill_reads(walk, &boxes, reads, out, dtype);
        code = vol_array_read(reads, boxes.count, err);
    }
    free(reads);
    free(boxes.position);
    return code;
}

/* ---- A piece ---- */

static enum zb_code read_joined(const vol_walk *walk, const vol_runs *runs, const vol_runs *cover,
                                char *out, zb_dtype dtype, zb_error *err) {
    char *covered = malloc(cover->total * dtype.size);
    if (!covered)
        return zb_fail(err, ZB_ENOMEM, "no memory for %zu elements", cover->total);
    enum zb_code code = read_boxes(walk, cover, covered, dtype, err);
    if (!code)
        pick_runs(runs, cover, covered, out, dtype.size);
    free(covered);
    return code;
}

/* Whether all runs lie in the extent, and their lengths add up. */
static bool are_sound(const vol_runs *runs, const vol_selection *space, size_t most) {
    uint64_t extent = 1;
    size_t total = 0;
    for (uint32_t d = 0; d < space->ndim; d++)
        if (__builtin_mul_overflow(extent, space->dims[d], &extent))
            extent = UINT64_MAX;
    for (size_t i = 0; i < runs->count; i++) {
        if (runs->offset[i] >= extent || runs->length[i] > extent - runs->offset[i] ||
            runs->length[i] > most - total)
            return false;
        total += runs->length[i];
    }
    return total > 0 && total == runs->total;
}

enum zb_code vol_runs_next(vol_walk *walk, size_t most, size_t *got, zb_error *err) {
    if (!walk->runs && !(walk->runs = malloc(sizeof *walk->runs)))
        return zb_fail(err, ZB_ENOMEM, "no memory for a selection");
    vol_runs *runs = walk->runs;
    if (walk->lib->H5Ssel_iter_get_seq_list(walk->iterator, RUNS_PER_PIECE, most, &runs->count,
                                            &runs->total, runs->offset, runs->length) < 0 ||
        !are_sound(runs, walk->file, most))
        return zb_fail(err, ZB_EINVAL, "HDF5 could not list the elements of the selection");
    *got = runs->total;
    return ZB_OK;
}

enum zb_code vol_runs_read(vol_walk *walk, void *out, zb_dtype dtype, zb_error *err) {
    const vol_runs *runs = walk->runs;
    if (runs->total / runs->count >= JOIN_BELOW)
        return read_boxes(walk, runs, out, dtype, err);
    vol_runs *cover = malloc(sizeof *cover);
    if (!cover)
        return zb_fail(err, ZB_ENOMEM, "no memory for a selection");
    join_runs(runs, cover);
    enum zb_code code;
    if (runs->total < SHORT_RUN * cover->count)
        code = read_points(walk, runs, out, dtype, err);
    else if (cover->total == runs->total)
        code = read_boxes(walk, cover, out, dtype, err);
    else
        code = read_joined(walk, runs, cover, out, dtype, err);
    free(cover);
    return code;
}

/* Box after box: where two overlap, the later one stays, as in HDF5. */
enum zb_code vol_runs_write(vol_walk *walk, zb_writer *writer, const void *data, zb_dtype dtype,
                            zb_error *err) {
    const uint32_t ndim = walk->file->ndim;
    const char *from = data;
    box_list boxes;
    enum zb_code code = make_boxes(walk, walk->runs, &boxes, err);
    for (size_t i = 0; i < boxes.count && !code; i++) {
        const uint64_t *start = &boxes.position[2 * i * ndim], *count = start + ndim;
        const zb_write write = {.start = start, .count = count, .data = from, .dtype = dtype};
        code = zb_writer_write(writer, &write, err);
        from += box_bytes(count, ndim, dtype);
    }
    free(boxes.position);
    return code;
}

void vol_runs_place(const vol_walk *walk, size_t number, uint64_t place[ZB_MAX_NDIM]) {
    const vol_runs *runs = walk->runs;
    size_t i = 0;
    while (i + 1 < runs->count && number >= runs->length[i])
        number -= runs->length[i++];
    position_of(walk->file, runs->offset[i] + number, place);
}
