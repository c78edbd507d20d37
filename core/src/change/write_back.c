/* SPDX-License-Identifier: MIT */
/*
 * The order of steps, so that a kill at any point leaves a store that is right:
 *
 * put marker | put document without block | changes ... | put document with block | erase marker
 *
 * A marker beside a document that has a block means nothing. A marker that a killed process has
 * left makes the next writer, or zb_hierarchy_repair, put the block back.
 *
 * Only paths are remembered of changes. What stands in the store when a block is put back decides,
 * so that changes that failed half-way, or were made by others between, do no harm.
 */
#include "change/write_back.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change/consolidated_block.h"
#include "change/put.h"
#include "hierarchy/lock_scope.h"
#include "hierarchy/markers.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "node/document.h"
#include "node/node.h"
#include "util/fork.h"
#include "util/json.h"
#include "util/names.h"
#include "util/token.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"

/* One block that is dirty. */
typedef struct dirty_block {
    struct dirty_block *next;
    char *path; /* of the group */
    char token[ZB__TOKEN_SIZE];
    bool is_known;    /* old, put and erased tell all: else the block is made of all documents */
    zb__document old; /* the group's document with its block */
    zb__names put, erased;
} dirty_block;

typedef struct dirty_blocks {
    zb__write_back base; /* first: the hierarchy knows this part */
    pthread_mutex_t lock;
    zb__fork_guard guard; /* of lock */
    dirty_block *first;   /* guarded by lock */
} dirty_blocks;

/* ---- Dirty blocks
   -------------------------------------------------------------------------------- */

static void dirty_block_free(dirty_block *d) {
    zb__document_free(&d->old);
    zb__names_free(&d->put);
    zb__names_free(&d->erased);
    free(d->path);
    free(d);
}

static void lose_track(dirty_block *d) {
    d->is_known = false;
    zb__document_free(&d->old);
    zb__names_free(&d->put);
    zb__names_free(&d->erased);
}

static enum zb_code dirty_block_new(const char *path, dirty_block **out, zb_error *err) {
    dirty_block *d = calloc(1, sizeof *d);
    if (d)
        d->path = strdup(path);
    if (!d || !d->path) {
        free(d);
        return zb_fail(err, ZB_ENOMEM, "out of memory for consolidated metadata");
    }
    enum zb_code code = zb__token_make(d->token, err);
    if (code)
        dirty_block_free(d);
    else
        *out = d;
    return code;
}

/* ---- The marker ----------------------------------------------------------------------------- */

static char *marker_key(const char *path, zb_error *err) {
    char *key = zb__path_join(path, ZB__MARKER_CONSOLIDATED);
    if (!key)
        zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    return key;
}

static enum zb_code marker_put(zb_hierarchy *hierarchy, const dirty_block *d, zb_error *err) {
    char *key = marker_key(d->path, err);
    if (!key)
        return ZB_ENOMEM;
    enum zb_code code = zb__document_put(hierarchy, key, d->token, strlen(d->token), err);
    free(key);
    return code ? zb__node_add_context(hierarchy, "group", d->path, code, err) : ZB_OK;
}

enum zb_code zb__write_back_forget(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    char *key = marker_key(path, err);
    if (!key)
        return ZB_ENOMEM;
    enum zb_code code = zb__hierarchy_erase(hierarchy, key, err);
    free(key);
    return code;
}

/* *there: a marker stands beside the group's document; *ours: it says this token. */
static enum zb_code marker_look(zb_hierarchy *hierarchy, const char *path, const char *token,
                                bool *there, bool *ours, zb_error *err) {
    char *key = marker_key(path, err);
    if (!key)
        return ZB_ENOMEM;
    enum zb_code code = ZB_OK;
    *there = *ours = false;
    /* Absent in the usual case: in a local store the cheaper question. */
    if (!hierarchy->store->hints.is_local || !zb__is_absent(hierarchy, key))
        code = zb__marker_look(zb__place_of(hierarchy, key), key, token, there, ours, err);
    free(key);
    return code ? zb__node_add_context(hierarchy, "group", path, code, err) : ZB_OK;
}

/* ---- The list ----------------------------------------------------------------------------- */

static dirty_blocks *dirty_of(zb_hierarchy *hierarchy) {
    return (dirty_blocks *)atomic_load(&hierarchy->write_back);
}

