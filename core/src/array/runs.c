/* SPDX-License-Identifier: MIT */
/* The cells of one dimension of a grid in which they have several extents, as runs of equal cells.
   */
#include "array/grid.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/list.h"

void zb__runs_free(zb__runs *runs) {
    free(runs->run);
    *runs = (zb__runs){.count = 0};
}

static enum zb_code too_far(zb_error *err) {
    return zb_fail(err, ZB_ELIMIT, "the extents of the chunks sum up to 2^63 or more");
}

/* The end is an entry of the list, so that each run's number of cells is a difference. */
enum zb_code zb__runs_add(zb__runs *runs, uint64_t extent, uint64_t count, zb_error *err) {
    uint64_t elements, end;
    uint64_t cells = zb__runs_cells(runs), start = zb__runs_end(runs);
    if (__builtin_mul_overflow(extent, count, &elements) ||
        __builtin_add_overflow(start, elements, &end) || end > INT64_MAX)
        return too_far(err);
    bool joins = runs->count && runs->run[runs->count - 1].extent == extent;
    if (!joins) {
        if (!zb__list_grow(&runs->run, runs->count + 1, &runs->capacity, sizeof *runs->run))
            return zb_fail(err, ZB_ENOMEM, "out of memory for the extents of chunks");
        runs->run[runs->count++] = (zb__run){.index = cells, .start = start, .extent = extent};
    }
    runs->run[runs->count] = (zb__run){.index = cells + count, .start = end};
    return ZB_OK;
}

static zb__span nothing(uint64_t index) {
    return (zb__span){.index = index, .start = UINT64_MAX};
}

static zb__span cell_of(const zb__run *run, uint64_t cell) {
    return (zb__span){.index = run->index + cell,
                      .start = run->start + cell * run->extent,
                      .extent = run->extent};
}

zb__span zb__runs_find(const zb__runs *runs, uint64_t element) {
    if (element >= zb__runs_end(runs))
        return nothing(zb__runs_cells(runs));
    size_t low = 0, high = runs->count; /* the run is in [low, high) */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(runs->run[middle].start <= element ? &low : &high) = middle;
    }
    const zb__run *run = &runs->run[low];
    return cell_of(run, (element - run->start) / run->extent);
}

zb__span zb__runs_at(const zb__runs *runs, uint64_t index) {
    if (index >= zb__runs_cells(runs))
        return nothing(index);
    size_t low = 0, high = runs->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(runs->run[middle].index <= index ? &low : &high) = middle;
    }
    return cell_of(&runs->run[low], index - runs->run[low].index);
}

uint64_t zb__runs_largest(const zb__runs *runs, uint64_t extent) {
    uint64_t largest = runs->run[0].extent;
    for (size_t i = 1; i < runs->count && runs->run[i].start < extent; i++)
        largest = runs->run[i].extent > largest ? runs->run[i].extent : largest;
    return largest;
}

/* Run i of a dimension; the one run of a dimension without runs never ends. */
static zb__run run_of(const zb__runs *runs, uint64_t extent, size_t i, uint64_t *end) {
    *end = runs->count ? runs->run[i + 1].start : UINT64_MAX;
    return runs->count ? runs->run[i] : (zb__run){.extent = extent};
}

/* Both are walked side by side. Equal extents side by side are one run, so that runs in the same
   place have to be equal, but for the end of the last one. */
bool zb__runs_agree(const zb__runs *a, uint64_t a_extent, const zb__runs *b, uint64_t b_extent) {
    size_t runs_a = a->count ? a->count : 1, runs_b = b->count ? b->count : 1;
    for (size_t i = 0; i < runs_a && i < runs_b; i++) {
        uint64_t a_end, b_end;
        zb__run x = run_of(a, a_extent, i, &a_end), y = run_of(b, b_extent, i, &b_end);
        if (x.extent != y.extent)
            return false;
        if (a_end != b_end)
            return a_end < b_end ? i + 1 == runs_a : i + 1 == runs_b;
    }
    return true;
}
