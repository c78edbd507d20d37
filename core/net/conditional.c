/* SPDX-License-Identifier: MIT */
#include "conditional.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "fetch.h"
#include "object.h"
#include "remote.h"
#include "store/thread_locks.h"
#include "util/clock.h"
#include "util/fork.h"
#include "zarrbridge/limits.h"

/* An object that was read or put under a lock. */
typedef struct sight {
    bool is_absent, is_own; /* own: it was put or erased under the lock */
    bool is_refused;        /* a put in its place was: the next answer takes the place of this */
    zb__version version;    /* unless absent */
    const char *key;        /* behind the struct; of one that is looked for, the asker's */
} sight;

typedef struct held {
    zb__thread_lock base;
    void *sights;   /* a tree of tsearch */
    void *nothings; /* likewise, of prefixes at which there was nothing */
    bool is_blind;  /* memory was short: what was read under it is not known */
    char key[];     /* the base's */
} held;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static zb__thread_lock *locks; /* all are held; guarded by the mutex, with all that is in them */

/* ---- Locks ---- */

/* In a child the threads that wait for locks, or hold them, are the parent's. */
static void forget_others(void *unused) {
    (void)unused;
    zb__thread_locks_keep_own(&locks);
    pthread_cond_init(&released, NULL);
}

static void prepare(void) {
    static zb__fork_guard guard = {.lock = &mutex, .in_child = forget_others};
    zb__fork_guard_add(&guard);
}

static held *find(const zb_store *store, const char *key) {
    zb__thread_lock *at = locks;
    while (at && (at->base.store != store || strcmp(at->key, key) != 0))
        at = at->next;
    return (held *)at;
}

/* The lock of the root's document is that of all documents. */
static held *holder_of(const zb_store *store, const char *key) {
    held *own = find(store, key);
    return own || !zb__key_is_document(key) ? own : find(store, "zarr.json");
}

static enum zb_code wait_and_enter(held *lock, zb_error *err) {
    const int64_t end = zb__deadline(zb_limits_get()->lock_seconds);
    enum zb__waited waited = ZB__WOKEN;
    pthread_mutex_lock(&mutex);
    const zb_store *store = lock->base.base.store;
    zb__stopper *stopper = ((const zb__remote *)store)->stopper();
    while (find(store, lock->key) && waited == ZB__WOKEN)
        waited = zb__wait(stopper, &released, &mutex, end);
    const bool is_free = !find(store, lock->key);
    if (is_free)
        zb__thread_lock_enter(&locks, &lock->base);
    pthread_mutex_unlock(&mutex);
    if (!is_free && waited == ZB__STOPPED)
        return zb__fail_stopped(err);
    return is_free ? ZB_OK
                   : zb_fail(err, ZB_ECONFLICT, "%s/%s: another thread has locked it", store->label,
                             lock->key);
}

/* A prefix has no identity, so that the home is of no effect: what is put depends on what was seen.
   For the same reason no lock of another program is waited for. */
enum zb_code zb__conditional_lock(zb_store *store, const zb_locking *locking, zb_lock **out,
                                  zb_error *err) {
    const char *key = locking->key;
    if (locking->only_waits)
        return ZB_OK;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    const zb__service *service = ((zb__remote *)store)->protocol->service;
    enum zb_code code = service->check ? service->check((zb__remote *)store, err) : ZB_OK;
    if (code)
        return code;
    held *lock = calloc(1, sizeof *lock + strlen(key) + 1);
    if (!lock)
        return zb_fail(err, ZB_ENOMEM, "no memory for a lock");
    lock->base.base.store = store;
    lock->base.key = memcpy(lock->key, key, strlen(key) + 1);
    code = wait_and_enter(lock, err);
    if (code)
        free(lock);
    else
        *out = &lock->base.base;
    return code;
}

void zb__conditional_unlock(zb_lock *base) {
    held *lock = (held *)base;
    pthread_mutex_lock(&mutex);
    zb__thread_lock_leave(&locks, &lock->base);
    pthread_cond_broadcast(&released);
    pthread_mutex_unlock(&mutex);
    tdestroy(lock->sights, free);
    tdestroy(lock->nothings, free);
    free(lock);
}