static void dirty_free(zb__write_back *write_back) {
    dirty_blocks *o = (dirty_blocks *)write_back;
    zb__fork_guard_remove(&o->guard);
    while (o->first) {
        dirty_block *d = o->first;
        o->first = d->next;
        dirty_block_free(d);
    }
    pthread_mutex_destroy(&o->lock);
    free(o);
}

static enum zb_code run_all(zb_hierarchy *hierarchy, zb_error *err) {
    return zb__write_back_run(hierarchy, "", err);
}

/* Makes the list at the store's first debt. */
static enum zb_code dirty_make(zb_hierarchy *hierarchy, dirty_blocks **out, zb_error *err) {
    *out = dirty_of(hierarchy);
    if (*out)
        return ZB_OK;
    dirty_blocks *o = calloc(1, sizeof *o);
    if (!o)
        return zb_fail(err, ZB_ENOMEM, "out of memory for consolidated metadata");
    o->base = (zb__write_back){.run = run_all, .free = dirty_free};
    pthread_mutex_init(&o->lock, NULL);
    o->guard.lock = &o->lock;
    zb__fork_guard_add(&o->guard);
    *out = o;
    zb__write_back *none = NULL;
    if (!atomic_compare_exchange_strong(&hierarchy->write_back, &none, &o->base)) {
        dirty_free(&o->base);
        *out = dirty_of(hierarchy);
    }
    return ZB_OK;
}

static dirty_block **find(dirty_blocks *o, const char *path) {
    dirty_block **at = &o->first;
    while (*at && strcmp((*at)->path, path) != 0)
        at = &(*at)->next;
    return at;
}

/* Takes over the debt, in place of an older one of the same group. */
static void keep(dirty_blocks *o, dirty_block *d) {
    pthread_mutex_lock(&o->lock);
    dirty_block **at = find(o, d->path), *before = *at;
    d->next = before ? before->next : NULL;
    *at = d;
    pthread_mutex_unlock(&o->lock);
    if (before)
        dirty_block_free(before);
}

/* old: NULL when it is not known. Taken over from a document that has been outlined. */
static enum zb_code take_on(zb_hierarchy *hierarchy, const char *path, zb__document *old,
                            zb_error *err) {
    dirty_blocks *o;
    dirty_block *d = NULL;
    enum zb_code code = dirty_make(hierarchy, &o, err);
    if (!code)
        code = dirty_block_new(path, &d, err);
    if (!code)
        code = marker_put(hierarchy, d, err);
    if (code) {
        if (d)
            dirty_block_free(d);
        return code;
    }
    if (old) {
        d->old = *old;
        d->is_known = true;
        *old = (zb__document){.text = NULL};
    }
    keep(o, d);
    return ZB_OK;
}

enum zb_code zb__write_back_add(zb_hierarchy *hierarchy, const char *path, zb__document *document,
                                zb_error *err) {
    enum zb_code code = take_on(hierarchy, path, document, err);
    zb__document_free(document);
    return code;
}

/* "" when there is no dirty block of the group. */
static void token_of(zb_hierarchy *hierarchy, const char *path, char token[ZB__TOKEN_SIZE]) {
    dirty_blocks *o = dirty_of(hierarchy);
    *token = '\0';
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    const dirty_block *d = *find(o, path);
    if (d)
        memcpy(token, d->token, ZB__TOKEN_SIZE);
    pthread_mutex_unlock(&o->lock);
}

enum zb_code zb__write_back_join(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    char token[ZB__TOKEN_SIZE];
    bool there, ours;
    token_of(hierarchy, path, token);
    enum zb_code code = marker_look(hierarchy, path, token, &there, &ours, err);
    return code || !there || ours ? code : take_on(hierarchy, path, NULL, err);
}

enum zb_code zb__write_back_find(zb_hierarchy *hierarchy, const char *path, bool *out,
                                 zb_error *err) {
    bool ours;
    return marker_look(hierarchy, path, "", out, &ours, err);
}

enum zb_code zb__write_back_clean(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    bool there, ours;
    enum zb_code code = marker_look(hierarchy, path, "", &there, &ours, err);
    return code || !there ? code : zb__write_back_forget(hierarchy, path, err);
}

/* ---- Changes ------------------------------------------------------------------------------ */

/* A node may change again and again: before a list grows, it is sorted, which drops names that
   stand twice. */
static void add_name(dirty_block *d, zb__names *names, const char *path) {
    if (names->count == names->capacity)
        zb__names_sort(names);
    if (zb__names_add(names, (zb__name){.text = strdup(path)}, NULL))
        lose_track(d);
}

