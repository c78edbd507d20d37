/* SPDX-License-Identifier: MIT */
#include "read/missing.h"

#include <stdlib.h>

#include "node/current.h"
#include "node/node.h"
#include "zarrbridge/sys/store.h"

/* Looks for chunks that are in doubt, until their array counts as gone: a chunk that another
   program stores between two looks is in doubt as well. */
#define TRIES 8

/* Frees the names. */
static bool lacks(const zb_node *node, char **names, size_t count) {
    const bool all = count == 0 || zb_store_lacks(zb__node_store(node), node->path, node->home,
                                                  (const char *const *)names, count);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    return all;
}

/* NULL when each chunk that was not found is not stored, else an array of which that is not
   sure. */
static const zb_node *doubt(const zb__stored_chunk *chunks, size_t count) {
    char *names[ZB__MISSING_TOGETHER];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const zb_node *node = chunks[i].node;
        bool known = true;
        if (chunks[i].is_missing)
            zb__array_note_missing(node);
        if (chunks[i].is_missing && node->home && !chunks[i].is_fresh) {
            names[n] = zb__array_chunk_key(node, chunks[i].index);
            known = names[n] != NULL;
            n += known;
        }
        if (known && n < ZB__MISSING_TOGETHER && i + 1 < count && chunks[i + 1].node == node)
            continue;
        if (!lacks(node, names, n) || !known)
            return node;
        n = 0;
    }
    return NULL;
}

enum zb_code zb__missing_surely(zb__stored_chunk *chunks, size_t count, zb__look_fn look,
                                void *context, zb_error *err) {
    for (int tries = 1;; tries++) {
        const enum zb_code code = look(context, chunks, count, err);
        const zb_node *array = code ? NULL : doubt(chunks, count);
        if (!array || tries == TRIES)
            return array ? zb__array_gone(array, err) : code;
    }
}
