/* SPDX-License-Identifier: MIT */
/*
 * The frame of every change of documents. One lock for the whole hierarchy, that of the root's
 * document, keeps changes in line: an operation looks at groups above, puts or erases several
 * documents, and a finer lock would have to cover all of those. Changes are short, except for those
 * that erase many chunks.
 *
 * Where a store should have locks and gives none (some network file systems), changes are refused:
 * two processes that change one hierarchy at once would lose changes of documents in silence.
 */
#include "change/change.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "change/consolidated.h"
#include "model/build.h"
#include "node/document.h"
#include "node/edit.h"
#include "node/node.h"
#include "node/v2.h"
#include "zarrbridge/json.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"

/* ---- Lists of documents ------------------------------------------------------------------- */

enum zb_code zb__entries_add(zb__entries *entries, const char *path, zb__document *document,
                             zb_error *err) {
    char *copy = strdup(path);
    if (!copy || !zb__list_grow(&entries->entry, entries->count, &entries->capacity,
                                sizeof *entries->entry)) {
        free(copy);
        zb__document_free(document);
        return zb_fail(err, ZB_ENOMEM, "out of memory for a list of documents");
    }
    entries->entry[entries->count++] = (zb__entry){.path = copy, .document = *document};
    return ZB_OK;
}

void zb__entries_free(zb__entries *entries) {
    for (size_t i = 0; i < entries->count; i++) {
        free(entries->entry[i].path);
        zb__document_free(&entries->entry[i].document);
    }
    free(entries->entry);
    *entries = (zb__entries){.count = 0};
}

static bool contains(const zb__entries *entries, const char *path) {
    for (size_t i = 0; i < entries->count; i++) {
        if (strcmp(entries->entry[i].path, path) == 0)
            return true;
    }
    return false;
}

/* ---- Before ------------------------------------------------------------------------------- */

enum zb_code zb__change_begin(zb_store *store, zb__change *change, zb_error *err) {
    *change = (zb__change){.store = store};
    if (!store->ops->put)
        return zb_fail(err, ZB_EUNSUPPORTED, "store %s cannot be written", store->label);
    if (!store->ops->lock) /* a store that is not shared */
        return ZB_OK;
    enum zb_code code = zb_store_lock(store, "zarr.json", &change->lock, err);
    if (code == ZB_EUNSUPPORTED)
        zb_error_prefix(err, code, "%s",
                        "without a lock documents cannot be changed safely (set "
                        "ZARRBRIDGE_LOCKS=none where nobody else writes the store)");
    return code ? zb_error_prefix(err, code, "store %s", store->label) : ZB_OK;
}

enum zb_code zb__document_put(zb_store *store, const char *key, const void *data, size_t size,
                              zb_error *err) {
    zb_part part = {.data = data, .size = size};
    zb_put put = {.key = key,
                  .parts = &part,
                  .count = 1,
                  .sync = (enum zb_sync)atomic_load(&store->sync),
                  .in_order = true};
    return zb_store_put_as(store, &put, err);
}

static enum zb_code add_missing(zb__change *change, const char *path, zb_error *err) {
    zb__document document;
    char *text;
    size_t size;
    if (contains(&change->missing, path))
        return ZB_OK;
    enum zb_code code = zb__build_group(NULL, &text, &size, err);
    if (!code)
        code = zb__document_parse(text, size, "the new group", &document, err);
    return code ? code : zb__entries_add(&change->missing, path, &document, err);
}

/* Looks at one group above. Only the members that matter here are checked: a group that we cannot
   open for other reasons may still have children. */
static enum zb_code look_at(zb__change *change, const char *path, bool create, zb_error *err) {
    char *text;
    size_t size;
    zb__document document;
    enum zb_code code = zb__node_read(change->store, path, &text, &size, err);
    if (code == ZB_ENOTFOUND && create) {
        code = zb__v2_refuse(change->store, path, err);
        return code ? code : add_missing(change, path, err);
    }
    if (code == ZB_ENOTFOUND)
        return ZB_OK;
    if (code)
        return zb__node_blame(change->store, "group", path, code, err);
    code = zb__document_parse(text, size, "zarr.json", &document, err);
    if (code)
        return zb__node_blame(change->store, "group", path, code, err);
    const char *type = zb_json_string(zb_json_get(document.json, "node_type"));
    if (create && !(type && strcmp(type, "group") == 0)) {
        zb__document_free(&document);
        return zb_fail(err, ZB_ECONFLICT, "store %s: /%s is no group, nothing can be created below",
                       change->store->label, path);
    }
    if (zb__consolidated_has(&document) && !contains(&change->owners, path))
        return zb__entries_add(&change->owners, path, &document, err);
    zb__document_free(&document);
    return ZB_OK;
}

enum zb_code zb__change_above(zb__change *change, const char *path, bool create, zb_error *err) {
    if (*path == '\0')
        return ZB_OK;
    char *above = strdup(path);
    if (!above)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a path");
    /* "", then up to each slash in turn. */
    char *end = above;
    enum zb_code code = ZB_OK;
    while (end && !code) {
        char kept = *end;
        *end = '\0';
        code = look_at(change, above, create, err);
        *end = kept;
        end = strchr(end == above ? end : end + 1, '/');
    }
    free(above);
    return code;
}

enum zb_code zb__change_expect_none(zb__change *change, const char *path, zb_error *err) {
    zb_object_info info;
    char *key = zb__path_join(path, "zarr.json");
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    enum zb_code code = zb_store_stat(change->store, key, &info, err);
    free(key);
    if (code == ZB_ENOTFOUND)
        return zb__v2_refuse(change->store, path, err);
    if (!code)
        return zb_fail(err, ZB_ECONFLICT, "store %s: there is a node at /%s already",
                       change->store->label, path);
    return zb__node_blame(change->store, "node", path, code, err);
}

