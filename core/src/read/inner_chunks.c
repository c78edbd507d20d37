/* SPDX-License-Identifier: MIT */
/* Encoded inner chunks of a stored shard, together. */
#include "read/encoded.h"

#include <stdbool.h>
#include <stdlib.h>

#include "store/store.h"

/* Ranges of one call of the store, which has all of them under way at once if it can. */
#define RANGES_AT_ONCE 256

/* An inner chunk to read. */
typedef struct place {
    uint64_t offset; /* in the shard */
    zb__encoded *inner;
} place;

/* Ranges that are read with one call. */
typedef struct ranges {
    zb_object *object;
    uint64_t most; /* bytes of a range that several inner chunks share */
    size_t count;
    zb_range range[RANGES_AT_ONCE];
} ranges;

static int by_offset(const void *a, const void *b) {
    const uint64_t left = ((const place *)a)->offset, right = ((const place *)b)->offset;
    return left < right ? -1 : left > right;
}

static size_t list_places(const uint64_t *entries, zb__encoded *inner_chunks, uint64_t count,
                          place *places) {
    size_t found = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (inner_chunks[i].size > 0)
            places[found++] = (place){.offset = entries[2 * i], .inner = &inner_chunks[i]};
    }
    qsort(places, found, sizeof *places, by_offset);
    return found;
}

static enum zb_code read_ranges(ranges *r, zb_error *err) {
    enum zb_code code = r->count ? zb_object_read(r->object, r->range, r->count, err) : ZB_OK;
    for (size_t i = 0; i < r->count && code == ZB_OK; i++) {
        if (r->range[i].got != r->range[i].length)
            code = zb_fail(err, ZB_EIO, "the shard ended early");
    }
    r->count = 0;
    return code;
}

/* A range of the same bytes as the last one's end, in the shard and in memory, makes it longer. */
static bool joins(const ranges *r, const zb_range *next) {
    const zb_range *last = r->count ? &r->range[r->count - 1] : NULL;
    return last && last->offset + last->length == next->offset && last->length < r->most &&
           next->length <= r->most - last->length;
}

enum zb_code zb__inner_chunks_read(zb_object *object, const uint64_t *entries,
                                   zb__encoded *inner_chunks, uint64_t count, uint8_t *bytes,
                                   zb_error *err) {
    const zb_store_hints *hints = &object->store->hints;
    place *places = malloc((size_t)(count ? count : 1) * sizeof *places);
    if (!places)
        return zb_fail(err, ZB_ENOMEM, "no memory for the places of inner chunks");
    ranges r = {.object = object, .most = hints->part ? hints->part : hints->max_request};
    const size_t found = list_places(entries, inner_chunks, count, places);
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < found && code == ZB_OK; i++) {
        zb__encoded *inner = places[i].inner;
        const zb_range next = {.offset = places[i].offset, .length = inner->size, .buffer = bytes};
        inner->data = bytes;
        bytes += inner->size;
        if (joins(&r, &next)) {
            r.range[r.count - 1].length += next.length;
            continue;
        }
        if (r.count == RANGES_AT_ONCE)
            code = read_ranges(&r, err);
        r.range[r.count++] = next;
    }
    if (code == ZB_OK)
        code = read_ranges(&r, err);
    free(places);
    return code;
}
