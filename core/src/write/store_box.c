/* SPDX-License-Identifier: MIT */
/*
 * The buffered chunks that a read is about to look at: asked for, and stored. zb_array_read sees
 * the store, not the chunks that wait in a writer for their rest; a program that reads and writes
 * by turns wants no more of those stored than it reads.
 */
#include <stdlib.h>
#include <string.h>

#include "array/grid.h"
#include "node/node.h"
#include "util/wait.h"
#include "write/writer.h"
#include "zarrbridge/write.h"

/* The chunks that a box touches: of the grid, from first to last along each dimension. */
typedef struct region {
    uint64_t first[ZB_MAX_NDIM], last[ZB_MAX_NDIM];
} region;

/* False when the box touches none. Only chunks inside the array wait, so the rest of the box does
   not count. */
static bool find_region(const zb__array *array, const uint64_t *start, const uint64_t *count,
                        region *out) {
    const zb_array_info *info = &array->info;
    for (uint32_t d = 0; d < info->ndim; d++) {
        if (count[d] == 0 || start[d] >= info->shape[d])
            return false;
        const uint64_t left = info->shape[d] - start[d];
        const uint64_t end = start[d] + (count[d] < left ? count[d] : left);
        out->first[d] = zb__grid_find(&array->grid, d, start[d]).index;
        out->last[d] = zb__grid_find(&array->grid, d, end - 1).index;
    }
    return true;
}

static bool touches(const region *r, uint32_t ndim, const zb__buffered_chunk *chunk) {
    for (uint32_t d = 0; d < ndim; d++) {
        if (chunk->index[d] < r->first[d] || chunk->index[d] > r->last[d])
            return false;
    }
    return true;
}

/* The buffered chunks in the region; returns their number. A box may touch any number of chunks, of
   which few are open. */
static size_t list_open(const zb_writer *writer, const region *r, zb__buffered_chunk **list) {
    const uint32_t ndim = writer->node->array->info.ndim;
    size_t count = 0;
    for (zb__buffered_chunk *buffered = writer->newest; buffered; buffered = buffered->older) {
        if (touches(r, ndim, buffered))
            list[count++] = buffered;
    }
    return count;
}

static bool has_more_than(const region *r, uint32_t ndim, uint64_t most) {
    uint64_t chunks = 1;
    for (uint32_t d = 0; d < ndim; d++) {
        if (__builtin_mul_overflow(chunks, r->last[d] - r->first[d] + 1, &chunks) || chunks > most)
            return true;
    }
    return false;
}

/* By the shorter way: through the chunks of the region, or through the open ones. */
static bool has_open(const zb_writer *writer, const region *r) {
    const uint32_t ndim = writer->node->array->info.ndim;
    if (has_more_than(r, ndim, writer->buffered.count)) {
        const zb__buffered_chunk *buffered = writer->newest;
        while (buffered && !touches(r, ndim, buffered))
            buffered = buffered->older;
        return buffered;
    }
    uint64_t at[ZB_MAX_NDIM];
    memcpy(at, r->first, sizeof at);
    for (;;) {
        if (zb__buffered_chunk_find(writer, at))
            return true;
        uint32_t d = ndim;
        for (; d > 0 && at[d - 1] == r->last[d - 1]; d--)
            at[d - 1] = r->first[d - 1];
        if (d == 0)
            return false;
        at[d - 1]++;
    }
}

bool zb_writer_waits(const zb_writer *writer, const uint64_t *start, const uint64_t *count) {
    region touched;
    if (writer->lost || writer->unseen)
        return true;
    return writer->buffered.count > 0 && find_region(writer->node->array, start, count, &touched) &&
           has_open(writer, &touched);
}

enum zb_code zb_writer_store_box(zb_writer *writer, const uint64_t *start, const uint64_t *count,
                                 zb_error *err) {
    region touched;
    if (writer->lost)
        return zb__fail_lost(writer, err);
    enum zb_code code = zb_writer_show(writer, err);
    if (code)
        return code;
    if (writer->buffered.count == 0 || !find_region(writer->node->array, start, count, &touched))
        return ZB_OK;
    zb__buffered_chunk **list = malloc(writer->buffered.count * sizeof(zb__buffered_chunk *));
    if (!list)
        return zb_fail(err, ZB_ENOMEM, "no memory for a list of chunks");
    zb__stop_no_more();
    do {
        const size_t found = list_open(writer, &touched, list);
        code = found > 0 ? zb__merge(writer, list, found, err) : ZB_OK;
    } while (zb__writer_follows(writer, code));
    free(list);
    return code;
}
