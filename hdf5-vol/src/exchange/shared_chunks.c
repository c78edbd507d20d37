/* SPDX-License-Identifier: MIT */
/* Which rank stores which chunk: see shared_chunks.h. */
#include "exchange/shared_chunks.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LOOKS ((uint64_t)1 << 26) /* at a chunk for a rank: about a second */

bool vol_shared_make(vol_shared *shared, size_t ranks) {
    *shared = (vol_shared){.ranks = ranks};
    shared->boxes = calloc(ranks, sizeof *shared->boxes);
    shared->given = calloc(ranks, sizeof *shared->given);
    shared->elements = calloc(ranks, sizeof *shared->elements);
    return shared->boxes && shared->given && shared->elements;
}

void vol_shared_free(vol_shared *shared) {
    free(shared->boxes);
    free(shared->given);
    free(shared->elements);
}

/* ---- One chunk ---- */

/* How many elements of a box along a dimension come before a place. */
static uint64_t count_before(const vol_box *box, uint32_t d, uint64_t place) {
    if (place <= box->start[d])
        return 0;
    const uint64_t steps = (place - box->start[d] - 1) / box->step[d] + 1;
    return steps < box->count[d] ? steps : box->count[d];
}

void vol_shared_part(const vol_shared *shared, size_t rank, uint64_t *first, uint64_t *count) {
    const vol_box *box = &shared->boxes[rank];
    for (uint32_t d = 0; d < shared->ndim; d++) {
        const zb_chunk_span *span = &shared->span[d];
        first[d] = count_before(box, d, span->start);
        count[d] = count_before(box, d, span->start + span->inside) - first[d];
    }
}

static uint64_t count_elements(const vol_shared *shared, size_t rank) {
    uint64_t first[VOL_SHARED_NDIM], count[VOL_SHARED_NDIM], elements = 1;
    if (shared->boxes[rank].is_empty)
        return 0;
    vol_shared_part(shared, rank, first, count);
    for (uint32_t d = 0; d < shared->ndim; d++)
        elements *= count[d];
    return elements;
}

void vol_shared_at(vol_shared *shared, const uint64_t *index) {
    memmove(shared->index, index, sizeof shared->index);
    for (uint32_t d = 0; d < shared->ndim; d++)
        shared->span[d] = zb_array_chunk_at(shared->array, ZB_GRID_CHUNKS, d, index[d]);
    for (size_t i = 0; i < shared->ranks; i++)
        shared->elements[i] = count_elements(shared, i);
}

/* Where boxes overlap the sum is too large, and the chunk maybe not covered: what its owner has got
   is stored all the same (exchange.c). */
static void choose_owner(vol_shared *shared) {
    uint64_t wanted = 1, sum = 0;
    size_t writers = 0, owner = VOL_SHARED_NOBODY;
    for (uint32_t d = 0; d < shared->ndim; d++)
        wanted *= shared->span[d].inside;
    for (size_t i = 0; i < shared->ranks; i++) {
        if (shared->elements[i] == 0)
            continue;
        writers++;
        sum += shared->elements[i];
        if (owner == VOL_SHARED_NOBODY || shared->given[i] < shared->given[owner])
            owner = i;
    }
    shared->owner =
        writers > 1 && sum >= wanted && wanted <= shared->most ? owner : VOL_SHARED_NOBODY;
    if (shared->owner != VOL_SHARED_NOBODY)
        shared->given[owner] += wanted;
}

/* ---- The walk ---- */

/* The part of the grid that the boxes touch; false: they are all empty. */
static bool find_bounds(vol_shared *shared) {
    bool any = false;
    for (size_t i = 0; i < shared->ranks; i++) {
        const vol_box *box = &shared->boxes[i];
        for (uint32_t d = 0; d < shared->ndim && !box->is_empty; d++) {
            const uint64_t last = box->start[d] + (box->count[d] - 1) * box->step[d];
            const uint64_t low =
                zb_array_chunk_of(shared->array, ZB_GRID_CHUNKS, d, box->start[d]).index;
            const uint64_t high =
                zb_array_chunk_of(shared->array, ZB_GRID_CHUNKS, d, last).index + 1;
            if (!any || low < shared->low[d])
                shared->low[d] = low;
            if (!any || high > shared->high[d])
                shared->high[d] = high;
        }
        any |= !box->is_empty;
    }
    return any;
}

static bool is_quick(const vol_shared *shared) {
    uint64_t looks = shared->ranks;
    for (uint32_t d = 0; d < shared->ndim; d++)
        if (__builtin_mul_overflow(looks, shared->high[d] - shared->low[d], &looks))
            return false;
    return looks <= MOST_LOOKS;
}

/* The place behind `index`; false behind the last. */
static bool step(const vol_shared *shared, uint64_t *index) {
    for (uint32_t d = shared->ndim; d-- > 0;) {
        if (++index[d] < shared->high[d])
            return true;
        index[d] = shared->low[d];
    }
    return false;
}

/* From where the walk is, that included. */
static bool find(vol_shared *shared) {
    while (!shared->ended) {
        bool any = false;
        vol_shared_at(shared, shared->index);
        for (size_t i = 0; i < shared->ranks && !any; i++)
            any = shared->elements[i] > 0;
        if (any) {
            choose_owner(shared);
            return true;
        }
        shared->ended = !step(shared, shared->index);
    }
    return false;
}

bool vol_shared_first(vol_shared *shared, const zb_node *array, uint64_t most) {
    shared->array = array;
    shared->ndim = zb_node_array(array)->ndim;
    shared->most = most;
    memset(shared->given, 0, shared->ranks * sizeof *shared->given);
    shared->ended = !find_bounds(shared) || !is_quick(shared);
    memcpy(shared->index, shared->low, sizeof shared->index);
    return find(shared);
}

bool vol_shared_next(vol_shared *shared) {
    shared->ended = shared->ended || !step(shared, shared->index);
    return find(shared);
}
