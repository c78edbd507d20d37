/* SPDX-License-Identifier: MIT */
/* A stored shard that gets new inner chunks behind its bytes: where `append` writes them into the
   object (live.c), and where another object shares the old one's blocks (shared_blocks.c). */
#include <stdlib.h>
#include <string.h>

#include "codec/shard_index.h"
#include "write/writer.h"

void zb__grown_clear(zb__grown *g) {
    free(g->entries);
    free(g->parts);
    free(g->inner_chunks);
    free(g->index);
    *g = (zb__grown){.entries = NULL};
}

enum zb_code zb__grown_make(const zb__buffered_chunk *chunk, const zb__live *live,
                            const zb__encoded *inner_chunks, zb__grown *g, zb_error *err) {
    const size_t n = (size_t)chunk->layout->inner_chunks;
    *g = (zb__grown){.entries = malloc(2 * n * sizeof *g->entries),
                     .parts = malloc((n + 1) * sizeof *g->parts),
                     .inner_chunks = malloc(n * sizeof *g->inner_chunks),
                     .index = malloc(chunk->layout->shard->index_size),
                     .end = live->size};
    if (!g->entries || !g->parts || !g->inner_chunks || !g->index)
        return zb_fail(err, ZB_ENOMEM, "no memory for changing a shard");
    for (uint64_t i = 0; i < n; i++) {
        uint64_t *entry = &g->entries[2 * i];
        const zb__encoded *inner = &inner_chunks[i];
        memcpy(entry, &live->entries[2 * i], 2 * sizeof *entry);
        if (chunk->inner_chunks[i].elements) {
            bool stored = inner->size > 0;
            g->changed = g->changed || stored || entry[0] != ZB__INDEX_EMPTY;
            entry[0] = stored ? g->end : ZB__INDEX_EMPTY;
            entry[1] = stored ? inner->size : ZB__INDEX_EMPTY;
        }
        g->any = g->any || entry[0] != ZB__INDEX_EMPTY;
        if (chunk->inner_chunks[i].elements && inner->size > 0) {
            g->inner_chunks[g->count] = i;
            g->parts[g->count++] = (zb_part){.data = inner->data, .size = inner->size};
            g->end += inner->size;
        }
    }
    return ZB_OK;
}