bool zb__conditional_is_locked(zb__remote *store, const char *key) {
    pthread_mutex_lock(&mutex);
    const bool is_locked = holder_of(&store->base, key) != NULL;
    pthread_mutex_unlock(&mutex);
    return is_locked;
}

/* ---- What is seen under them ---- */

static int by_key(const void *a, const void *b) {
    return strcmp(((const sight *)a)->key, ((const sight *)b)->key);
}

/* A prefix at which there was nothing. */
typedef struct nothing {
    size_t length;
    const char *prefix; /* behind the struct; of one that is looked for, the asker's */
} nothing;

static int by_prefix(const void *a, const void *b) {
    const nothing *one = a, *other = b;
    if (one->length != other->length)
        return one->length < other->length ? -1 : 1;
    return memcmp(one->prefix, other->prefix, one->length);
}

/* There is nothing at the prefix: the holder of the root's lock has seen that of all documents at
   and below it, but for those of which it knows more. */
static void found_none(zb__remote *store, const char *prefix) {
    const size_t length = strlen(prefix);
    nothing *new = calloc(1, sizeof *new + length + 1);
    pthread_mutex_lock(&mutex);
    held *lock = find(&store->base, "zarr.json");
    nothing *const *found = NULL;
    if (new && lock) {
        new->length = length;
        new->prefix = memcpy(new + 1, prefix, length + 1);
        found = tsearch(new, &lock->nothings, by_prefix);
    }
    if (lock && !found)
        lock->is_blind = true;
    if (!found || *found != new)
        free(new);
    pthread_mutex_unlock(&mutex);
}

/* With the mutex. True if there was nothing at the key, or at a prefix of it. */
static bool was_in_nothing(const held *lock, const char *key) {
    nothing wanted = {.length = strlen(key), .prefix = key};
    while (lock->nothings && wanted.length) {
        if (tfind(&wanted, &lock->nothings, by_prefix))
            return true;
        while (wanted.length && key[--wanted.length] != '/')
            ;
    }
    return false;
}

/* With the mutex. */
static sight *sight_of(const held *lock, const char *key) {
    const sight wanted = {.key = key};
    sight *const *found = lock ? tfind(&wanted, &lock->sights, by_key) : NULL;
    return found ? *found : NULL;
}

/* With the mutex. version NULL: absent. */
static void note(held *lock, const char *key, const zb__version *version, bool replaces) {
    sight *new = calloc(1, sizeof *new + strlen(key) + 1);
    if (!new) {
        lock->is_blind = true;
        return;
    }
    new->key = memcpy(new + 1, key, strlen(key) + 1);
    sight *const *found = tsearch(new, &lock->sights, by_key);
    sight *kept = found ? *found : NULL;
    if (!kept)
        lock->is_blind = true;
    else if (kept == new || replaces || kept->is_refused) {
        kept->is_absent = version == NULL;
        kept->is_own = replaces;
        kept->is_refused = false;
        if (version)
            kept->version = *version;
    }
    if (kept != new)
        free(new);
}

/* The first answer counts, that there is nothing included. */
void zb__conditional_answered(zb__remote *store, const char *key, enum zb_code code,
                              const zb__version *version) {
    if (code && code != ZB_ENOTFOUND)
        return;
    pthread_mutex_lock(&mutex);
    held *lock = holder_of(&store->base, key);
    if (lock && (sight_of(lock, key) || !was_in_nothing(lock, key)))
        note(lock, key, code ? NULL : version, false);
    pthread_mutex_unlock(&mutex);
}

void zb__conditional_refused(zb__remote *store, const char *key) {
    pthread_mutex_lock(&mutex);
    held *lock = holder_of(&store->base, key);
    if (lock && !sight_of(lock, key) && was_in_nothing(lock, key))
        note(lock, key, NULL, false);
    sight *seen = sight_of(lock, key);
    if (seen) {
        seen->is_refused = true;
        seen->is_own = false;
    }
    pthread_mutex_unlock(&mutex);
}

