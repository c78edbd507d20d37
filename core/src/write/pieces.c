/* SPDX-License-Identifier: MIT */
/* Cutting a region along the grid, for callers that hand its parts to several writers. */
#include "array/array.h"
#include "node/node.h"
#include "read/piece.h"
#include "zarrbridge/write.h"

/* One dimension of a region: chunks, of which each part has as many as the others or one more. */
typedef struct cut {
    uint64_t start, stop;   /* elements */
    uint64_t first, chunks; /* the chunks that it touches */
    uint64_t parts;         /* at least 1 */
} cut;

static uint64_t divided_up(uint64_t number, uint64_t by) {
    return number / by + (number % by != 0);
}

/* Cuts once more along the dimension whose parts have the most chunks, of several the slowest, as
   long as there are no more pieces than `most`. False: there is nothing more to cut. */
static bool cut_once(cut *cuts, uint32_t ndim, uint64_t most) {
    uint64_t pieces = 1, longest = 1;
    uint32_t chosen = 0;
    for (uint32_t d = 0; d < ndim; d++)
        pieces *= cuts[d].parts; /* at most `most` */
    for (uint32_t d = 0; d < ndim; d++) {
        const uint64_t length = divided_up(cuts[d].chunks, cuts[d].parts);
        const uint64_t parts = length > 1 ? divided_up(cuts[d].chunks, length - 1) : 0;
        if (length <= longest || parts > most / (pieces / cuts[d].parts))
            continue;
        longest = length;
        chosen = d;
    }
    if (longest > 1)
        cuts[chosen].parts = divided_up(cuts[chosen].chunks, longest - 1);
    return longest > 1;
}

/* The region along one dimension. Its chunks are numbered, so that they have an end. */
static cut cut_of(const zb_node *array, uint32_t dim, uint64_t start, uint64_t stop) {
    const uint64_t first = zb_array_chunk_of(array, ZB_GRID_CHUNKS, dim, start).index,
                   last = zb_array_chunk_of(array, ZB_GRID_CHUNKS, dim, stop - 1).index;
    return (cut){
        .start = start, .stop = stop, .first = first, .chunks = last - first + 1, .parts = 1};
}

/* The number of the first chunk of part i, without overflow. */
static uint64_t part_begin(const cut *c, uint64_t i) {
    const uint64_t rest = c->chunks % c->parts;
    return c->first + c->chunks / c->parts * i + (i < rest ? i : rest);
}

typedef struct box {
    uint64_t index[ZB_MAX_NDIM], start[ZB_MAX_NDIM], count[ZB_MAX_NDIM];
} box;

/* Returns whether the part has all elements of its chunks. */
static bool set_part(const zb_node *array, const cut *c, uint32_t dim, uint64_t i, box *out) {
    const uint64_t first = part_begin(c, i), last = part_begin(c, i + 1) - 1;
    const zb_chunk_span begin = zb_array_chunk_at(array, ZB_GRID_CHUNKS, dim, first),
                        end = zb_array_chunk_at(array, ZB_GRID_CHUNKS, dim, last);
    const uint64_t stop = end.start + end.inside;
    out->index[dim] = first;
    out->start[dim] = begin.start < c->start ? c->start : begin.start;
    out->count[dim] = (stop > c->stop ? c->stop : stop) - out->start[dim];
    return begin.start >= c->start && stop <= c->stop;
}

/* In C order. */
static void each(const zb_node *array, const cut *cuts, uint32_t ndim, zb_piece_fn fn,
                 void *context) {
    uint64_t at[ZB_MAX_NDIM] = {0};
    box in;
    zb_piece piece = {.index = in.index, .start = in.start, .count = in.count};
    for (bool is_done = false; !is_done;) {
        piece.is_whole = true;
        for (uint32_t d = 0; d < ndim; d++)
            piece.is_whole = set_part(array, &cuts[d], d, at[d], &in) && piece.is_whole;
        if (fn(context, &piece) != 0)
            return;
        uint32_t d = ndim;
        while (d > 0 && ++at[d - 1] == cuts[d - 1].parts)
            at[--d] = 0;
        is_done = d == 0;
    }
}

enum zb_code zb_array_piece_each(const zb_node *array, const uint64_t *start, const uint64_t *count,
                                 uint64_t most, zb_piece_fn fn, void *context, zb_error *err) {
    if (!array->array)
        return zb_fail(err, ZB_EINVAL, "/%s is a group, not an array", array->path);
    const uint32_t ndim = array->array->grid.ndim;
    zb__arena memory = {0};
    zb__selection selection = {.node = array, .start = start, .count = count, .item = 1};
    zb__piece *region;
    bool empty;
    uint64_t bytes;
    cut cuts[ZB_MAX_NDIM];
    const enum zb_code code = zb__box_piece(&selection, &memory, &region, &empty, &bytes, err);
    const bool is_some = !code && !empty;
    for (uint32_t d = 0; is_some && d < ndim; d++) {
        const uint64_t from = zb__piece_start(region)[d];
        cuts[d] = cut_of(array, d, from, from + zb__piece_count(region, ndim)[d]);
        if (most == 0)
            cuts[d].parts = cuts[d].chunks;
    }
    while (is_some && most && cut_once(cuts, ndim, most))
        ;
    if (is_some)
        each(array, cuts, ndim, fn, context);
    zb__arena_free(&memory);
    return code;
}
