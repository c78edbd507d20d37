/* SPDX-License-Identifier: MIT */
/*
 * Repairs that need no judgement: left-overs of killed writers, and consolidated metadata. Each
 * step takes the same lock as the writers that it comes after.
 */
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "check/consolidated.h"
#include "check/walk.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "node/current.h"
#include "node/node.h"
#include "store/store.h"
#include "util/names.h"
#include "write/journal.h"
#include "write/writer.h"
#include "zarrbridge/change.h"
#include "zarrbridge/check.h"
#include "zarrbridge/sys/store.h"

/* A writer makes a hidden array before the attribute that names it is stored. */
#define UNNAMED_SECONDS (24 * 60 * 60)

typedef struct repairing {
    zb_hierarchy *hierarchy;
    zb_finding_fn fn;
    void *context;
    const char *prefix; /* of the directory that is swept */
    bool has_found;     /* something that was mended */
    bool stopped;       /* the caller has seen enough */
    enum zb_code code;  /* of the first left-over that could not be removed, told at the end: */
    zb_error error;     /* all else is mended before */
    zb__names groups;   /* groups whose block is out of date */
    zb__names unnamed;  /* hidden arrays that no attribute names */
} repairing;

static enum zb_code report(repairing *r, const char *key, const char *message) {
    zb_finding finding = {.kind = ZB_FINDING_STALE, .key = key, .message = message};
    r->has_found = true;
    r->stopped = r->stopped || r->fn(r->context, &finding) != 0;
    return r->stopped ? ZB_ECANCELLED : ZB_OK;
}

static int on_left_over(void *context, const zb_list_entry *entry) {
    repairing *r = context;
    char *key = zb__path_join(r->prefix, entry->name);
    int stop = report(r, key ? key : entry->name, "removed: left by a writer that was killed");
    free(key);
    return stop;
}

static enum zb_code on_directory(void *context, const char *prefix, zb_error *err) {
    repairing *r = context;
    r->prefix = prefix;
    zb_error error;
    (void)err;
    enum zb_code code =
        zb_store_sweep(r->hierarchy->store, prefix, ZB_SWEEP_REMOVE, on_left_over, r, &error);
    if (code && !r->code) {
        r->code = code;
        r->error = error;
    }
    return r->stopped ? ZB_ECANCELLED : ZB_OK;
}

static enum zb_code on_array(repairing *r, const zb_node *array, zb_error *err) {
    bool is_unnamed;
    enum zb_code code = zb__unnamed_is(r->hierarchy, array, &is_unnamed, err);
    return code || !is_unnamed
               ? code
               : zb__names_add(&r->unnamed, (zb__name){.text = strdup(array->path)}, err);
}

/* Hidden arrays go when the walk no longer needs them. Blocks are mended at the end, when
   everything else has its final state. */
static enum zb_code on_node(void *context, const zb_node *node, zb_error *err) {
    repairing *r = context;
    char why[ZB_MESSAGE_SIZE];
    bool dirty = false;
    if (node->array)
        return on_array(r, node, err);
    enum zb_code code = zb__consolidated_compare(node, why, err);
    if (!code)
        code = zb__consolidated_is_dirty(node, &dirty, err);
    if (code || (!*why && !dirty))
        return code;
    return zb__names_add(&r->groups, (zb__name){.text = strdup(node->path)}, err);
}

/* The layout of the chunk of a key, with its form. */
static enum zb_code layout_of(const zb_node *node, const char *key,
                              const zb__chunk_layout **chunk_layout, zb__write_layout *layout,
                              zb_error *err) {
    const zb__array *array = node->array;
    const char *below = zb__path_below(key, node->path);
    uint64_t index[ZB_MAX_NDIM] = {0};
    if (below)
        (void)zb__chunk_key_parse(&array->keys, array->info.ndim, below, index);
    enum zb_code code = zb__write_layout_init(layout, array, err);
    if (!code)
        code = zb__array_chunk_layout(array, index, chunk_layout, err);
    if (!code && *chunk_layout != array->layout)
        code = zb__write_layout_shape(layout, *chunk_layout, err);
    if (code) {
        zb__array_chunk_layout_end(array, *chunk_layout);
        free(layout->fill);
    }
    return code;
}