void zb__conditional_replaced(zb__remote *store, const char *key, const zb__version *version) {
    pthread_mutex_lock(&mutex);
    held *lock = holder_of(&store->base, key);
    if (lock)
        note(lock, key, version, true);
    pthread_mutex_unlock(&mutex);
}

/* True if this thread holds the key's lock and has put the object under it: *version is what it has
   put. */
static bool own_put(zb__remote *store, const char *key, zb__version *version) {
    pthread_mutex_lock(&mutex);
    const held *lock = holder_of(&store->base, key);
    const sight *seen = sight_of(lock, key);
    const bool is_own = seen && pthread_equal(lock->base.owner, pthread_self()) && seen->is_own &&
                        !seen->is_absent && seen->version.size &&
                        zb__version_is_strong(&seen->version); /* of a copy no size is known */
    if (is_own)
        *version = seen->version;
    pthread_mutex_unlock(&mutex);
    return is_own;
}

/* Without a known version the condition is one that no object meets, so that the put fails. */
enum zb__seen zb__conditional_seen(zb__remote *store, const char *key, zb__version *version) {
    enum zb__seen result = ZB__UNSEEN;
    pthread_mutex_lock(&mutex);
    const held *lock = holder_of(&store->base, key);
    const sight *seen = sight_of(lock, key);
    *version = (zb__version){.size = 0};
    if (seen)
        *version = seen->version;
    if (seen ? seen->is_absent : lock && was_in_nothing(lock, key))
        result = ZB__ABSENT;
    else if (seen || (lock && lock->is_blind))
        result = ZB__PRESENT;
    pthread_mutex_unlock(&mutex);
    return result;
}

/* ---- Questions ---- */

enum zb_code zb__conditional_ask(zb__remote *store, const char *key, zb__reply *out,
                                 zb_error *err) {
    zb__request head = {.store = store, .method = ZB__HEAD, .key = key, .most = ZB__MOST_REPLY};
    const enum zb_code code = zb__request_wait(&head, err);
    free(head.buffer);
    *out = head.reply;
    return code;
}

enum zb_code zb__conditional_fail(const zb__remote *store, const char *key, zb_error *err) {
    return zb_fail(err, ZB_ECONFLICT, "%s/%s: another program has changed the object meanwhile",
                   store->base.label, key);
}

/* Weak and strong forms of one tag are alike, and sizes are not compared: a HEAD tells the document
   as it is stored. */
enum zb_code zb__conditional_stands(zb__remote *store, const char *key, zb_error *err) {
    zb__version seen;
    zb__reply there;
    const enum zb__seen was = zb__conditional_seen(store, key, &seen);
    if (was == ZB__UNSEEN)
        return ZB_OK;
    const enum zb_code code = zb__conditional_ask(store, key, &there, err);
    if (code && code != ZB_ENOTFOUND)
        return code;
    there.version.size = seen.size;
    const bool is_there = !code, is_known = seen.etag[0] || seen.modified;
    if (is_there == (was == ZB__PRESENT) &&
        (!is_there || (is_known && zb__version_same(&seen, &there.version))))
        return ZB_OK;
    return zb__conditional_fail(store, key, err);
}

enum zb_code zb__conditional_probe(zb_store *store, zb_probe *probe, zb_error *err) {
    zb__remote *remote = (zb__remote *)store;
    zb__version version;
    if (probe->asks == ZB_ASK_NOTHING) {
        probe->is_so = remote->protocol->service->is_absent(remote, probe->name);
        if (probe->is_so)
            found_none(remote, probe->name);
        return ZB_OK;
    }
    if (probe->asks == ZB_ASK_STANDS)
        return zb__conditional_stands(remote, probe->name, err);
    const bool is_quick = probe->asks == ZB_ASK_INFO_AGAIN || probe->asks == ZB_ASK_NAME;
    if (!is_quick || !own_put(remote, probe->name, &version))
        return zb__fetch_probe(store, probe, err);
    probe->info = zb__object_info(&version);
    return ZB_OK;
}

enum zb_code zb__conditional_flush(zb_store *store, zb_batch *batch, bool discards, zb_error *err) {
    (void)store;
    (void)batch;
    (void)discards;
    (void)err;
    return ZB_OK;
}