/* ---- Changing ----------------------------------------------------------------------------- */

static enum zb_code put_text(zb_store *store, const char *path, const char *text, size_t size,
                             zb_error *err) {
    char *key = zb__path_join(path, "zarr.json");
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    enum zb_code code = zb__document_put(store, key, text, size, err);
    free(key);
    return code ? zb__node_blame(store, "node", path, code, err) : ZB_OK;
}

/* A copy to work on. */
static enum zb_code copy_document(const zb__document *document, zb__document *out, zb_error *err) {
    char *text = malloc(document->size + 1);
    if (!text)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a document");
    memcpy(text, document->text, document->size + 1);
    return zb__document_parse(text, document->size, "zarr.json", out, err);
}

enum zb_code zb__change_drop(zb__change *change, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < change->owners.count && !code; i++) {
        const zb__entry *owner = &change->owners.entry[i];
        zb__document bare;
        code = copy_document(&owner->document, &bare, err);
        if (code)
            break;
        change->dropped = true; /* perhaps not this block: putting it back does no harm */
        code = zb__document_edit(&bare, NULL, "consolidated_metadata", NULL, NULL, err);
        if (!code)
            code = put_text(change->store, owner->path, bare.text, bare.size, err);
        zb__document_free(&bare);
    }
    return code;
}

enum zb_code zb__change_note(zb__change *change, const char *path, const char *text, size_t size,
                             zb_error *err) {
    zb__document document = {.text = malloc(size + 1), .size = size};
    if (!document.text)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a document");
    memcpy(document.text, text, size);
    document.text[size] = '\0';
    enum zb_code code = zb__document_parse(document.text, size, "zarr.json", &document, err);
    return code ? code : zb__entries_add(&change->put, path, &document, err);
}

void zb__change_forget(zb__change *change, size_t count) {
    while (change->put.count > count) {
        zb__entry *last = &change->put.entry[--change->put.count];
        free(last->path);
        zb__document_free(&last->document);
    }
}

/* The document is noted first, because noting can fail as well; a document that is not in the store
   must not stay noted. Where no group above has a block, no note is needed. */
enum zb_code zb__change_put(zb__change *change, const char *path, const char *text, size_t size,
                            zb_error *err) {
    size_t count = change->put.count;
    enum zb_code code =
        change->owners.count ? zb__change_note(change, path, text, size, err) : ZB_OK;
    if (!code)
        code = put_text(change->store, path, text, size, err);
    if (code)
        zb__change_forget(change, count);
    return code;
}

enum zb_code zb__change_put_missing(zb__change *change, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < change->missing.count && !code; i++) {
        const zb__entry *group = &change->missing.entry[i];
        code = zb__change_put(change, group->path, group->document.text, group->document.size, err);
    }
    return code;
}

/* The documents that this change put at or below path, those of a copy that is undone, have gone
   with it. */
static void forget_put(zb__change *change, const char *path) {
    size_t kept = 0;
    for (size_t i = 0; i < change->put.count; i++) {
        zb__entry *entry = &change->put.entry[i];
        if (strcmp(entry->path, path) == 0 || zb__path_below(entry->path, path)) {
            free(entry->path);
            zb__document_free(&entry->document);
        } else {
            change->put.entry[kept++] = *entry;
        }
    }
    change->put.count = kept;
}

/* Takes over the path. */
static void set_erased(zb__change *change, char *path) {
    free(change->erased);
    change->erased = path;
    forget_put(change, path);
}

enum zb_code zb__change_note_erased(zb__change *change, const char *path, zb_error *err) {
    char *erased = strdup(path);
    if (!erased)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a path");
    set_erased(change, erased);
    return ZB_OK;
}

enum zb_code zb__change_erase(zb__change *change, const char *path, bool all, zb_error *err) {
    char *key = zb__path_join(path, "zarr.json");
    char *erased = all ? strdup(path) : NULL;
    enum zb_code code = key && (erased || !all)
                            ? zb_store_erase(change->store, key, err)
                            : zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    free(key);
    if (code) {
        free(erased);
        return zb__node_blame(change->store, "node", path, code, err);
    }
    if (all)
        set_erased(change, erased);
    return ZB_OK;
}

/* ---- After -------------------------------------------------------------------------------- */

/* The blocks tell of the documents that are there, also after a failure half-way. When this fails,
   the group goes on without a block, as zb__change_drop left it; it is a hint, and the change
   itself has been made. */
static void put_back(zb__change *change, zb__entry *owner) {
    bool changed = change->put.count > 0 || change->erased;
    if (changed &&
        zb__consolidated_update(&owner->document, owner->path, &change->put, change->erased, NULL))
        return;
    if (owner->document.size <= zb_limits_get()->consolidated_bytes)
        (void)put_text(change->store, owner->path, owner->document.text, owner->document.size,
                       NULL);
}

enum zb_code zb__change_end(zb__change *change, enum zb_code code, zb_error *err) {
    zb_store *store = change->store;
    for (size_t i = 0; i < change->owners.count && change->dropped; i++)
        put_back(change, &change->owners.entry[i]);
    zb_store_unlock(change->lock);
    zb__entries_free(&change->owners);
    zb__entries_free(&change->missing);
    zb__entries_free(&change->put);
    free(change->erased);
    *change = (zb__change){.store = NULL};
    /* Erasing and moving become durable with a flush only. */
    bool at_once = atomic_load(&store->sync) == ZB_SYNC_ALWAYS;
    return code == ZB_OK && at_once ? zb_store_flush(store, err) : code;
}
