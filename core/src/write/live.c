/* SPDX-License-Identifier: MIT */
/*
 * The strategies `append` and `inplace`, which change a stored shard instead of replacing it.
 *
 * Append, with a kill in mind. The old object is never touched, so a reader that has its index goes
 * on reading. In this order:
 *
 *     1. the object is extended with zeros to its new size: its end is not an index now (no run of
 *        zeros has itself as its crc32c), and readers that come get an error and try again
 *     2. the new inner chunks and, at the very end, a copy of the old index are written in one
 *        call: readers find the old index again, while all of that is synced
 *     3. the new index takes the copy's place
 *
 * Without the zeros a reader could see the object end with an inner chunk that is a shard itself,
 * whose index could pass for the new one. Without the copy the shard could not be read for as long
 * as a disk takes to sync.
 *
 * In place, each inner chunk carries a crc32c, which does not match while it is half overwritten.
 * The index stays as it is.
 *
 * Errors (not kills) are undone at once. Only a failure after the new index is complete leaves the
 * new shard, as it does when an object is replaced.
 */
#include <stdlib.h>
#include <string.h>

#include "codec/pipeline.h"
#include "codec/shard_index.h"
#include "node/current.h"
#include "node/node.h"
#include "read/leaf.h"
#include "util/crc32c.h"
#include "util/scratch.h"
#include "write/journal.h"
#include "write/writer.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

/* ---- Shards that can be changed ----------------------------------------------------------- */

enum zb_code zb__live_check(const zb_node *node, const zb__write_layout *layout,
                            enum zb_strategy strategy, zb_error *err) {
    const char *name = strategy == ZB_APPEND ? "append" : "inplace", *why = NULL;
    if (strategy == ZB_REWRITE)
        return ZB_OK;
    if (strategy != ZB_APPEND && strategy != ZB_INPLACE)
        return zb_fail(err, ZB_EINVAL, "there is no writing strategy %d", (int)strategy);
    if (!zb_store_can_change(zb__node_store(node)))
        why = "the store cannot change objects, only replace them";
    else if (!layout->shard)
        why = "it is not sharded, or codecs lie around its shards";
    else if (!zb__pipeline_is_checked(layout->shard->index->pipeline))
        why = "the index of its shards has no crc32c, so damage would not be noticed";
    else if (strategy == ZB_APPEND && layout->shard->index_at_start)
        why = "the index is at the start of its shards";
    else if (strategy == ZB_INPLACE && !layout->fixed)
        why = "its inner chunks must be of fixed size, with a crc32c and no compression";
    if (!why)
        return ZB_OK;
    return zb_fail(err, ZB_EUNSUPPORTED, "store %s, array /%s cannot be written by %s: %s",
                   zb__node_store(node)->label, node->path, name, why);
}

/* True if all written inner chunks are stored, each at a place of its own. The places ascend in
   every shard that was put whole; in another order they count as shared. */
static bool fits_in_place(const zb__write_layout *layout, const zb__buffered_chunk *chunk,
                          const zb__live *live) {
    zb__inner_chunks chunks = zb__inner_chunks_of(live->entries, layout->inner_chunks, live->size);
    uint64_t end = 0;
    for (uint64_t i = 0; i < layout->inner_chunks; i++) {
        if (!zb__inner_chunk_at(&chunks, i) && !chunk->inner_chunks[i].elements)
            continue;
        if (chunks.size != layout->inner_bound || chunks.offset < end ||
            !zb__inner_chunk_fits(&chunks))
            return false;
        end = chunks.offset + chunks.size;
    }
    return true;
}

void zb__live_end(zb__live *live) {
    zb_object_close(live->object);
    free(live->entries);
    *live = (zb__live){.object = NULL};
}

static enum zb_code load(const zb__write_layout *layout, zb__live *live, zb_error *err) {
    zb__scratch *scratch = zb__scratch_take();
    zb__source source = {.object = live->object, .size = live->size};
    live->entries = malloc((size_t)layout->inner_chunks * 2 * sizeof *live->entries);
    enum zb_code code =
        scratch && live->entries ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a shard's index");
    if (code == ZB_OK)
        code = zb__index_read(layout->shard, &source, scratch, live->entries, err);
    if (scratch)
        zb__scratch_put(scratch);
    return code;
}

/* An object that cannot be read is left to the ordinary way, which tells why. */
static void begin_sharing(const zb_writer *writer, const char *key, const zb__buffered_chunk *chunk,
                          zb__live *live) {
    zb_store *store = zb__node_store(writer->node);
    const zb_open opening = {.key = key, .home = zb__node_home(writer->node)};
    zb_object_info info;
    if (!store->hints.shares_blocks || chunk->layout->shard->index_at_start ||
        zb_object_open_as(store, &opening, &live->object, &info, NULL) != ZB_OK)
        return;
    live->size = info.size;
    if (load(chunk->layout, live, NULL) != ZB_OK || !zb__shared_blocks_pay(chunk, live))
        zb__live_end(live);
}

