/* SPDX-License-Identifier: MIT */
#include "check/walk_named.h"

#include <stdlib.h>

#include "change/copy_named.h"
#include "hierarchy/path.h"
#include "model/array.h"
#include "node/node.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

typedef struct walk {
    zb_hierarchy *hierarchy;
    const zb__visitor *visitor;
    const zb_node *array; /* whose chunks are visited */
    enum zb_code code;
    zb_error *err;
} walk;

static enum zb_code visit_chunk(void *context, const char *key, const uint64_t *index,
                                zb_error *err) {
    const walk *w = context;
    return w->visitor->chunk(w->visitor->context, w->array, key, index, err);
}

static enum zb_code report(const walk *w, const char *path, const char *message) {
    const zb__visitor *v = w->visitor;
    char *key = zb__path_join(path, "zarr.json");
    enum zb_code code = key ? v->other(v->context, ZB_FINDING_UNCHECKED, key, message, w->err)
                            : zb_fail(w->err, ZB_ENOMEM, "no memory for a key");
    free(key);
    return code;
}

static enum zb_code visit_chunks(walk *w, const zb_node *array) {
    if (zb__array_count_chunks(array->array) > ZB__MOST_NAMED_CHUNKS)
        return report(w, array->path,
                      "the grid has too many chunks to ask for each, and the store cannot list "
                      "those that there are");
    w->array = array;
    return zb__named_chunks(array, visit_chunk, w, w->err);
}

static int on_entry(void *context, const zb_entry *entry) {
    walk *w = context;
    zb_node *node = NULL;
    if (entry->reason) {
        w->code = report(w, entry->path, entry->reason);
        return w->code;
    }
    w->code = zb_node_open(w->hierarchy, entry->path, &node, w->err);
    if (!w->code)
        w->code = w->visitor->node(w->visitor->context, node, w->err);
    if (!w->code && node->array)
        w->code = visit_chunks(w, node);
    zb_node_release(node);
    return w->code;
}

enum zb_code zb__check_walk_named(zb_hierarchy *hierarchy, const zb__visitor *visitor,
                                  zb_error *err) {
    walk w = {.hierarchy = hierarchy, .visitor = visitor, .err = err};
    const enum zb_code code = zb_node_each(hierarchy, "", on_entry, &w, err);
    return w.code ? w.code : code;
}
