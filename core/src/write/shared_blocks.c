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

static enum zb_code put(zb_writer *writer, const char *key, const zb__write_layout *layout,
                        const zb__live *live, const zb__grown *g, zb_error *err) {
    const zb_put_file file = {.object = live->object, .use = ZB_FILE_SHARE, .size = live->size};
    const zb_put put = {.key = key,
                        .parts = g->parts,
                        .count = g->count + 1,
                        .file = &file,
                        .sync = writer->options.sync,
                        .home = zb__node_home(writer->node),
                        .batch = &writer->batch};
    const enum zb_code code = zb__hierarchy_put(writer->node->hierarchy, &put, err);
    return code || !layout->fixed ? code : zb__journal_erase(writer->node, key, err);
}

/* Where the file system did not share them after all. */
static enum zb_code put_whole(zb_writer *writer, const char *key, const zb__buffered_chunk *chunk,
                              const zb__live *live, const zb__encoded *inner_chunks,
                              zb__scratch *scratch, zb_error *err) {
    const size_t n = (size_t)chunk->layout->inner_chunks;
    zb__encoded *all = calloc(n, sizeof *all);
    uint8_t *bytes = malloc((size_t)live->size);
    enum zb_code code =
        all && bytes ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for merging a shard");
    for (size_t i = 0; i < n && !code; i++)
        if (!chunk->inner_chunks[i].elements && live->entries[2 * i] != ZB__INDEX_EMPTY)
            all[i].size = (size_t)live->entries[2 * i + 1];
    if (!code)
        code = zb__inner_chunks_read(live->object, live->entries, all, n, bytes, err);
    for (size_t i = 0; i < n && !code; i++)
        if (chunk->inner_chunks[i].elements)
            all[i] = inner_chunks[i];
    if (!code)
        code = zb__chunk_put(writer, chunk->layout, key, all, ZB__PUT_NOW, scratch, err);
    free(all);
    free(bytes);
    return code;
}

enum zb_code zb__shared_blocks_put(zb_writer *writer, const char *key,
                                   const zb__buffered_chunk *chunk, const zb__live *live,
                                   const zb__encoded *inner_chunks, zb__scratch *scratch,
                                   zb_error *err) {
    const zb__write_layout *layout = chunk->layout;
    zb__grown g;
    enum zb_code code = zb__grown_make(chunk, live, inner_chunks, &g, err);
    if (!code) {
        g.parts[g.count] = (zb_part){.data = g.index, .size = layout->shard->index_size};
        code = zb__shard_index_encode(layout->shard, scratch, g.entries, g.index, err);
    }
    if (!code && !g.any)
        code = zb__chunk_erase(writer, key, err);
    else if (!code && (code = put(writer, key, layout, live, &g, err)) == ZB_EUNSUPPORTED)
        code = put_whole(writer, key, chunk, live, inner_chunks, scratch, err);
    zb__grown_clear(&g);
    return code;
}