enum zb_code zb__live_begin(const zb_writer *writer, const char *key,
                            const zb__buffered_chunk *chunk, zb__live *live, zb_error *err) {
    zb_object_info info;
    *live = (zb__live){.object = NULL};
    if (writer->options.strategy == ZB_REWRITE) {
        begin_sharing(writer, key, chunk, live);
        return ZB_OK;
    }
    const zb_open opening = {.key = key, .home = zb__node_home(writer->node), .is_live = true};
    enum zb_code code =
        zb_object_open_as(zb__node_store(writer->node), &opening, &live->object, &info, err);
    if (code != ZB_OK)
        return code == ZB_ENOTFOUND || code == ZB_EUNSUPPORTED ? ZB_OK : code;
    live->size = info.size;
    code = load(chunk->layout, live, err);
    if (code != ZB_OK ||
        (writer->options.strategy == ZB_INPLACE && !fits_in_place(chunk->layout, chunk, live)))
        zb__live_end(live);
    return code;
}

/* The durability of each step before the next one: a journal that comes to disk after its change
   would be of no use. */
static enum zb_sync step_sync(const zb_writer *writer) {
    return writer->options.sync == ZB_SYNC_NONE ? ZB_SYNC_NONE : ZB_SYNC_ALWAYS;
}

static enum zb_code no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for changing a shard");
}

/* ---- Append ------------------------------------------------------------------------------- */

typedef struct appending {
    const zb__write_layout *layout;
    const zb__live *live;
    enum zb_sync sync;
    zb__grown grown; /* its last part is the old index */
    zb__journal *journal;
    uint8_t *old_index; /* encoded */
} appending;

static enum zb_code read_old_index(const appending *a, zb_error *err) {
    size_t size = a->layout->shard->index_size;
    zb_range range = {.offset = a->live->size - size, .length = size, .buffer = a->old_index};
    enum zb_code code = zb_object_read(a->live->object, &range, 1, err);
    if (code == ZB_OK && range.got != size)
        code = zb_fail(err, ZB_EIO, "the shard became shorter while it was changed");
    return code;
}

/* The new index is in a->grown.index by now. */
static enum zb_code make_journal(appending *a, zb_error *err) {
    size_t index_size = a->layout->shard->index_size;
    uint64_t blocks = zb__journal_blocks(a->grown.end, index_size), at = a->live->size;
    for (size_t i = 0; i < a->grown.count; at += a->grown.parts[i++].size)
        blocks += zb__journal_blocks(at, a->grown.parts[i].size);
    zb__journal *journal = a->journal = zb__journal_new(a->grown.count + 1, blocks, 0);
    if (!journal)
        return no_memory(err);
    journal->old_size = at = a->live->size;
    journal->new_size = a->grown.end + index_size;
    journal->index_crc = zb__crc32c(a->old_index, index_size);
    for (size_t i = 0; i < a->grown.count; at += a->grown.parts[i++].size)
        zb__journal_note(journal, i, a->grown.inner_chunks[i], at, a->grown.parts[i].data,
                         a->grown.parts[i].size);
    zb__journal_note(journal, a->grown.count, 0, a->grown.end, a->grown.index, index_size);
    return ZB_OK;
}

static enum zb_code extend(const appending *a, zb_error *err) {
    const zb__live *live = a->live;
    size_t index_size = a->layout->shard->index_size;
    zb_part index = {.data = a->grown.index, .size = index_size};
    const zb_change changes[] = {{.offset = a->grown.end + index_size, .is_end = true},
                                 {.offset = live->size,
                                  .parts = a->grown.parts,
                                  .count = a->grown.count + 1,
                                  .sync = a->sync},
                                 {.offset = a->grown.end, .parts = &index, .count = 1}};
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < 3 && !code; i++)
        code = zb_object_change(live->object, &changes[i], err);
    return code;
}

static enum zb_code append(const appending *a, const zb_node *array, const char *key,
                           zb_error *err) {
    enum zb_code code = zb__journal_put(array, key, a->journal, a->sync, err);
    if (code != ZB_OK)
        return code;
    code = extend(a, err);
    if (code != ZB_OK) {
        /* The change is undone as the next writer would do it, which also does it when this fails.
           An index that is complete all the same stays: other processes may have read it. */
        (void)zb__journal_replay(array, a->layout, key, NULL, NULL);
        return code;
    }
    const zb_change none = {.offset = a->grown.end, .sync = a->sync};
    if (a->sync != ZB_SYNC_NONE)
        code = zb_object_change(a->live->object, &none, err);
    return code ? code : zb__journal_erase(array, key, err);
}

