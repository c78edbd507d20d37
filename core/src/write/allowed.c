/* SPDX-License-Identifier: MIT */
/*
 * The check that a chunk may be put. A writer goes by the array as it was when its node was opened.
 * Meanwhile the array may have been deleted, moved or made anew: its chunks belong to another array
 * then. It may also have another shape. The part of a chunk outside the array counts as covered: a
 * writer puts fill values there without looking, and once another process has made the array
 * larger, those places hold elements. A chunk beyond an array that was made smaller would come back
 * when it grows again.
 *
 * So before a chunk becomes visible, in its place and under its lock, the array's document is
 * looked at: it must be the same array, and must hold as much of the chunk as the writer believes.
 * (A process that changes the array's shape after that finds the chunk, or waits for its lock. One
 * that moves or deletes the array does not wait; but the chunk is put in the array's home, or not
 * at all.)
 */
#include "write/writer.h"

#include <string.h>

#include "array/array.h"
#include "hierarchy/path.h"
#include "node/current.h"
#include "node/node.h"
#include "node/version.h"
#include "node/walk.h"
#include "zarrbridge/array.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

/* ---- Chunks that a writer may put --------------------------------------------------------- */

bool zb__chunk_is_cut(const zb__write_layout *layout, const uint64_t *index) {
    for (uint32_t d = 0; d < layout->ndim; d++) {
        zb__span chunk = zb__chunk_span(layout, d, index);
        if (zb__span_inside(chunk, layout->shape[d]) < chunk.extent)
            return true;
    }
    return false;
}

static enum zb_code compare(const zb_writer *writer, const uint64_t *index, zb_error *err) {
    const zb_array_info *info = &writer->node->array->info;
    for (uint32_t d = 0; d < info->ndim; d++) {
        zb__span chunk = zb__grid_at(writer->layout.grid, d, index[d]);
        if (zb__span_inside(chunk, info->shape[d]) != zb__span_inside(chunk, writer->shape_now[d]))
            return zb_fail(err, ZB_ECONFLICT,
                           "the array's shape has changed since it was opened; open it again");
    }
    return ZB_OK;
}

static void keep_shape(zb_writer *writer, const zb_node *node, const zb_validator *version) {
    memcpy(writer->shape_now, node->array->info.shape,
           node->array->info.ndim * sizeof *writer->shape_now);
    writer->document = *version;
}

/* Finds out the array's shape of now. Called with the lock. */
static enum zb_code look(zb_writer *writer, const zb_object_info *there, zb_error *err) {
    zb_object_info info;
    zb_node *now;
    if (there && zb__node_unchanged(writer->node, there)) {
        keep_shape(writer, writer->node, &there->validator);
        return ZB_OK;
    }
    enum zb_code code = zb__array_now(writer->node, &now, &info, NULL, NULL, err);
    if (code == ZB_OK)
        keep_shape(writer, now, &info.validator);
    zb_node_release(now);
    return code;
}

static enum zb_code check(zb_writer *writer, const zb_node *node, const uint64_t *index,
                          zb_error *err) {
    zb_object_info info = {.size = 0};
    enum zb_code code = zb__document_stat(node, node->version, &info, err);
    if (code && code != ZB_ENOTFOUND)
        return code;
    /* One thread looks at a version; the others wait for its answer. */
    pthread_mutex_lock(&writer->document_lock);
    if (code || !zb_validator_same(&writer->document, &info.validator))
        code = look(writer, code ? NULL : &info, err);
    if (!code)
        code = compare(writer, index, err);
    pthread_mutex_unlock(&writer->document_lock);
    return code;
}

/* A flush by another thread asks for objects that wait, while the writer's own thread may give it
   the node of an array that has grown (grow.c). The caller releases the node. */
static zb_node *take_node(zb_writer *writer) {
    pthread_mutex_lock(&writer->document_lock);
    zb_node *node = zb_node_retain(writer->node);
    pthread_mutex_unlock(&writer->document_lock);
    return node;
}

enum zb_code zb__chunk_allowed(void *context, const char *key, zb_error *err) {
    zb_writer *writer = context;
    zb_node *node = take_node(writer);
    uint64_t index[ZB_MAX_NDIM];
    /* Journals are put before the check of their chunk. */
    const enum zb_code code =
        zb__chunk_index_of(node, key, index) ? check(writer, node, index, err) : ZB_OK;
    zb_node_release(node);
    return code;
}

/*
 * A writer whose array has grown goes on: what waits need not be stored before. A buffered chunk
 * knows which elements were written and how many of those inside the array were not. Growing
 * changes that number alone, and only in chunks that the old edge cut: their new elements are not
 * written yet, so that they come from the store when the chunk is merged.
 *
 * So does a writer whose array another program has made larger: the check of a chunk on the edge
 * fails, the writer goes on with the array as it is now, and tries again. Its caller writes within
 * the shape that it knows.
 *
 * Objects that wait for the store's flush lie inside the array as a whole (may_wait in
 * encode_chunks.c), so that growing does not change what they hold.
 */

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
static void recount(const zb__write_layout *before, const zb__write_layout *now,
                    zb__buffered_chunk *chunk) {
    uint64_t count[ZB_MAX_NDIM];
    for (uint64_t u = 0; u < now->inner_chunks; u++) {
        const uint64_t more = zb__inner_inside(now, chunk->origin, u, count) -
                              zb__inner_inside(before, chunk->origin, u, count);
        chunk->inner_chunks[u].missing += more;
        chunk->missing += more;
    }
}

/* Goes on with the array as it is now. Takes a reference over. */
static void go_on(zb_writer *writer, zb_node *now) {
    const zb__write_layout before = writer->layout;
    for (uint32_t d = 0; d < before.ndim; d++)
        writer->layout.shape[d] = now->array->info.shape[before.outer->axis[d]];
    for (zb__buffered_chunk *chunk = writer->newest; chunk; chunk = chunk->older) {
        if (zb__chunk_is_cut(&before, chunk->index) ||
            zb__chunk_is_cut(&writer->layout, chunk->index))
            recount(&before, &writer->layout, chunk);
    }
    zb_node *old = writer->node;
    pthread_mutex_lock(&writer->document_lock); /* of threads that flush (above) */
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
