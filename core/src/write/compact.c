/* SPDX-License-Identifier: MIT */
/* Replacing shards that carry garbage: inner chunks that no index entry leads to any more. */
#include <stdlib.h>
#include <string.h>

#include "codec/shard_index.h"
#include "node/current.h"
#include "node/node.h"
#include "node/walk.h"
#include "read/leaf.h"
#include "util/scratch.h"
#include "write/journal.h"
#include "write/writer.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

typedef struct compaction {
    zb_writer *writer;              /* gives options and messages: nothing is written through it */
    const zb__write_layout *layout; /* of the shard at hand */
    zb__scratch *scratch;
    uint64_t *entries;         /* [2 * inner_chunks], of the shard at hand */
    zb__encoded *inner_chunks; /* [inner_chunks] */
    uint64_t reclaimed;
} compaction;

/* Sets the sizes of all inner chunks, and the size of a shard of nothing else. Entries that share
   bytes, which our writers never make, count twice: then there is nothing to win. */
static enum zb_code add_up(const compaction *c, uint64_t object_size, uint64_t *live,
                           zb_error *err) {
    zb__inner_chunks chunks = zb__inner_chunks_of(c->entries, c->layout->inner_chunks, object_size);
    memset(c->inner_chunks, 0, (size_t)c->layout->inner_chunks * sizeof *c->inner_chunks);
    *live = c->layout->shard->index_size;
    while (zb__inner_chunk_next(&chunks)) {
        enum zb_code code = zb__inner_chunk_check(&chunks, err);
        if (code != ZB_OK)
            return code;
        if (__builtin_add_overflow(*live, chunks.size, live))
            return zb_fail(err, ZB_EFORMAT, "its inner chunks are larger than any object");
        c->inner_chunks[chunks.inner].size = (size_t)chunks.size;
    }
    return ZB_OK;
}

static enum zb_code replace(const compaction *c, zb_object *object, const char *key, uint64_t live,
                            zb_error *err) {
    const zb__write_layout *layout = c->layout;
    const uint64_t limit = zb_limits_get()->shard_bytes;
    if (live > limit)
        return zb_fail(err, ZB_ELIMIT,
                       "without garbage it has %llu bytes, limit shard_bytes is %llu; set "
                       "ZARRBRIDGE_SHARD_BYTES higher to compact it",
                       (unsigned long long)live, (unsigned long long)limit);
    uint8_t *bytes = malloc((size_t)live);
    enum zb_code code = bytes ? ZB_OK
                              : zb_fail(err, ZB_ENOMEM, "no memory for a shard of %llu bytes",
                                        (unsigned long long)live);
    if (code == ZB_OK)
        code = zb__inner_chunks_read(object, c->entries, c->inner_chunks, layout->inner_chunks,
                                     bytes, err);
    if (code == ZB_OK)
        code = zb__chunk_put(c->writer, layout, key, c->inner_chunks, ZB__PUT_NOW, c->scratch, err);
    free(bytes);
    return code;
}

/* Called under the key's lock. */
static enum zb_code compact_shard(compaction *c, const char *key, zb_error *err) {
    const zb__write_layout *layout = c->layout;
    const zb_node *node = c->writer->node;
    const zb_open opening = {.key = key, .home = zb__node_home(node)};
    zb_object *object;
    zb_object_info info;
    uint64_t live;
    enum zb_code code = zb__journal_replay(node, layout, key, NULL, err);
    if (code == ZB_OK)
        code = zb_object_open_as(zb__node_store(node), &opening, &object, &info, err);
    if (code != ZB_OK)
        return code == ZB_ENOTFOUND ? ZB_OK : code; /* the shard was erased meanwhile */
    zb__source source = {.object = object, .size = info.size};
    code = zb__index_read(layout->shard, &source, c->scratch, c->entries, err);
    if (code == ZB_OK)
        code = add_up(c, info.size, &live, err);
    if (code == ZB_OK && live < info.size) {
        code = replace(c, object, key, live, err);
        const bool stays =
            live > layout->shard->index_size || !zb__node_store(node)->hints.is_local;
        c->reclaimed += code ? 0 : info.size - (stays ? live : 0);
    }
    zb_object_close(object);
    return code;
}

/* Chunks behind the array's edge may be larger than all that are in it, and are left alone. In a
   regular grid they are as large, and treated alike. */
static bool is_known(const compaction *c, const uint64_t *index) {
    const zb__array *array = c->writer->node->array;
    bool inside = true;
    for (uint32_t d = 0; d < array->info.ndim && inside; d++)
        inside = !array->grid.runs || index[d] < array->chunk_count[d];
    return inside;
}

static enum zb_code visit(void *context, const char *key, const uint64_t *index, zb_error *err) {
    compaction *c = context;
    zb_lock *lock = NULL;
    if (!is_known(c, index))
        return ZB_OK;
    enum zb_code code = zb__write_layout_take(c->writer, index, &c->layout, err);
    if (code == ZB_OK)
        code = zb__chunk_lock(c->writer, key, false, &lock, err);
    if (code == ZB_OK)
        code = compact_shard(c, key, err);
    zb_store_unlock(lock);
    zb__write_layout_give(c->writer, c->layout);
    zb__hierarchy_chunk_done(c->writer->node->hierarchy);
    return code ? zb__chunk_add_context(c->writer, index, code, err) : ZB_OK;
}

enum zb_code zb_array_compact(const zb_node *array, enum zb_sync sync, uint64_t *reclaimed,
                              zb_error *err) {
    zb_write_options options = {.sync = sync};
    compaction c = {.writer = NULL};
    if (reclaimed)
        *reclaimed = 0;
    enum zb_code code = zb_writer_open(array, &options, &c.writer, err);
    if (code != ZB_OK)
        return code;
    if (c.writer->layout.shard) { /* other arrays have no places for garbage */
        size_t inner_chunks = (size_t)c.writer->layout.inner_chunks;
        c.entries = malloc(inner_chunks * 2 * sizeof *c.entries);
        c.inner_chunks = malloc(inner_chunks * sizeof *c.inner_chunks);
        c.scratch = zb__scratch_take();
        if (!c.entries || !c.inner_chunks || !c.scratch)
            code = zb_fail(err, ZB_ENOMEM, "no memory for compacting shards");
        else
            code = zb__chunks_each(array, visit, &c, err);
        if (c.scratch)
            zb__scratch_put(c.scratch);
        free(c.entries);
        free(c.inner_chunks);
    }
    if (code == ZB_OK && reclaimed)
        *reclaimed = c.reclaimed;
    enum zb_code closed = zb_writer_close(c.writer, code ? NULL : err);
    return code ? code : closed;
}