static void put_name(dirty_block *d, const char *path) {
    add_name(d, &d->put, path);
}

static void erase_name(dirty_block *d, const char *path) {
    add_name(d, &d->erased, path);
}

static void forget_names(dirty_block *d, const char *path) {
    (void)path;
    lose_track(d);
}

static void each_above(zb_hierarchy *hierarchy, const char *path,
                       void (*act)(dirty_block *, const char *)) {
    dirty_blocks *o = dirty_of(hierarchy);
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    for (dirty_block *d = o->first; d; d = d->next) {
        if (d->is_known && zb__path_below(path, d->path))
            act(d, path);
    }
    pthread_mutex_unlock(&o->lock);
}

void zb__write_back_put(zb_hierarchy *hierarchy, const char *path) {
    each_above(hierarchy, path, put_name);
}

void zb__write_back_erased(zb_hierarchy *hierarchy, const char *path) {
    each_above(hierarchy, path, erase_name);
}

void zb__write_back_unsure(zb_hierarchy *hierarchy, const char *path) {
    each_above(hierarchy, path, forget_names);
}

/* ---- Putting back ------------------------------------------------------------------------- */

/* Gives the group's document its block again, unless that has a form that is not known, or is too
   large. */
static enum zb_code put_block(zb_hierarchy *hierarchy, dirty_block *d, bool ours,
                              zb__document *group, zb_error *err) {
    zb__text_parts text = {.count = 0};
    enum zb_code code = ours && d->is_known
                            ? zb__consolidated_update(hierarchy, d->path, group, &d->old, &d->put,
                                                      &d->erased, &text, err)
                            : zb__consolidated_rebuild(hierarchy, d->path, group, &text, err);
    if (code == ZB_EUNSUPPORTED || code == ZB_ELIMIT)
        return ZB_OK;
    if (!code && text.size <= zb_limits_get()->consolidated_bytes)
        code = zb__node_put_parts(hierarchy, d->path, text.part, text.count, err);
    zb__text_parts_free(&text);
    return code;
}

/* A group that has gone, cannot be read any more, or has got a block from another writer: nothing
   is dirty. */
static enum zb_code pay(zb_hierarchy *hierarchy, dirty_block *d, zb_error *err) {
    zb__document group = {.text = NULL};
    bool there, ours;
    enum zb_code code = marker_look(hierarchy, d->path, d->token, &there, &ours, err);
    if (code || !there)
        return code;
    code = zb__node_outline(hierarchy, d->path, &group, err);
    if (code == ZB_EFORMAT || code == ZB_ELIMIT || code == ZB_ENOTFOUND)
        return ZB_OK;
    if (!code && !zb__consolidated_has(&group))
        code = put_block(hierarchy, d, ours, &group, err);
    zb__document_free(&group);
    return code ? code : zb__write_back_forget(hierarchy, d->path, err);
}

/* Takes the debts at or below the path out of the list. */
static dirty_block *take(dirty_blocks *o, const char *path) {
    dirty_block *taken = NULL, **at = &o->first;
    pthread_mutex_lock(&o->lock);
    while (*at) {
        dirty_block *d = *at;
        if (strcmp(d->path, path) != 0 && !zb__path_below(d->path, path)) {
            at = &d->next;
            continue;
        }
        *at = d->next;
        d->next = taken;
        taken = d;
    }
    pthread_mutex_unlock(&o->lock);
    return taken;
}

static bool has_dirty(dirty_blocks *o) {
    pthread_mutex_lock(&o->lock);
    bool some = o->first != NULL;
    pthread_mutex_unlock(&o->lock);
    return some;
}

enum zb_code zb__write_back_run(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    dirty_blocks *o = dirty_of(hierarchy);
    zb_lock *lock;
    if (!o || !has_dirty(o))
        return ZB_OK;
    enum zb_code code = zb__hierarchy_lock(hierarchy, &lock, err);
    if (code)
        return code;
    for (dirty_block *d = take(o, path), *next; d; d = next) {
        zb_error other;
        next = d->next;
        enum zb_code failed = pay(hierarchy, d, code ? &other : err);
        code = code ? code : failed;
        if (failed)
            keep(o, d);
        else
            dirty_block_free(d);
    }
    return zb__hierarchy_unlock(lock, code, err);
}