static enum zb_code put_appended(zb_writer *writer, const char *key,
                                 const zb__buffered_chunk *chunk, const zb__live *live,
                                 const zb__encoded *inner_chunks, zb__scratch *scratch,
                                 zb_error *err) {
    const size_t index_size = chunk->layout->shard->index_size;
    appending a = {.layout = chunk->layout,
                   .live = live,
                   .sync = step_sync(writer),
                   .old_index = malloc(index_size)};
    enum zb_code code = zb__grown_make(chunk, live, inner_chunks, &a.grown, err);
    if (code == ZB_OK)
        code = a.old_index ? read_old_index(&a, err) : no_memory(err);
    if (code == ZB_OK)
        a.grown.parts[a.grown.count] = (zb_part){.data = a.old_index, .size = index_size};
    if (code == ZB_OK && a.grown.changed)
        code =
            zb__shard_index_encode(a.layout->shard, scratch, a.grown.entries, a.grown.index, err);
    if (code == ZB_OK && a.grown.changed)
        code = make_journal(&a, err);
    if (code == ZB_OK && a.grown.changed)
        code = a.grown.any ? append(&a, writer->node, key, err) : zb__chunk_erase(writer, key, err);
    zb__grown_clear(&a.grown);
    free(a.journal);
    free(a.old_index);
    return code;
}

/* ---- In place ----------------------------------------------------------------------------- */

/* The journal of the inner chunks that are going to be overwritten, with the bytes that they hold
   now. */
static enum zb_code keep_old(const zb__write_layout *layout, const zb__buffered_chunk *chunk,
                             const zb__live *live, const zb__encoded *inner_chunks,
                             zb__journal **out, zb_error *err) {
    uint64_t count = 0, blocks = 0, n = 0;
    size_t size = layout->inner_bound;
    for (uint64_t i = 0; i < layout->inner_chunks; i++) {
        count += chunk->inner_chunks[i].elements != NULL;
        blocks +=
            chunk->inner_chunks[i].elements ? zb__journal_blocks(live->entries[2 * i], size) : 0;
    }
    zb__journal *journal = *out = zb__journal_new(count, blocks, count * size);
    if (!journal)
        return no_memory(err);
    journal->in_place = 1;
    journal->old_size = journal->new_size = live->size;
    for (uint64_t i = 0; i < layout->inner_chunks; i++) {
        if (chunk->inner_chunks[i].elements)
            zb__journal_note(journal, n++, i, live->entries[2 * i], inner_chunks[i].data, size);
    }
    for (uint64_t i = 0; i < count; i++) {
        zb_range range = {.offset = journal->piece[i].offset,
                          .length = size,
                          .buffer = zb__journal_old(journal) + i * size};
        enum zb_code code = zb_object_read(live->object, &range, 1, err);
        if (code != ZB_OK || range.got != size)
            return code ? code
                        : zb_fail(err, ZB_EIO, "the shard became shorter while it was changed");
    }
    return ZB_OK;
}

/* Overwrites all pieces; neighbouring pieces with one write. */
static enum zb_code overwrite(const zb__journal *journal, const zb__live *live,
                              const zb__encoded *inner_chunks, zb_part *parts, enum zb_sync sync,
                              zb_error *err) {
    enum zb_code code = ZB_OK;
    for (uint64_t i = 0; i < journal->count && code == ZB_OK;) {
        uint64_t from = journal->piece[i].offset, end = from;
        size_t n = 0;
        for (; i < journal->count && journal->piece[i].offset == end; i++) {
            const zb__encoded *inner = &inner_chunks[journal->piece[i].inner];
            parts[n++] = (zb_part){.data = inner->data, .size = inner->size};
            end += inner->size;
        }
        const bool last = i == journal->count;
        const zb_change change = {
            .offset = from, .parts = parts, .count = n, .sync = last ? sync : ZB_SYNC_NONE};
        code = zb_object_change(live->object, &change, err);
    }
    return code;
}

static enum zb_code put_in_place(const zb_writer *writer, const char *key,
                                 const zb__buffered_chunk *chunk, const zb__live *live,
                                 const zb__encoded *inner_chunks, zb_error *err) {
    const zb__write_layout *layout = chunk->layout;
    enum zb_sync sync = step_sync(writer);
    zb__journal *journal = NULL;
    zb_part *parts = NULL;
    enum zb_code code = keep_old(layout, chunk, live, inner_chunks, &journal, err);
    if (code == ZB_OK && !(parts = malloc((size_t)journal->count * sizeof *parts + 1)))
        code = no_memory(err);
    if (code == ZB_OK)
        code = zb__journal_put(writer->node, key, journal, sync, err);
    if (code == ZB_OK) {
        code = overwrite(journal, live, inner_chunks, parts, sync, err);
        if (code == ZB_OK)
            code = zb__journal_erase(writer->node, key, err);
        else if (zb__journal_restore(journal, live->object, sync, NULL) == ZB_OK)
            (void)zb__journal_erase(writer->node, key, NULL);
    }
    free(parts);
    free(journal);
    return code;
}

enum zb_code zb__live_put(zb_writer *writer, const char *key, const zb__buffered_chunk *chunk,
                          const zb__live *live, const zb__encoded *inner_chunks,
                          zb__scratch *scratch, zb_error *err) {
    if (writer->options.strategy == ZB_REWRITE)
        return zb__shared_blocks_put(writer, key, chunk, live, inner_chunks, scratch, err);
    if (writer->options.strategy == ZB_APPEND)
        return put_appended(writer, key, chunk, live, inner_chunks, scratch, err);
    return put_in_place(writer, key, chunk, live, inner_chunks, err);
}
