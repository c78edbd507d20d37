/* SPDX-License-Identifier: MIT */
#include "read/missing.h"

#include <stdlib.h>

#include "node/current.h"
#include "node/node.h"
#include "read/expand.h"
#include "zarrbridge/sys/store.h"

/* Chunks that one question is about. */
#define MOST 64

/* Frees the names. */
static bool lacks(const zb_node *node, char **names, size_t count) {
    const bool all = count == 0 || zb_store_lacks(node->store, node->path, node->home,
                                                  (const char *const *)names, count);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    return all;
}

const zb_node *zb__missing_doubt(const zb__stored_chunk *chunks, size_t count) {
    char *names[MOST];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const zb_node *node = chunks[i].node;
        bool known = true;
        if (chunks[i].is_missing && node->home) {
            names[n] = zb__array_chunk_key(node, chunks[i].index);
            known = names[n] != NULL;
            n += known;
        }
        if (known && n < MOST && i + 1 < count && chunks[i + 1].node == node)
            continue;
        if (!lacks(node, names, n) || !known)
            return node;
        n = 0;
    }
    return NULL;
}

enum zb_code zb__missing_open(zb__stored_chunk *chunk, zb_error *err) {
    for (int tries = 1;; tries++) {
        const enum zb_code code = zb__stored_chunk_open(chunk, err);
        if (code || !chunk->is_missing)
            return code;
        zb__array_note_missing(chunk->node);
        const zb_node *doubtful = zb__missing_doubt(chunk, 1);
        if (!doubtful || tries == ZB__MISSING_TRIES)
            return doubtful ? zb__array_gone(doubtful, err) : ZB_OK;
    }
}
