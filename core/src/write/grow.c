/* SPDX-License-Identifier: MIT */
/*
 * A writer whose array has grown goes on: what waits need not be stored before. An open chunk knows
 * which elements were written and how many of those inside the array were not. Growing changes that
 * number alone, and only in chunks that the old edge cut: their new elements are not written yet,
 * so that they come from the store when the chunk is merged.
 *
 * Objects that wait for the store's flush lie inside the array as a whole (may_wait in
 * encode_chunks.c), so that growing does not change what they hold.
 */
#include "model/array.h"
#include "node/current.h"
#include "node/node.h"
#include "write/allowed.h"
#include "write/writer.h"
#include "zarrbridge/write.h"

bool zb_writer_can_grow(const zb_writer *writer, const uint64_t *shape) {
    const zb__array *array = writer->node->array;
    for (uint32_t d = 0; d < array->info.ndim; d++) {
        /* Chunks of several extents: growing may add to the grid, which the layouts are made of. */
        if (shape[d] < array->info.shape[d] || zb__grid_has_runs(&array->grid, d))
            return false;
    }
    return !writer->lost;
}

/* Counts what is missing of a chunk that the old edge cuts. */
static void recount(const zb__layout *before, const zb__layout *now, zb__open_chunk *chunk) {
    uint64_t count[ZB_MAX_NDIM];
    for (uint64_t u = 0; u < now->units; u++) {
        const uint64_t more = zb__unit_inside(now, chunk->origin, u, count) -
                              zb__unit_inside(before, chunk->origin, u, count);
        chunk->units[u].missing += more;
        chunk->missing += more;
    }
}

enum zb_code zb_writer_grow(zb_writer *writer, const zb_node *grown, zb_error *err) {
    const zb_node *node = writer->node;
    if (!zb__array_is_same(node, grown))
        return zb_fail(err, ZB_ECONFLICT, "store %s: /%s is not the array of this writer",
                       node->store->label, grown->path);
    if (!zb_writer_can_grow(writer, grown->array->info.shape))
        return zb_fail(err, ZB_EINVAL,
                       "store %s, array /%s: its writer cannot go on with this shape; flush it, "
                       "and open another one",
                       node->store->label, node->path);
    const zb__layout before = writer->layout;
    for (uint32_t d = 0; d < before.ndim; d++)
        writer->layout.shape[d] = grown->array->info.shape[before.outer->axis[d]];
    for (zb__open_chunk *chunk = writer->newest; chunk; chunk = chunk->older) {
        if (zb__chunk_is_cut(&before, chunk->index))
            recount(&before, &writer->layout, chunk);
    }
    /* The layout, and fill values that wait, go on pointing into the first node. */
    zb_node *old = writer->first ? writer->node : NULL;
    pthread_mutex_lock(&writer->document_lock); /* of threads that flush (allowed.c) */
    if (!writer->first)
        writer->first = writer->node;
    writer->node = zb_node_retain((zb_node *)(uintptr_t)grown);
    pthread_mutex_unlock(&writer->document_lock);
    zb_node_release(old);
    return ZB_OK;
}
