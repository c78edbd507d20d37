/* SPDX-License-Identifier: MIT */
/* Attributes that wait: see waiting.h. */
#include "tree/waiting.h"

#include "dataset/unreadable.h"
#include "file/owners.h"
#include "objects/changed.h"
#include "tree/tree.h"

#include "zarrbridge/limits.h"

#include <stdlib.h>
#include <string.h>

enum zb_code vol_waiting_check(const vol_node *node, zb_error *err) {
    if (!node->zarr)
        return zb_fail(err, ZB_EINVAL,
                       "the store '%s' is a single array: attributes belong to its dataset",
                       node->file->shown);
    enum zb_code code = zb_node_may_change(node->zarr, err);
    return code ? code : vol_unreadable_refuse(node, err);
}

vol_waiting *vol_waiting_get(vol_node *node) {
    vol_owners_note(node);
    if (!node->waiting)
        node->waiting = calloc(1, sizeof *node->waiting);
    return node->waiting;
}

void vol_waiting_free_arrays(char **arrays, size_t count) {
    for (size_t i = 0; i < count && arrays; i++)
        free(arrays[i]);
    free(arrays);
}

char **vol_waiting_take_arrays(vol_node *node, size_t *count) {
    char **arrays = node->waiting->arrays;
    *count = node->waiting->array_count;
    node->waiting->arrays = NULL;
    return arrays;
}

void vol_waiting_forget(vol_node *node) {
    vol_waiting *waiting = node->waiting;
    if (!waiting)
        return;
    vol_changes_clear(&waiting->attributes);
    vol_changes_clear(&waiting->members);
    vol_changes_clear(&waiting->entries);
    vol_changes_clear(&waiting->links);
    vol_waiting_free_arrays(waiting->arrays, waiting->array_count);
    free(waiting);
    node->waiting = NULL;
}

/* ---- Attributes as they will be ---- */

static const zb_json *stored(const vol_node *node) {
    return node->zarr ? zb_node_attributes(node->zarr) : NULL;
}

const zb_json *vol_attribute(const vol_node *node, const char *name) {
    const vol_change *change =
        node->waiting ? vol_changes_find(&node->waiting->attributes, name) : NULL;
    return change ? change->value : zb_json_get(stored(node), name);
}

/* The document's attributes stand where they stood, unless they were made anew. */
const zb_json *vol_attribute_next(const vol_node *node, vol_attribute_walk *walk) {
    const vol_changes *changes = node->waiting ? &node->waiting->attributes : NULL;
    while (!walk->began || walk->document) {
        walk->document = walk->began ? zb_json_next(walk->document) : zb_json_first(stored(node));
        walk->began = true;
        const zb_json *value = walk->document;
        const vol_change *change =
            value && changes ? vol_changes_find(changes, zb_json_name(value)) : NULL;
        if (value && !change)
            return value;
        if (change && change->value && !change->anew)
            return change->value;
    }
    while (changes && walk->added < changes->count) {
        const vol_change *change = &changes->change[walk->added++];
        if (change->value && (change->anew || !zb_json_get(stored(node), change->name)))
            return change->value;
    }
    return NULL;
}

/* ---- The size of the document ---- */

/* A server is not asked for it: the text is made here, without indentation. */
static uint64_t measure(const vol_node *node) {
    zb_object_info info;
    if (zb_hierarchy_is_local(zb_node_hierarchy(node->zarr)))
        return vol_document_info(node, "zarr.json", &info) ? info.size : 0;
    char *text = zb_json_print(zb_node_document(node->zarr));
    const uint64_t size = text ? strlen(text) : 0;
    free(text);
    return size + size / 2;
}

/* Changes stand indented in the document, with descriptions of their types: about twice their
   text. */
bool vol_waiting_crowds(vol_node *node, size_t bytes) {
    const uint64_t limit = zb_limits_get()->document_bytes,
                   waits = node->waiting ? node->waiting->bytes : 0;
    if (!node->zarr)
        return false;
    if (!node->document_bytes)
        node->document_bytes = measure(node);
    return node->document_bytes + 2 * (waits + bytes) > limit - limit / 8;
}

void vol_waiting_document_changed(vol_node *node) {
    node->document_bytes = 0;
}
