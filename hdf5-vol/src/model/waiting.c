/* SPDX-License-Identifier: MIT */
/* Attributes that wait: see waiting.h. */
#include "model/waiting.h"

#include "model/changed.h"
#include "model/large_attributes.h"
#include "model/node_life.h"
#include "model/side.h"

#include "zarrbridge/change.h"
#include "zarrbridge/limits.h"

#include <stdlib.h>
#include <string.h>

vol_waiting *vol_waiting_get(vol_node *node) {
    if (!node->waiting)
        node->waiting = calloc(1, sizeof *node->waiting);
    return node->waiting;
}

vol_waiting *vol_waiting_now(const vol_node *node) {
    return node->waiting;
}

void vol_waiting_forget(vol_node *node) {
    vol_waiting *waiting = node->waiting;
    if (!waiting)
        return;
    vol_changes_clear(&waiting->attributes);
    vol_changes_clear(&waiting->members);
    vol_changes_clear(&waiting->entries);
    vol_changes_clear(&waiting->links);
    vol_large_free(waiting->arrays, waiting->array_count);
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
    if (zb_node_store(node->zarr)->hints.is_local)
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

/* ---- Storing ---- */

/* The edits of one change of the document, with the texts in them. */
typedef struct edits {
    zb_attribute_edit *edit;
    size_t count;
    bool failed; /* memory ran out */
} edits;

static void edits_clear(edits *e) {
    for (size_t i = 0; i < e->count; i++) {
        free((char *)(uintptr_t)e->edit[i].value);
        free((char *)(uintptr_t)e->edit[i].former);
    }
    free(e->edit);
}

/* Without a value: an attribute that another program has removed meanwhile needs no removal. */
static void add_change(edits *e, const vol_change *change, const zb_json *now) {
    if (!change->name)
        return;
    if ((!change->value || change->anew) && zb_json_get(now, change->name))
        e->edit[e->count++] = (zb_attribute_edit){.name = change->name};
    if (!change->value)
        return;
    char *text = zb_json_print(change->value);
    e->failed |= !text;
    e->edit[e->count++] = (zb_attribute_edit){.name = change->name, .value = text};
}

/* `_hdf5` is made of the store's own of now, and stored only while that is the same. */
static enum zb_code add_side(edits *e, const vol_node *node, const zb_json *now, zb_error *err) {
    const zb_json *former = zb_json_get(now, VOL_SIDE);
    char *text;
    enum zb_code code = vol_side_print(node, now, &text, err);
    if (code || (!text && !former))
        return code;
    zb_attribute_edit edit = {.name = VOL_SIDE, .value = text, .checked = true};
    edit.former = former ? zb_json_print(former) : NULL;
    e->failed |= former && !edit.former;
    e->edit[e->count++] = edit;
    return ZB_OK;
}

static enum zb_code make_edits(const vol_node *node, const zb_json *now, edits *out,
                               zb_error *err) {
    const vol_waiting *waiting = node->waiting;
    const size_t most = 2 * waiting->attributes.count + 1;
    *out = (edits){.edit = calloc(most, sizeof *out->edit)};
    if (!out->edit)
        return zb_fail(err, ZB_ENOMEM, "no memory for the attributes of %s", node->path);
    for (size_t i = 0; i < waiting->attributes.count; i++)
        add_change(out, &waiting->attributes.change[i], now);
    enum zb_code code = ZB_OK;
    if (waiting->members.count > 0 || waiting->entries.count > 0 || waiting->links.count > 0)
        code = add_side(out, node, now, err);
    if (!code && out->failed)
        code = zb_fail(err, ZB_ENOMEM, "no memory for the attributes of %s", node->path);
    return code;
}

/* One attempt. ZB_ECONFLICT when another program has changed `_hdf5` in between. */
static enum zb_code store(vol_node *node, zb_error *err) {
    zb_node *now, *changed = NULL;
    edits e;
    enum zb_code code = zb_node_refresh(node->zarr, &now, err);
    if (code)
        return code;
    code = make_edits(node, zb_node_attributes(now), &e, err);
    if (!code && e.count > 0)
        code = zb_node_set_attributes(node->zarr, e.edit, e.count, &changed, err);
    edits_clear(&e);
    zb_node_release(now);
    if (code)
        return code;
    char **arrays = node->waiting->arrays;
    const size_t count = node->waiting->array_count;
    node->waiting->arrays = NULL;
    vol_waiting_forget(node);
    if (changed)
        vol_node_replace(node, changed);
    vol_large_sweep(node, arrays, count);
    vol_large_free(arrays, count);
    return ZB_OK;
}

enum zb_code vol_waiting_flush(vol_node *node, zb_error *err) {
    enum { ATTEMPTS = 10 };
    enum zb_code code = ZB_OK;
    if (!node->waiting)
        return ZB_OK;
    for (int i = 0; i < ATTEMPTS; i++)
        if ((code = store(node, err)) != ZB_ECONFLICT)
            break;
    return code;
}
