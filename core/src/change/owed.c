/* SPDX-License-Identifier: MIT */
/*
 * The order of steps, so that a kill at any point leaves a store that is right:
 *
 *     put note | put document without block | changes ... | put document with block | erase note
 *
 * A note beside a document that has a block means nothing. A note that a killed process has left
 * makes the next writer, or zb_hierarchy_repair, put the block back.
 *
 * Only paths are remembered of changes. What stands in the store when a block is put back decides,
 * so that changes that failed half-way, or were made by others between, do no harm.
 */
#include "change/owed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change/consolidated.h"
#include "change/put.h"
#include "hierarchy/notes.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "hierarchy/turn.h"
#include "node/document.h"
#include "node/node.h"
#include "util/fork.h"
#include "util/json.h"
#include "util/names.h"
#include "util/token.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"

/* One block that is owed. */
typedef struct debt {
    struct debt *next;
    char *path; /* of the group */
    char token[ZB__TOKEN_SIZE];
    bool is_known;    /* old, put and erased tell all: else the block is made of all documents */
    zb__document old; /* the group's document with its block */
    zb__names put, erased;
} debt;

typedef struct owed {
    zb__later base; /* first: the hierarchy knows this part */
    pthread_mutex_t lock;
    zb__fork_guard guard; /* of lock */
    debt *first;          /* guarded by lock */
} owed;

/* ---- Debts -------------------------------------------------------------------------------- */

static void debt_free(debt *d) {
    zb__document_free(&d->old);
    zb__names_free(&d->put);
    zb__names_free(&d->erased);
    free(d->path);
    free(d);
}

static void lose_track(debt *d) {
    d->is_known = false;
    zb__document_free(&d->old);
    zb__names_free(&d->put);
    zb__names_free(&d->erased);
}

static enum zb_code debt_new(const char *path, debt **out, zb_error *err) {
    debt *d = calloc(1, sizeof *d);
    if (d)
        d->path = strdup(path);
    if (!d || !d->path) {
        free(d);
        return zb_fail(err, ZB_ENOMEM, "out of memory for consolidated metadata");
    }
    enum zb_code code = zb__token_make(d->token, err);
    if (code)
        debt_free(d);
    else
        *out = d;
    return code;
}

/* ---- The note ----------------------------------------------------------------------------- */

static char *note_key(const char *path, zb_error *err) {
    char *key = zb__path_join(path, ZB__NOTE_CONSOLIDATED);
    if (!key)
        zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    return key;
}

static enum zb_code note_put(zb_hierarchy *hierarchy, const debt *d, zb_error *err) {
    char *key = note_key(d->path, err);
    if (!key)
        return ZB_ENOMEM;
    enum zb_code code = zb__document_put(hierarchy, key, d->token, strlen(d->token), err);
    free(key);
    return code ? zb__node_add_context(hierarchy, "group", d->path, code, err) : ZB_OK;
}

enum zb_code zb__owed_forget(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    char *key = note_key(path, err);
    if (!key)
        return ZB_ENOMEM;
    enum zb_code code = zb__hierarchy_erase(hierarchy, key, err);
    free(key);
    return code;
}

/* *there: a note stands beside the group's document; *ours: it says this token. */
static enum zb_code note_look(zb_hierarchy *hierarchy, const char *path, const char *token,
                              bool *there, bool *ours, zb_error *err) {
    char *key = note_key(path, err);
    if (!key)
        return ZB_ENOMEM;
    enum zb_code code = ZB_OK;
    *there = *ours = false;
    /* Absent in the usual case: in a local store the cheaper question. */
    if (!hierarchy->store->hints.is_local || !zb__is_absent(hierarchy, key))
        code = zb__note_look(zb__place_of(hierarchy, key), key, token, there, ours, err);
    free(key);
    return code ? zb__node_add_context(hierarchy, "group", path, code, err) : ZB_OK;
}

/* ---- The list ----------------------------------------------------------------------------- */

static owed *owed_of(zb_hierarchy *hierarchy) {
    return (owed *)atomic_load(&hierarchy->later);
}

static void owed_free(zb__later *later) {
    owed *o = (owed *)later;
    zb__fork_guard_remove(&o->guard);
    while (o->first) {
        debt *d = o->first;
        o->first = d->next;
        debt_free(d);
    }
    pthread_mutex_destroy(&o->lock);
    free(o);
}

static enum zb_code run_all(zb_hierarchy *hierarchy, zb_error *err) {
    return zb__owed_settle(hierarchy, "", err);
}

/* Makes the list at the store's first debt. */
static enum zb_code owed_make(zb_hierarchy *hierarchy, owed **out, zb_error *err) {
    *out = owed_of(hierarchy);
    if (*out)
        return ZB_OK;
    owed *o = calloc(1, sizeof *o);
    if (!o)
        return zb_fail(err, ZB_ENOMEM, "out of memory for consolidated metadata");
    o->base = (zb__later){.run = run_all, .free = owed_free};
    pthread_mutex_init(&o->lock, NULL);
    o->guard.lock = &o->lock;
    zb__fork_guard_add(&o->guard);
    *out = o;
    zb__later *none = NULL;
    if (!atomic_compare_exchange_strong(&hierarchy->later, &none, &o->base)) {
        owed_free(&o->base);
        *out = owed_of(hierarchy);
    }
    return ZB_OK;
}

static debt **find(owed *o, const char *path) {
    debt **at = &o->first;
    while (*at && strcmp((*at)->path, path) != 0)
        at = &(*at)->next;
    return at;
}

