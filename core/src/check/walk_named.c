/* SPDX-License-Identifier: MIT */
#include "check/walk_named.h"

#include <stdlib.h>

#include "model/array.h"
#include "node/document.h"
#include "node/node.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* Each chunk costs a request, whether it is stored or not. */
#define MOST_CHUNKS (1u << 20)

typedef struct walk {
    zb_store *store;
    const zb__visitor *visitor;
    enum zb_code code;
    zb_error *err;
} walk;

static enum zb_code visit_chunk(const walk *w, const zb_node *array, const uint64_t *index) {
    char *key = zb__array_chunk_key(array, index);
    enum zb_code code = key ? w->visitor->chunk(w->visitor->context, array, key, index, w->err)
                            : zb_fail(w->err, ZB_ENOMEM, "no memory for a key");
    free(key);
    return code;
}

static enum zb_code report(const walk *w, const char *path, const char *message) {
    const zb__visitor *v = w->visitor;
    char *key = zb__path_join(path, "zarr.json");
    enum zb_code code = key ? v->other(v->context, ZB_FINDING_UNCHECKED, key, message, w->err)
                            : zb_fail(w->err, ZB_ENOMEM, "no memory for a key");
    free(key);
    return code;
}

static enum zb_code visit_chunks(const walk *w, const zb_node *array) {
    uint64_t index[ZB_MAX_NDIM] = {0};
    const uint64_t count = zb__array_count_chunks(array->array);
    enum zb_code code = ZB_OK;
    if (count > MOST_CHUNKS)
        return report(w, array->path,
                      "the grid has too many chunks to ask for each, and the store cannot list "
                      "those that there are");
    for (uint64_t i = 0; i < count && code == ZB_OK; i++) {
        code = visit_chunk(w, array, index);
        zb__array_next_chunk(array->array, index);
    }
    return code;
}

static int on_entry(void *context, const zb_entry *entry) {
    walk *w = context;
    zb_node *node = NULL;
    if (entry->reason) {
        w->code = report(w, entry->path, entry->reason);
        return w->code;
    }
    w->code = zb_node_open(w->store, entry->path, &node, w->err);
    if (!w->code)
        w->code = w->visitor->node(w->visitor->context, node, w->err);
    if (!w->code && node->array)
        w->code = visit_chunks(w, node);
    zb_node_release(node);
    return w->code;
}

enum zb_code zb__check_walk_named(zb_store *store, const zb__visitor *visitor, zb_error *err) {
    walk w = {.store = store, .visitor = visitor, .err = err};
    const enum zb_code code = zb_node_each(store, "", on_entry, &w, err);
    return w.code ? w.code : code;
}
