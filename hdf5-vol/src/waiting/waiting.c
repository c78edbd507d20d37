/* SPDX-License-Identifier: MIT */
/* Attributes that wait: see waiting.h. */
#include "waiting/waiting.h"

#include "dataset/unreadable.h"
#include "file/owners.h"
#include "objects/changed.h"
#include "objects/tokens.h"
#include "tree/tree.h"

#include "zarrbridge/limits.h"

#include <stdlib.h>
#include <string.h>

/* ---- Lists of changes ---- */

#define FEWEST 8

/* ---- Finding ---- */

/* The name's slot, or the free one where it would be. Three quarters of the table are free. */
static size_t *slot_of(const vol_changes *changes, const char *name) {
    const size_t mask = 4 * changes->capacity - 1; /* capacities are powers of two */
    size_t i = (size_t)vol_hash(VOL_HASH_START, name, strlen(name));
    for (;; i++) {
        size_t *slot = &changes->slot[i & mask];
        if (*slot == 0)
            return slot;
        const vol_change *change = &changes->change[*slot - 1];
        if (change->name && strcmp(change->name, name) == 0)
            return slot;
    }
}

static vol_change *find(const vol_changes *changes, const char *name) {
    const size_t at = changes->capacity ? *slot_of(changes, name) : 0;
    return at ? &changes->change[at - 1] : NULL;
}

const vol_change *vol_changes_find(const vol_changes *changes, const char *name) {
    return find(changes, name);
}

/* ---- Changing ---- */

/* Capacity for one more; those of no use go. */
static bool reserve(vol_changes *changes) {
    if (changes->count < changes->capacity)
        return true;
    size_t used = 0;
    for (size_t i = 0; i < changes->count; i++)
        used += changes->change[i].name != NULL;
    size_t capacity = FEWEST;
    while (capacity < 2 * used + 1)
        capacity *= 2;
    vol_change *change = malloc(capacity * sizeof *change);
    size_t *slot = calloc(4 * capacity, sizeof *slot);
    if (!change || !slot) {
        free(change);
        free(slot);
        return false;
    }
    used = 0;
    for (size_t i = 0; i < changes->count; i++)
        if (changes->change[i].name)
            change[used++] = changes->change[i];
    free(changes->change);
    free(changes->slot);
    *changes = (vol_changes){.count = used, .capacity = capacity, .change = change, .slot = slot};
    for (size_t i = 0; i < used; i++)
        *slot_of(changes, change[i].name) = i + 1;
    return true;
}

/* A slot stays taken, so that names behind it are found. */
static void discard(vol_change *change) {
    zb_json_free(change->object);
    *change = (vol_change){.name = NULL};
}

static enum zb_code parse(const char *name, const char *json, vol_change *out, zb_error *err) {
    size_t size;
    zb_json_writer *writer = zb_json_writer_new();
    zb_json_begin_object(writer);
    zb_json_write_name(writer, name);
    zb_json_write_raw(writer, json ? json : "null");
    zb_json_end_object(writer);
    char *text = zb_json_writer_end(writer, &size);
    enum zb_code code = text ? zb_json_parse(text, size, &out->object, err)
                             : zb_fail(err, ZB_ENOMEM, "no memory for the text of '%s'", name);
    free(text);
    if (code)
        return code == ZB_EFORMAT ? zb_error_prefix(err, ZB_EINVAL, "this text is no JSON") : code;
    out->value = zb_json_first(out->object);
    out->name = zb_json_name(out->value);
    if (!json)
        out->value = NULL;
    return ZB_OK;
}

enum zb_code vol_changes_set(vol_changes *changes, const char *name, const char *json,
                             zb_error *err) {
    vol_change made = {.name = NULL};
    enum zb_code code = parse(name, json, &made, err);
    if (!code && !reserve(changes)) {
        zb_json_free(made.object);
        code = zb_fail(err, ZB_ENOMEM, "no memory for the change of '%s'", name);
    }
    if (code)
        return code;
    vol_change *old = find(changes, name);
    const bool in_place = old && (old->value || !made.value);
    made.anew = old && (in_place ? old->anew : true);
    if (old)
        discard(old);
    if (in_place) {
        *old = made;
        return ZB_OK;
    }
    changes->change[changes->count++] = made;
    *slot_of(changes, made.name) = changes->count;
    return ZB_OK;
}

bool vol_changes_remember(const vol_changes *changes, const char *name, vol_former *out) {
    const vol_change *change = find(changes, name);
    *out = (vol_former){.is_change = change != NULL, .anew = change && change->anew};
    if (change && change->value)
        out->json = zb_json_print(change->value);
    return !change || !change->value || out->json;
}

void vol_changes_restore(vol_changes *changes, const char *name, const vol_former *former) {
    vol_change *change = find(changes, name);
    if (change)
        discard(change);
    if (former->is_change && vol_changes_set(changes, name, former->json, NULL) == ZB_OK)
        find(changes, name)->anew = former->anew;
}

void vol_changes_clear(vol_changes *changes) {
    for (size_t i = 0; i < changes->count; i++)
        zb_json_free(changes->change[i].object);
    free(changes->change);
    free(changes->slot);
    *changes = (vol_changes){.count = 0};
}

/* ---- Changes of one node ---- */

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