/* Takes over the debt, in place of an older one of the same group. */
static void keep(owed *o, debt *d) {
    pthread_mutex_lock(&o->lock);
    debt **at = find(o, d->path), *before = *at;
    d->next = before ? before->next : NULL;
    *at = d;
    pthread_mutex_unlock(&o->lock);
    if (before)
        debt_free(before);
}

/* old: NULL when it is not known. Taken over from a document that has been outlined. */
static enum zb_code take_on(zb_hierarchy *hierarchy, const char *path, zb__document *old,
                            zb_error *err) {
    owed *o;
    debt *d = NULL;
    enum zb_code code = owed_make(hierarchy, &o, err);
    if (!code)
        code = debt_new(path, &d, err);
    if (!code)
        code = note_put(hierarchy, d, err);
    if (code) {
        if (d)
            debt_free(d);
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

enum zb_code zb__owed_add(zb_hierarchy *hierarchy, const char *path, zb__document *document,
                          zb_error *err) {
    enum zb_code code = take_on(hierarchy, path, document, err);
    zb__document_free(document);
    return code;
}

/* "" when the store owes no block of the group. */
static void token_of(zb_hierarchy *hierarchy, const char *path, char token[ZB__TOKEN_SIZE]) {
    owed *o = owed_of(hierarchy);
    *token = '\0';
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    const debt *d = *find(o, path);
    if (d)
        memcpy(token, d->token, ZB__TOKEN_SIZE);
    pthread_mutex_unlock(&o->lock);
}

enum zb_code zb__owed_join(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    char token[ZB__TOKEN_SIZE];
    bool there, ours;
    token_of(hierarchy, path, token);
    enum zb_code code = note_look(hierarchy, path, token, &there, &ours, err);
    return code || !there || ours ? code : take_on(hierarchy, path, NULL, err);
}

enum zb_code zb__owed_find(zb_hierarchy *hierarchy, const char *path, bool *out, zb_error *err) {
    bool ours;
    return note_look(hierarchy, path, "", out, &ours, err);
}

enum zb_code zb__owed_tidy(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    bool there, ours;
    enum zb_code code = note_look(hierarchy, path, "", &there, &ours, err);
    return code || !there ? code : zb__owed_forget(hierarchy, path, err);
}

/* ---- Changes ------------------------------------------------------------------------------ */

/* A node may change again and again: before a list grows, it is sorted, which drops names that
   stand twice. */
static void add_name(debt *d, zb__names *names, const char *path) {
    if (names->count == names->capacity)
        zb__names_sort(names);
    if (zb__names_add(names, (zb__name){.text = strdup(path)}, NULL))
        lose_track(d);
}

static void put_name(debt *d, const char *path) {
    add_name(d, &d->put, path);
}

static void erase_name(debt *d, const char *path) {
    add_name(d, &d->erased, path);
}

static void forget_names(debt *d, const char *path) {
    (void)path;
    lose_track(d);
}

static void each_above(zb_hierarchy *hierarchy, const char *path,
                       void (*act)(debt *, const char *)) {
    owed *o = owed_of(hierarchy);
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    for (debt *d = o->first; d; d = d->next) {
        if (d->is_known && zb__path_below(path, d->path))
            act(d, path);
    }
    pthread_mutex_unlock(&o->lock);
}

void zb__owed_put(zb_hierarchy *hierarchy, const char *path) {
    each_above(hierarchy, path, put_name);
}

void zb__owed_erased(zb_hierarchy *hierarchy, const char *path) {
    each_above(hierarchy, path, erase_name);
}

void zb__owed_unsure(zb_hierarchy *hierarchy, const char *path) {
    each_above(hierarchy, path, forget_names);
}

/* ---- Putting back ------------------------------------------------------------------------- */

/* Gives the group's document its block again, unless that has a form that is not known, or is too
   large. */
static enum zb_code put_block(zb_hierarchy *hierarchy, debt *d, bool ours, zb__document *group,
                              zb_error *err) {
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
   is owed. */
static enum zb_code pay(zb_hierarchy *hierarchy, debt *d, zb_error *err) {
    zb__document group = {.text = NULL};
    bool there, ours;
    enum zb_code code = note_look(hierarchy, d->path, d->token, &there, &ours, err);
    if (code || !there)
        return code;
    code = zb__node_outline(hierarchy, d->path, &group, err);
    if (code == ZB_EFORMAT || code == ZB_ELIMIT || code == ZB_ENOTFOUND)
        return ZB_OK;
    if (!code && !zb__consolidated_has(&group))
        code = put_block(hierarchy, d, ours, &group, err);
    zb__document_free(&group);
    return code ? code : zb__owed_forget(hierarchy, d->path, err);
}

/* Takes the debts at or below the path out of the list. */
static debt *take(owed *o, const char *path) {
    debt *taken = NULL, **at = &o->first;
    pthread_mutex_lock(&o->lock);
    while (*at) {
        debt *d = *at;
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

static bool owes(owed *o) {
    pthread_mutex_lock(&o->lock);
    bool some = o->first != NULL;
    pthread_mutex_unlock(&o->lock);
    return some;
}

enum zb_code zb__owed_settle(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    owed *o = owed_of(hierarchy);
    zb_lock *lock;
    if (!o || !owes(o))
        return ZB_OK;
    enum zb_code code = zb__hierarchy_lock(hierarchy, &lock, err);
    if (code)
        return code;
    for (debt *d = take(o, path), *next; d; d = next) {
        zb_error other;
        next = d->next;
        enum zb_code failed = pay(hierarchy, d, code ? &other : err);
        code = code ? code : failed;
        if (failed)
            keep(o, d);
        else
            debt_free(d);
    }
    return zb__hierarchy_unlock(lock, code, err);
}