/* Where the store has no locks, a writer could be at work: nothing is undone then. */
static enum zb_code on_journal(void *context, const zb_node *array, const char *key,
                               zb_error *err) {
    repairing *r = context;
    const zb__chunk_layout *chunk_layout = NULL;
    zb__write_layout layout;
    zb_lock *lock = NULL;
    bool undone = false;
    enum zb_code code = layout_of(array, key, &chunk_layout, &layout, err);
    bool known = code != ZB_EINVAL; /* else the grid has no such chunk: nothing can be undone */
    if (code && known)
        return code;
    const zb_locking locking = {.key = key, .home = zb__node_home(array)};
    code = zb_store_lock_as(r->hierarchy->store, &locking, &lock, err);
    if (!code)
        code = known ? zb__journal_replay(array, &layout, key, &undone, err)
                     : zb__journal_erase(array, key, err);
    zb_store_unlock(lock);
    if (known) {
        zb__array_chunk_layout_end(array->array, chunk_layout);
        free(layout.fill);
    }
    if (code)
        return zb_error_prefix(err, code, "'%s'", key);
    return report(r, key,
                  undone ? "undone: a change that was killed" : "removed: a journal without use");
}

/* Resizing to the shape that it has does the rest. */
static enum zb_code on_resizing(void *context, const zb_node *array, const char *key,
                                zb_error *err) {
    zb_node *now = NULL;
    enum zb_code code = zb_array_resize(array, array->array->info.shape, &now, err);
    zb_node_release(now);
    return code ? code : report(context, key, "finished: shrinking the array");
}

/* True if the document is so old that no writer is still to name the array. */
static enum zb_code is_orphaned(repairing *r, const char *path, bool *out, zb_error *err) {
    zb_object_info info;
    char *key = zb__path_join(path, "zarr.json");
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "no memory for a key");
    enum zb_code code = zb_store_stat(zb__place_of(r->hierarchy, key), key, &info, err);
    *out = !code && info.age > UNNAMED_SECONDS * (int64_t)1000000000;
    free(key);
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

static enum zb_code delete_unnamed(repairing *r, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < r->unnamed.count && !code; i++) {
        const char *path = r->unnamed.name[i].text;
        bool orphaned = false;
        code = is_orphaned(r, path, &orphaned, err);
        if (code || !orphaned)
            continue;
        code = zb_node_delete(r->hierarchy, path, err);
        if (!code)
            code = report(r, path, "removed: no attribute names this hidden array");
        else if (code == ZB_ENOTFOUND)
            code = ZB_OK;
    }
    return code;
}

static enum zb_code refresh_blocks(repairing *r, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < r->groups.count && !code; i++) {
        const char *path = r->groups.name[i].text;
        char *key = zb__path_join(path, "zarr.json");
        code = key ? zb_group_consolidate(r->hierarchy, path, err)
                   : zb_fail(err, ZB_ENOMEM, "no memory for a key");
        if (!code)
            code = report(r, key, "brought up to date: consolidated metadata");
        free(key);
    }
    return code;
}

enum zb_code zb_hierarchy_repair(zb_hierarchy *hierarchy, zb_finding_fn fn, void *context,
                                 zb_error *err) {
    repairing r = {.hierarchy = hierarchy, .fn = fn, .context = context};
    const zb__visitor visitor = {.context = &r,
                                 .directory = on_directory,
                                 .node = on_node,
                                 .journal = on_journal,
                                 .resizing = on_resizing};
    if (!hierarchy->store->ops->put)
        return zb__store_fail_read_only(hierarchy->store, err);
    bool is_missing;
    enum zb_code code = zb__check_walk(hierarchy, &visitor, &is_missing, err);
    if (!code && is_missing && !r.has_found)
        code = zb__check_missing(hierarchy, err);
    if (!code)
        code = delete_unnamed(&r, err);
    if (!code)
        code = refresh_blocks(&r, err);
    zb__names_free(&r.unnamed);
    zb__names_free(&r.groups);
    if (!code && r.code && err)
        *err = r.error;
    code = code ? code : r.code;
    return r.stopped && code == ZB_ECANCELLED ? ZB_OK : code;
}
