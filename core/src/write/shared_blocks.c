/* SPDX-License-Identifier: MIT */
/*
 * Storing parts of a shard where the file system lets files share blocks (XFS, btrfs, bcachefs).
 * The new shard is the old one's bytes, which are not written again, with the new inner chunks and
 * a new index behind them. It replaces the old one in one step, as every object does: nothing is
 * promised less than when all of it is written.
 *
 * What the new index leads to no more stays in the file. A shard of which a third is that is
 * written whole, so that no more than half of what is needed is ever there in vain.
 */
#include <stdlib.h>
#include <string.h>

#include "codec/shard_index.h"
#include "hierarchy/staged.h"
#include "node/current.h"
#include "node/node.h"
#include "read/leaf.h"
#include "write/budget.h"
#include "write/journal.h"
#include "write/writer.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"

/* ---- Whether it pays ---------------------------------------------------------------------- */

/* The bytes of the inner chunks that stay; false where the index leads out of the object. */
static bool measure_kept(const zb__buffered_chunk *chunk, const zb__live *live, uint64_t *kept) {
    zb__inner_chunks chunks =
        zb__inner_chunks_of(live->entries, chunk->layout->inner_chunks, live->size);
    *kept = 0;
    while (zb__inner_chunk_next(&chunks)) {
        if (zb__inner_chunk_check(&chunks, NULL))
            return false;
        if (!chunk->inner_chunks[chunks.inner].elements &&
            __builtin_add_overflow(*kept, chunks.size, kept))
            return false;
    }
    return true;
}

/* The bytes that come behind the old ones, at most. */
static uint64_t growth_bound(const zb__buffered_chunk *chunk) {
    const zb__write_layout *layout = chunk->layout;
    uint64_t written = 0;
    for (uint64_t i = 0; i < layout->inner_chunks; i++)
        written += chunk->inner_chunks[i].elements != NULL;
    return zb__work_product(written, layout->inner_bound) + layout->shard->index_size;
}

bool zb__shared_blocks_pay(const zb__buffered_chunk *chunk, const zb__live *live) {
    const uint64_t limit = zb_limits_get()->shard_bytes;
    uint64_t kept;
    return measure_kept(chunk, live, &kept) && kept >= live->size - live->size / 3 &&
           kept <= live->size && live->size <= limit && growth_bound(chunk) <= limit - live->size;
}

/* ---- The new shard ------------------------------------------------------------------------ */

typedef struct growing {
    const zb__write_layout *layout;
    const zb__live *live;
    uint64_t *entries; /* of the new index */
    zb_part *parts;    /* new inner chunks, and the index */
    size_t count;      /* of the new inner chunks */
    uint8_t *index;
    bool any; /* the new index has entries */
} growing;

static void lay_out(growing *g, const zb__buffered_chunk *chunk, const zb__encoded *inner_chunks) {
    uint64_t end = g->live->size;
    memcpy(g->entries, g->live->entries, 2 * (size_t)g->layout->inner_chunks * sizeof *g->entries);
    for (uint64_t i = 0; i < g->layout->inner_chunks; i++) {
        const zb__encoded *inner = &inner_chunks[i];
        const bool stored = inner->size > 0;
        if (chunk->inner_chunks[i].elements) {
            g->entries[2 * i] = stored ? end : ZB__INDEX_EMPTY;
            g->entries[2 * i + 1] = stored ? inner->size : ZB__INDEX_EMPTY;
        }
        g->any = g->any || g->entries[2 * i] != ZB__INDEX_EMPTY;
        if (!chunk->inner_chunks[i].elements || !stored)
            continue;
        g->parts[g->count++] = (zb_part){.data = inner->data, .size = inner->size};
        end += inner->size;
    }
    g->parts[g->count] = (zb_part){.data = g->index, .size = g->layout->shard->index_size};
}

static enum zb_code put(zb_writer *writer, const char *key, const growing *g, zb_error *err) {
    const zb_put_file file = {
        .object = g->live->object, .use = ZB_FILE_SHARE, .size = g->live->size};
    const zb_put put = {.key = key,
                        .parts = g->parts,
                        .count = g->count + 1,
                        .file = &file,
                        .sync = writer->options.sync,
                        .home = zb__node_home(writer->node),
                        .batch = &writer->batch};
    const enum zb_code code = zb__hierarchy_put(writer->node->hierarchy, &put, err);
    return code || !g->layout->fixed ? code : zb__journal_erase(writer->node, key, err);
}

/* Where the file system did not share them after all. */
static enum zb_code put_whole(zb_writer *writer, const char *key, const zb__buffered_chunk *chunk,
                              const growing *g, const zb__encoded *inner_chunks,
                              zb__scratch *scratch, zb_error *err) {
    const size_t n = (size_t)g->layout->inner_chunks;
    zb__encoded *all = calloc(n, sizeof *all);
    uint8_t *bytes = malloc((size_t)g->live->size);
    enum zb_code code =
        all && bytes ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for merging a shard");
    for (size_t i = 0; i < n && !code; i++)
        if (!chunk->inner_chunks[i].elements && g->entries[2 * i] != ZB__INDEX_EMPTY)
            all[i].size = (size_t)g->entries[2 * i + 1];
    if (!code)
        code = zb__inner_chunks_read(g->live->object, g->entries, all, n, bytes, err);
    for (size_t i = 0; i < n && !code; i++)
        if (chunk->inner_chunks[i].elements)
            all[i] = inner_chunks[i];
    if (!code)
        code = zb__chunk_put(writer, g->layout, key, all, ZB__PUT_NOW, scratch, err);
    free(all);
    free(bytes);
    return code;
}

enum zb_code zb__shared_blocks_put(zb_writer *writer, const char *key,
                                   const zb__buffered_chunk *chunk, const zb__live *live,
                                   const zb__encoded *inner_chunks, zb__scratch *scratch,
                                   zb_error *err) {
    const zb__write_layout *layout = chunk->layout;
    const size_t n = (size_t)layout->inner_chunks;
    growing g = {.layout = layout,
                 .live = live,
                 .entries = malloc(2 * n * sizeof *g.entries),
                 .parts = malloc((n + 1) * sizeof *g.parts),
                 .index = malloc(layout->shard->index_size)};
    enum zb_code code = g.entries && g.parts && g.index
                            ? ZB_OK
                            : zb_fail(err, ZB_ENOMEM, "no memory for merging a shard");
    if (!code) {
        lay_out(&g, chunk, inner_chunks);
        code = zb__shard_index_encode(layout->shard, scratch, g.entries, g.index, err);
    }
    if (!code && !g.any)
        code = zb__chunk_erase(writer, key, err);
    else if (!code && (code = put(writer, key, &g, err)) == ZB_EUNSUPPORTED)
        code = put_whole(writer, key, chunk, &g, inner_chunks, scratch, err);
    free(g.entries);
    free(g.parts);
    free(g.index);
    return code;
}
