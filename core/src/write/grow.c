/* SPDX-License-Identifier: MIT */
/*
 * A writer whose array has grown goes on: what waits need not be stored before. An open chunk knows
 * which elements were written and how many of those inside the array were not. Growing changes that
 * number alone, and only in chunks that the old edge cut: their new elements are not written yet,
 * so that they come from the store when the chunk is merged.
 *
 * So does a writer whose array another program has made larger: the check of a chunk on the edge
 * fails, the writer goes on with the array as it is now, and tries again. Its caller writes within
 * the shape that it knows.
 *
 * Objects that wait for the store's flush lie inside the array as a whole (may_wait in
 * encode_chunks.c), so that growing does not change what they hold.
 */
#include <string.h>

#include "model/array.h"
#include "node/current.h"
#include "node/node.h"
#include "write/allowed.h"
#include "write/writer.h"
#include "zarrbridge/write.h"

bool zb_writer_can_grow(const zb_writer *writer, const uint64_t *shape) {
    const zb__array *known = writer->known->array;
    for (uint32_t d = 0; d < known->info.ndim; d++) {
        /* Chunks of several extents: growing may add to the grid, which the layouts are made of. */
        if (shape[d] < known->info.shape[d] || zb__grid_has_runs(&known->grid, d))
            return false;
    }
    return !writer->lost;
}

/* Counts what is missing of a chunk that an edge cuts. Where another program has made the array
   smaller again, down to the known shape at most, `more` is negative, and wraps: elements beyond
   that shape are all missing. */
static void recount(const zb__layout *before, const zb__layout *now, zb__open_chunk *chunk) {
    uint64_t count[ZB_MAX_NDIM];
    for (uint64_t u = 0; u < now->units; u++) {
        const uint64_t more = zb__unit_inside(now, chunk->origin, u, count) -
                              zb__unit_inside(before, chunk->origin, u, count);
        chunk->units[u].missing += more;
        chunk->missing += more;
    }
}

/* Goes on with the array as it is now. Takes a reference over. */
static void go_on(zb_writer *writer, zb_node *now) {
    const zb__layout before = writer->layout;
    for (uint32_t d = 0; d < before.ndim; d++)
        writer->layout.shape[d] = now->array->info.shape[before.outer->axis[d]];
    for (zb__open_chunk *chunk = writer->newest; chunk; chunk = chunk->older) {
        if (zb__chunk_is_cut(&before, chunk->index) ||
            zb__chunk_is_cut(&writer->layout, chunk->index))
            recount(&before, &writer->layout, chunk);
    }
    zb_node *old = writer->node;
    pthread_mutex_lock(&writer->document_lock); /* of threads that flush (allowed.c) */
    writer->node = now;
    pthread_mutex_unlock(&writer->document_lock);
    zb_node_release(old);
}

enum zb_code zb_writer_grow(zb_writer *writer, const zb_node *grown, zb_error *err) {
    const zb_node *node = writer->node;
    if (!zb__array_is_same(node, grown))
        return zb_fail(err, ZB_ECONFLICT, "store %s: /%s is not the array of this writer",
                       zb__node_store(node)->label, grown->path);
    if (!zb_writer_can_grow(writer, grown->array->info.shape))
        return zb_fail(err, ZB_EINVAL,
                       "store %s, array /%s: its writer cannot go on with this shape; flush it, "
                       "and open another one",
                       zb__node_store(node)->label, node->path);
    zb_node *now = zb_node_retain((zb_node *)(uintptr_t)grown);
    go_on(writer, now);
    zb_node_release(writer->known);
    writer->known = zb_node_retain(now);
    return ZB_OK;
}

/* A loop over this ends: each further turn takes another change of the shape. */
bool zb__writer_follows(zb_writer *writer, enum zb_code code) {
    const zb_array_info *info = &writer->node->array->info;
    zb_node *now;
    if (code != ZB_ECONFLICT || zb__array_now(writer->node, &now, NULL, NULL, NULL, NULL) != ZB_OK)
        return false;
    const uint64_t *shape = now->array->info.shape;
    const bool goes_on = memcmp(shape, info->shape, info->ndim * sizeof *shape) != 0 &&
                         zb_writer_can_grow(writer, shape);
    if (goes_on)
        go_on(writer, now);
    else
        zb_node_release(now);
    return goes_on;
}
